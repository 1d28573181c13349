"""Progress of long objects, as values and as items of the digests table.

The items have a partition of their own, whose name no object can have: an object's has a slash. So
one query lists them all.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bucketsum.clock import now
from bucketsum.errors import DamagedProgress, MalformedMessage
from bucketsum.events.message_fields import WHOLE_MAX, is_moment, optional_opaque_at, shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version
from bucketsum.hashing.ending import Purpose
from bucketsum.table.archive_settings import Mode
from bucketsum.table.checksum_values import Compared
from bucketsum.table.codec import decoded, encoded, texts_with_prefix
from bucketsum.table.rows import RowKey
from bucketsum.table.sequencer import SEQUENCER
from bucketsum.table.stored_fields import NOT_STORED, nested, stored

if TYPE_CHECKING:
    from bucketsum.hashing.job import Job

PARTITION: Final = "long-objects"

OTHER_ENDS_SECONDS: Final = 600
"""Least time until an event or a message comes again whose object waits for another of its key."""

STATE_PREFIX: Final = "state_"
CRC_NAME: Final = "saved_crc32"
"""Attribute with the `crc32_of` the saved states; earlier releases write none, and leave it."""
FLOAT_FORMAT: Final = ".3f"


class ChainStatus(StrEnum):
    """Whether the slices of an object go on."""

    RUNNING = "running"
    STOPPED = "stopped"
    """By a person, or because S3 refuses to send the object."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A long object that is being hashed.

    Attributes:
        version: Version id, or ``null``.
        etag: Entity tag without quotes.
        sequencer: Of its event.
        arrived_at: Time at which S3 created the object, ISO 8601 UTC.
        started_at: When it was handed over, ISO 8601 UTC.
        updated_at: When its last slice ended, ISO 8601 UTC.
        offset: Bytes that are hashed; a multiple of the digests' block.
        sent_offset: Offset of the last message that was sent; -1 if none was.
        hop: Number of slices that have ended.
        leased_until: Time until which a worker is at it, in seconds since 1970; 0 if none is.
        seconds: Time that its slices have taken.
        mb_per_s: Speed of its last slice, in 10⁶ bytes per second; None before the first.
        purpose: With VERIFY, the row of the same entity tag is marked, and never replaced.
        differing: What the last reading found instead of the row's digest.
        replaces_etag: Entity tag of the row that it replaces, empty if that has none; None if it
            replaces no row of the same sequencer. See `DigestsTable.replace`.
        archive_mode: Mode in which its members would have been read; None if it is not an archive.
        run: Backfill or verification that counts its end; None for an event.
        reason: Why it was stopped.
        checksum_state: State of the comparison with S3's checksum at *offset*; None without one.
        compared: The comparison of the last reading of the whole object; None before its end.
        states: Algorithms' names → states of the digests at *offset*.
    """

    bucket: str
    key: str
    version: str
    etag: str
    size_bytes: int
    sequencer: str = field(metadata=SEQUENCER)
    arrived_at: str
    started_at: str
    updated_at: str
    offset: int = 0
    sent_offset: int = -1
    hop: int = 0
    status: ChainStatus = field(
        default=ChainStatus.RUNNING, metadata=stored(read=ChainStatus, write=str)
    )
    leased_until: int = 0
    seconds: float = 0.0
    mb_per_s: float | None = None
    purpose: Purpose = field(default=Purpose.RECORD, metadata=stored(read=Purpose, write=str))
    differing: str | None = None
    replaces_etag: str | None = None
    archive_mode: Mode | None = field(default=None, metadata=stored(read=Mode, write=str))
    run: str | None = None
    reason: str | None = None
    checksum_state: str | None = None
    compared: Compared | None = field(default=None, metadata=nested(Compared))
    states: Mapping[str, bytes] = field(default_factory=dict, metadata=NOT_STORED)

    @property
    def created(self) -> ObjectCreated:
        """The event of the object."""
        return ObjectCreated(
            bucket=self.bucket,
            key=self.key,
            version_id=Version.of_entry(self.version).id,
            etag=self.etag,
            size_bytes=self.size_bytes,
            sequencer=self.sequencer,
            event_time=self.arrived_at,
        )

    @property
    def row_key(self) -> RowKey:
        """The key of the row that it will have."""
        return RowKey(self.bucket, self.key, self.version)

    @property
    def seconds_left(self) -> float | None:
        """Time that the rest takes at the speed of the last slice, if that is known."""
        if not self.mb_per_s:
            return None
        return (self.size_bytes - self.offset) / (self.mb_per_s * 1_000_000)


def progress_of(job: Job) -> Progress:
    """The initial progress of the object of *job*, which has an entity tag."""
    moment, created, replaced = now(), job.created, job.ending.replaced
    return Progress(
        bucket=created.bucket,
        key=created.key,
        version=Version(created.version_id).entry,
        etag=created.etag or "",
        size_bytes=created.size_bytes,
        sequencer=created.sequencer,
        arrived_at=created.event_time,
        started_at=moment,
        updated_at=moment,
        purpose=job.ending.purpose,
        replaces_etag=(replaced.etag or "") if replaced else None,
        archive_mode=job.mode,
        run=job.run,
    )


def item_key(row_key: RowKey) -> dict[str, Any]:
    """The key of the item; its sort key is a digest, as an object's key may have 1,024 bytes."""
    name = f"{row_key.bucket}/{row_key.key}\0{row_key.entry}"
    return {
        "object": {"S": PARTITION},
        "entry": {"S": hashlib.sha256(name.encode()).hexdigest()},
    }


def item_of_progress(progress: Progress) -> dict[str, Any]:
    """*progress* as an item."""
    return {
        **item_key(progress.row_key),
        **encoded(progress, FLOAT_FORMAT),
        **{f"{STATE_PREFIX}{name}": {"S": s.hex()} for name, s in progress.states.items()},
        CRC_NAME: {"S": crc32_of(progress)},
    }


def crc32_of(progress: Progress) -> str:
    """The offset in decimal, and the CRC-32 of object and states in 8 hexadecimal digits.

    States are all that is left of bytes that are not read again: an accidental change of one must
    not become a digest.
    """
    states = (f"{name} {state.hex()}" for name, state in sorted(progress.states.items()))
    compared = (progress.checksum_state,) if progress.checksum_state else ()
    saved = "\n".join((progress.etag, str(progress.size_bytes), *states, *compared))
    return f"{progress.offset} {zlib.crc32(saved.encode()):08x}"


def progress_in(item: Mapping[str, Any]) -> Progress:
    """The progress in *item*, the inverse of `item_of_progress`; its sequencer is padded.

    Raises:
        DamagedProgress: It did not make this item.
    """
    try:
        texts = texts_with_prefix(STATE_PREFIX, item)
        states = {name: bytes.fromhex(text) for name, text in texts.items()}
        progress = decoded(Progress, item, states=states)
        _require_sense(progress, item)
    except (KeyError, TypeError, ValueError, MalformedMessage) as error:
        raise DamagedProgress(
            f"the progress item {shown(item.get('entry'))} is damaged ({shown(str(error))})",
            "/".join(item.get(name, {}).get("S", "?") for name in ("bucket", "key")),
        ) from error
    return progress


def _require_sense(progress: Progress, item: Mapping[str, Any]) -> None:
    """Check the object, its event, the offsets and times."""
    if item["entry"] != item_key(progress.row_key)["entry"]:
        raise ValueError(f"it is that of another object than {shown(progress.key)}")
    if optional_opaque_at({"etag": progress.etag}, "etag") is None:  # its message has it
        raise ValueError("the etag is empty")
    if progress.sent_offset > progress.offset or not 0 <= progress.hop <= WHOLE_MAX:
        sent = f"a message of the offset {progress.sent_offset} was sent"
        raise ValueError(f"{sent} after {progress.hop} slices")
    if not 0 <= progress.offset <= progress.size_bytes <= WHOLE_MAX:
        raise ValueError(f"the offset {progress.offset} is not in 0..{progress.size_bytes}")
    for moment in (progress.arrived_at, progress.started_at, progress.updated_at):
        if not is_moment(moment):
            raise ValueError(f"{shown(moment)} is not a moment")
    crc32: str = item.get(CRC_NAME, {}).get("S", "")
    is_of_state = crc32.startswith(f"{progress.offset} ")
    if is_of_state and crc32 != crc32_of(progress):
        raise ValueError("its saved state does not match its CRC-32")

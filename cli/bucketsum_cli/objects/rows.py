"""Rows of the digests table, in tables and in JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from bucketsum.archives.member_rows import MEMBER_MARK, archive_entry
from bucketsum.backfill.selection import ARCHIVED
from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.codec import attributes_of
from bucketsum.table.rows import Row, Status
from bucketsum.table.state import ObjectState, is_repaired, state_of
from bucketsum_cli.terminal.columns import Cell
from bucketsum_cli.terminal.documents import Moment
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note


class Pending(StrEnum):
    """State of an object in the bucket for which nothing is recorded."""

    NOT_HASHED_YET = "not hashed yet"
    """Its event is in a queue, or soon will be."""
    NEEDS_BACKFILL = "needs a backfill"
    """It is from before its bucket was attached."""
    NOT_COVERED = "not covered"
    """No notification to the stack covers its key."""


FINDINGS: Final = (ObjectState.DIFFERS, ObjectState.DAMAGED)
"""States with which a list of rows ends with exit status 1."""


def pending_hints(bucket: str) -> dict[Pending, str]:
    """The next step for objects of *bucket*, by state."""
    hashes = (
        f"`{command_line('backfill', bucket)}` hashes them, those in "
        f"{' or '.join(sorted(ARCHIVED))} after a restore, with --archived"
    )
    attach = command_line("attach", bucket, "--prefix", "TEXT")
    return {
        Pending.NOT_HASHED_YET: "repeat this later; if no messages wait in "
        f"`{command_line('status')}`, {hashes}",
        Pending.NEEDS_BACKFILL: f"they are from before the bucket was attached; {hashes}",
        Pending.NOT_COVERED: f"no notification covers the keys; {hashes}; `{attach}` covers new "
        "objects",
    }


def listing_hint() -> str:
    """The command that lists the keys there are."""
    return f"`{command_line('ls')}` lists the objects in the bucket"


def dead_letters_hint() -> str:
    """The next step for messages in the dead-letter queue."""
    return (
        f"`{command_line('failures')}` shows the reasons, `{command_line('redrive')}` tries again"
    )


def full_name(row: Row) -> str:
    """Return the key of *row*; for a member, ``KEY!/path``."""
    return f"{row.key}{MEMBER_MARK}{row.member.path}" if row.member else row.key


def split_name(name: str) -> tuple[str, str | None]:
    """Split ``KEY!/path``; the path is None if there is none, and may be empty."""
    archive, mark, path = name.partition(MEMBER_MARK)
    return archive, path if mark else None


def version_of(row: Row) -> str:
    """Return the version of the object, or of the archive with the member."""
    return archive_entry(row.entry) if row.member else row.entry


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """A row of the table: a version of an object, or a member of an archive."""

    bucket: Annotated[str, "Name of the bucket."]
    key: Annotated[str, "Object key."]
    version: Annotated[str, "Version ID, or the text `null` if the bucket has no versions."]
    status: Annotated[
        str,
        "`hashed`, `unreadable`, `archived` or `damaged`; in lists the state, or `not hashed yet`, "
        "`needs a backfill` or `not covered`.",
    ]
    state: Annotated[str, f"{', '.join(f'`{state}`' for state in ObjectState)}."]
    size_bytes: Annotated[int | None, "Size."] = None
    etag: Annotated[str | None, "Entity tag, without quotes."] = None
    sha1: Annotated[str | None, "SHA-1, 40 hexadecimal digits."] = None
    digests: Annotated[Mapping[str, str], "Further digests by algorithm."] = field(
        default_factory=dict
    )
    reason: Annotated[str | None, "Why something failed, or has no digest."] = None
    storage_class: Annotated[str | None, "Of an archived object."] = None
    mb_per_s: Annotated[float | None, "Speed of hashing, in 10⁶ bytes per second."] = None
    duration_ms: Annotated[float | None, "Time of reading and hashing."] = None
    chunk_bytes: Annotated[int | None, "Bytes that were passed to SHA-1 at a time."] = None
    streams: Annotated[int | None, "Connections that the object was read with."] = None
    memory_mb: Annotated[int | None, "`MemorySize` of the hashing function."] = None
    created_at: Annotated[Moment | None, "When S3 created the object."] = None
    recorded_at: Annotated[Moment | None, "When the row was written."] = None
    deleted_at: Annotated[Moment | None, "When S3 deleted this version."] = None
    deleted_by: Annotated[str | None, "`request` or `lifecycle`."] = None
    expires_at: Annotated[Moment | None, "When the row is removed."] = None
    sequencer: Annotated[
        str | None, "Of the object's event; sequencers order the events of a key."
    ] = None
    deletion_sequencer: Annotated[str | None, "That of the deletion's event."] = None
    verified_at: Annotated[Moment | None, "When its digests were last verified."] = None
    verifications: Annotated[int | None, "How often they were."] = None
    differing_digest: Annotated[
        str | None, "Algorithm and digest that were read twice instead of the recorded one."
    ] = None
    differs_at: Annotated[Moment | None, "When they were."] = None
    unreadable_at: Annotated[
        Moment | None, "Since when verifications cannot read it, if it has a digest."
    ] = None
    unreadable_reason: Annotated[str | None, "Why they cannot."] = None
    s3_checksum: Annotated[
        str | None, "S3's own checksum: algorithm, `:`, value in base64; with `-N`, of N parts."
    ] = None
    s3_checksum_result: Annotated[str | None, "`equal`, `differs` or `not compared`."] = None
    s3_checksum_reason: Annotated[str | None, "The value as read, or why nothing was compared."] = (
        None
    )
    read_by_job: Annotated[str | None, "The job of S3 that read it; null if a function did."] = None
    read_by_s3_at: Annotated[Moment | None, "When the report of that job was made."] = None
    member: Annotated[str | None, "Path in the archive."] = None
    method: Annotated[str | None, "Compression method."] = None
    crc32: Annotated[str | None, "CRC-32, 8 hexadecimal digits."] = None
    compressed_bytes: Annotated[int | None, "Size in the archive."] = None
    remarks: Annotated[tuple[str, ...], "Oddities of a member's name, or of an archive."] = ()
    archive_status: Annotated[str | None, "Result for the members of an archive."] = None
    archive_mode: Annotated[str | None, "How the archive was read."] = None
    archive_reason: Annotated[str | None, "Why not all members were read."] = None
    member_count: Annotated[int | None, "Number of members."] = None
    members_unreadable: Annotated[int | None, "Members without a digest."] = None
    directory_count: Annotated[int | None, "Number of folders that the members are in."] = None
    member_bytes: Annotated[int | None, "Total size of the members."] = None
    ratio: Annotated[float | None, "Their total size divided by the archive's."] = None


@dataclass(frozen=True, slots=True)
class DigestState:
    """The state of an object's digest, as lists of objects show it."""

    status: str
    sha1: str | None = None
    mb_per_s: float | None = None
    recorded_at: Moment | None = None
    reason: str | None = None


def digest_state(
    row: Row | None, pending: Pending = Pending.NOT_HASHED_YET, versions: Iterable[Row] = ()
) -> DigestState:
    """Return the state of the object with *row*; without one, it is *pending*.

    *versions* of its key may repair it.
    """
    if row is None:
        return DigestState(pending)
    state = state_of(row, is_repaired=is_repaired(row, versions))
    return DigestState(state.value, row.sha1, row.mb_per_s, row.recorded_at or None, reason_of(row))


def digest_cell(digest: DigestState) -> str | Cell:
    """Return the SHA-1 if it holds, else the state; `Reasons` says more below the table."""
    if digest.sha1 and digest.status == ObjectState.HASHED:
        return digest.sha1
    return Cell(digest.status, "red" if digest.reason else "yellow")


def reason_of(row: Row) -> str | None:
    """Why the object with *row* has no digest that holds, if that is known."""
    state = state_of(row)
    if state is ObjectState.DIFFERS and row.contradiction and row.compared:
        return f"S3's own checksum is {row.compared.checksum}, and {row.contradiction}"
    if state is ObjectState.DIFFERS and row.difference:
        return f"S3 returned {row.difference.digest} on {row.difference.at}"
    if state is ObjectState.UNREADABLE and row.failed_reading:
        return f"since {row.failed_reading.at}: {row.failed_reading.reason}"
    if state is ObjectState.ARCHIVED:
        return f"it is in {row.storage_class or 'an archive class'} and was never read"
    return row.reason


class Reasons:
    """Reasons why objects have no digest, each with its first key and the number of its keys."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._count: Counter[str] = Counter()

    def add(self, name: str, state: DigestState) -> None:
        """Remember the reason of the object *name*, if it has one."""
        if state.reason:
            reason = f"{state.status}: {state.reason}"
            self._first.setdefault(reason, name)
            self._count[reason] += 1

    def note(self) -> None:
        """Show them, below a table that has only the status."""
        for reason, number in self._count.items():
            others = f" and {number - 1:,} more" if number > 1 else ""
            note(f"{reason} ({self._first[reason]}{others})")


def recorded_row(row: Row, state: ObjectState | None = None) -> RecordedRow:
    """Return *row* as a document; by default, its *state* is what it says by itself."""
    name = (row.bucket, row.key, version_of(row), row.status.value, state or state_of(row))
    if row.status is Status.DAMAGED:
        return RecordedRow(*name, reason=row.reason)
    values: dict[str, Any] = dict(attributes_of(row))
    del values["status"]
    expires_at = values.pop("expires_at")
    values |= {
        "digests": row.digests,
        "remarks": row.remarks,
        "created_at": values.pop("arrived_at"),
        "expires_at": expires_at and datetime.fromtimestamp(expires_at, UTC),
    }
    return RecordedRow(*name, **values)


def created_of(row: Row) -> ObjectCreated:
    """Return the event of the object with *row*."""
    return ObjectCreated(
        bucket=row.bucket,
        key=row.key,
        version_id=row.version.id,
        etag=row.etag or None,
        size_bytes=row.size_bytes,
        sequencer=row.sequencer,
        event_time=row.arrived_at,
    )


def event_body(row: Row) -> str:
    """Return the message that lets the object with *row* be hashed again."""
    return json.dumps(created_of(row).message("bucketsum.redrive"))

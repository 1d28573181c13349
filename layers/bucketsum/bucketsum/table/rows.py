"""Rows of the digests table: their parts and their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.events.object_events import DeletedBy
from bucketsum.events.version import Version
from bucketsum.table.archive_values import ArchiveStatus, Mode
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.codec import NOT_STORED, nested, stored

if TYPE_CHECKING:
    from bucketsum.events.object_events import ObjectEvent

NO_SEQUENCER: Final = ""
"""Sequencer of an object that no event of its creation announced. Padded, it is lower than that of
every event."""

_SEQUENCER_WIDTH: Final = 32
_PADDED: Final = re.compile(r"[0-9A-F]{32}")


def comparable_sequencer(sequencer: str) -> str:
    """Pad on the right, as S3 prescribes, so that comparing texts compares events of one key."""
    return sequencer.upper().ljust(_SEQUENCER_WIDTH, "0")


def padded_sequencer(text: str) -> str:
    """*text*, if `comparable_sequencer` made it.

    Raises:
        ValueError: It did not, so no condition on the order of events can be met.
    """
    if not _PADDED.fullmatch(text):
        raise ValueError(f"{text!r:.80} is not a sequencer")
    return text


SEQUENCER: Final = stored(read=padded_sequencer, write=comparable_sequencer)


class Status(StrEnum):
    """Whether a row's object could be hashed."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"
    ARCHIVED = "archived"
    """It was never read: S3 sends it only after a restore, which is an event."""
    DAMAGED = "damaged"
    """Another program changed its item; only readers say so, no item has this status."""


def _stored_status(text: str) -> Status:
    if text == Status.DAMAGED:
        raise ValueError("no status of an item")
    return Status(text)


@dataclass(frozen=True, slots=True)
class Timing:
    """Time that reading and hashing took."""

    duration_ms: float
    mb_per_s: float


@dataclass(frozen=True, slots=True)
class ReadSetup:
    """Settings that an object was read with.

    Attributes:
        memory_mb: Memory of the function, in MiB.
    """

    chunk_bytes: int
    streams: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """An archive's member, as its central directory describes it.

    Attributes:
        crc32: CRC-32, 8 hexadecimal characters.
        compressed_bytes: Size in the archive.
    """

    path: str = field(metadata=stored("member"))
    method: str
    crc32: str
    compressed_bytes: int


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """Result of reading an archive's members.

    Attributes:
        members: Number of members that were read, those of nested archives not included.
        unreadable: How many of these have no digest.
        directories: Number of folders that they are in.
        member_bytes: Total size of the members.
        ratio: Of that to the archive's size.
        reason: Why not all members were read; None if they were.
        remarks: Unusual properties of the archive, as ``prefixed``; among those of its row.
    """

    status: ArchiveStatus = field(metadata=stored("archive_status", read=ArchiveStatus))
    mode: Mode = field(metadata=stored("archive_mode", read=Mode))
    reason: str | None = field(metadata=stored("archive_reason"), kw_only=True, default=None)
    members: int = field(metadata=stored("member_count"))
    unreadable: int = field(metadata=stored("members_unreadable"))
    directories: int = field(metadata=stored("directory_count"))
    member_bytes: int
    ratio: float
    remarks: tuple[str, ...] = field(default=(), metadata=NOT_STORED, compare=False)


@dataclass(frozen=True, slots=True)
class Deletion:
    """Deletion of a version.

    Attributes:
        at: Time at which S3 deleted it, ISO 8601 UTC.
        sequencer: Orders it among the events of the key; see `comparable_sequencer`.
        expires_at: Time at which DynamoDB removes the item, in epoch seconds; None if never.
    """

    at: str = field(metadata=stored("deleted_at"))
    by: DeletedBy = field(metadata=stored("deleted_by", read=DeletedBy))
    sequencer: str = field(
        metadata=stored("deletion_sequencer", read=padded_sequencer, write=comparable_sequencer)
    )
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """The latest reading that agreed with the row's digests.

    Attributes:
        at: ISO 8601 UTC.
        count: Number of such readings since the row was made.
    """

    at: str = field(metadata=stored("verified_at"))
    count: int = field(metadata=stored("verifications"))


@dataclass(frozen=True, slots=True)
class Difference:
    """A digest of two readings, of the row's version and entity tag, that is not the row's.

    Attributes:
        digest: The algorithm, a colon and the digest.
        at: When it was read for the second time, ISO 8601 UTC.
    """

    digest: str = field(metadata=stored("differing_digest"))
    at: str = field(metadata=stored("differs_at"))


@dataclass(frozen=True, slots=True)
class FailedReading:
    """A reading of an object that has a digest, which S3 refused.

    Attributes:
        at: When it was first refused since it was last verified, ISO 8601 UTC.
        reason: Why, and the remedy, as S3 said at the last attempt.
    """

    at: str = field(metadata=stored("unreadable_at"))
    reason: str = field(metadata=stored("unreadable_reason"))


@dataclass(frozen=True, slots=True)
class ReadByS3:
    """A reading of S3 itself: the digest is of a report of its Batch Operations.

    Attributes:
        job: ID of the job.
        at: When the report was made, ISO 8601 UTC.
    """

    job: str = field(metadata=stored("read_by_job"))
    at: str = field(metadata=stored("read_by_s3_at"))


_REMARKS: Final = stored(
    read=lambda text: tuple(text.split(", ")), write=lambda remarks: ", ".join(remarks) or None
)


@dataclass(frozen=True, slots=True)
class Row:
    """One version of an object, or one member of an archive, as recorded.

    Attributes:
        entry: Version id, or ``null``; for a member, the archive's and its path.
        status: Whether it could be hashed.
        size_bytes: Size as hashed; if unreadable or archived, as in the event or the listing.
        sequencer: Orders the events of one key; see `comparable_sequencer`.
        arrived_at: Time at which S3 created the object, ISO 8601 UTC.
        recorded_at: Time at which this row was made, ISO 8601 UTC.
        etag: Entity tag without quotes.
        sha1: 40 lower-case hexadecimal characters; None unless hashed.
        digests: Names of further algorithms → hexadecimal digests.
        reason: Why it is not hashed, and the remedy; None if hashed.
        storage_class: Of an archived object, if S3 said it; None otherwise.
        timing: Time of reading; None for members, and if unreadable.
        setup: Settings of reading; None for members.
        member: The central directory's description of a member; None for objects.
        remarks: Oddities of a member's name or of an archive, such as ``duplicate``.
        archive: Result for its members; None if it was not read as an archive.
        compared: Whether S3's own checksum is that of its bytes; None if S3 was not asked.
        deletion: Its deletion; None if it exists. That of a member is in its archive's row.
        read_by_s3: The job of S3 that read it; None if a function did.
        verified: Its verification; None if it was never verified.
        difference: What verifications found instead of its digest; None if nothing.
        failed_reading: Why a verification could not read it; None if the last one could.
    """

    bucket: str = field(metadata=NOT_STORED)
    key: str = field(metadata=NOT_STORED)
    entry: str = field(metadata=NOT_STORED)
    status: Status = field(metadata=stored(read=_stored_status))
    size_bytes: int
    sequencer: str = field(metadata=SEQUENCER)
    arrived_at: str
    recorded_at: str
    etag: str | None = None
    sha1: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict, metadata=NOT_STORED)
    reason: str | None = None
    storage_class: str | None = None
    timing: Timing | None = field(default=None, metadata=nested(Timing))
    setup: ReadSetup | None = field(default=None, metadata=nested(ReadSetup))
    member: MemberRecord | None = field(default=None, metadata=nested(MemberRecord))
    remarks: tuple[str, ...] = field(default=(), metadata=_REMARKS)
    archive: ArchiveRecord | None = field(default=None, metadata=nested(ArchiveRecord))
    compared: Compared | None = field(default=None, metadata=nested(Compared))
    deletion: Deletion | None = field(default=None, metadata=nested(Deletion))
    read_by_s3: ReadByS3 | None = field(default=None, metadata=nested(ReadByS3))
    verified: Verified | None = field(default=None, metadata=nested(Verified))
    difference: Difference | None = field(default=None, metadata=nested(Difference))
    failed_reading: FailedReading | None = field(default=None, metadata=nested(FailedReading))

    @property
    def version(self) -> Version:
        """The version of the object; meaningless for a member."""
        return Version.of_entry(self.entry)

    @property
    def changed_at(self) -> str:
        """Time of its deletion, or else of its object's creation."""
        return self.deletion.at if self.deletion else self.arrived_at

    @property
    def contradiction(self) -> str | None:
        """The value that was read instead of S3's own checksum; None if there is no such."""
        if self.compared is None or self.compared.result is not ChecksumResult.DIFFERS:
            return None
        return self.compared.reason or "another value"

    @property
    def mb_per_s(self) -> float | None:
        """Speed in 10⁶ bytes per second, if it was measured."""
        return self.timing.mb_per_s if self.timing else None


@dataclass(frozen=True, slots=True)
class RowKey:
    """Primary key of a row: one version of one object."""

    bucket: str
    key: str
    entry: str

    @property
    def version(self) -> Version:
        """The version of the object; meaningless for a member."""
        return Version.of_entry(self.entry)


def row_key_of(event: ObjectEvent) -> RowKey:
    """The key of the row of the object in *event*."""
    return RowKey(event.bucket, event.key, Version(event.version_id).entry)

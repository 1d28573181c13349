"""Parts of a row of the digests table."""

from __future__ import annotations

from dataclasses import dataclass, field

from bucketsum.events.object_events import DeletedBy
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.sequencer import comparable_sequencer, padded_sequencer
from bucketsum.table.stored_fields import NOT_STORED, stored


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

"""Rows of the digests table: their parts, their keys, and their form as DynamoDB items."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bucketsum.archives.values import ArchiveStatus, Mode
from bucketsum.dynamodb_items import NOT_STORED, decoded, encoded, nested, stored
from bucketsum.notifications import DeletedBy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bucketsum.notifications import ObjectEvent

NULL_VERSION: Final = "null"
"""S3's version id of an object in a bucket that keeps no versions."""

SHA1_SHARDS: Final = 16
"""Keys in the index for one SHA-1, so that a flood of equal objects is not throttled.

A key of an index takes 1,000 writes per second; if it is hot, DynamoDB refuses the writes to the
table itself. S3 takes 3,500 PUTs per second and prefix.
"""

_SEQUENCER_WIDTH: Final = 32
_DIGEST_PREFIX: Final = "digest_"
_FLOAT_FORMAT: Final = ".3f"


NO_SEQUENCER: Final = ""
"""Sequencer of an object that no event of its creation announced. Padded, it is lower than that of
every event."""


class Status(StrEnum):
    """Whether a row's object could be hashed."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"


NOT_HASHED: Final = "not_hashed"
"""Status of a tombstone: an item that has only a deletion, and is no `Row`."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Time that reading and hashing took.

    Attributes:
        duration_ms: Wall time in milliseconds.
        mb_per_s: Speed in 10⁶ bytes per second.
    """

    duration_ms: float
    mb_per_s: float


@dataclass(frozen=True, slots=True)
class ReadSetup:
    """Settings that an object was read with.

    Attributes:
        chunk_bytes: Chunk size.
        streams: Number of connections.
        memory_mb: Memory of the function, in MiB.
    """

    chunk_bytes: int
    streams: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """An archive's member, as its central directory describes it.

    Attributes:
        path: Path in the archive.
        method: Compression method.
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
        status: Result for the archive as a whole.
        mode: How it was read.
        members: Number of members that were read.
        unreadable: How many of these have no digest.
        directories: Number of folders that they are in.
        member_bytes: Total size of the members.
        ratio: Of that to the archive's size.
        reason: Why not all members were read; None if they were.
    """

    status: ArchiveStatus = field(metadata=stored("archive_status", read=ArchiveStatus))
    mode: Mode = field(metadata=stored("archive_mode", read=Mode))
    reason: str | None = field(metadata=stored("archive_reason"), kw_only=True, default=None)
    members: int = field(metadata=stored("member_count"))
    unreadable: int = field(metadata=stored("members_unreadable"))
    directories: int = field(metadata=stored("directory_count"))
    member_bytes: int
    ratio: float


def comparable_sequencer(sequencer: str) -> str:
    """Pad on the right, as S3 prescribes, so that comparing texts compares events of one key."""
    return sequencer.upper().ljust(_SEQUENCER_WIDTH, "0")


@dataclass(frozen=True, slots=True)
class Deletion:
    """Deletion of a version.

    Attributes:
        at: Time at which S3 deleted it, ISO 8601 UTC.
        by: Cause of the deletion.
        sequencer: Orders it among the events of the key; see `comparable_sequencer`.
        expires_at: Time at which DynamoDB removes the item, in epoch seconds; None if never.
    """

    at: str = field(metadata=stored("deleted_at"))
    by: DeletedBy = field(metadata=stored("deleted_by", read=DeletedBy))
    sequencer: str = field(metadata=stored("deletion_sequencer", write=comparable_sequencer))
    expires_at: int | None = None


_SEPARATOR: Final = ", "


def _remarks_of(text: str) -> tuple[str, ...]:
    return tuple(text.split(_SEPARATOR))


def _remarks_text(remarks: tuple[str, ...]) -> str | None:
    return _SEPARATOR.join(remarks) or None


@dataclass(frozen=True, slots=True)
class Row:
    """One version of an object, or one member of an archive, as recorded.

    Attributes:
        bucket: Bucket name.
        key: Object key.
        entry: Version id, or ``null``; for a member, the archive's and its path.
        status: Whether it could be hashed.
        size_bytes: Size as hashed; if unreadable, as in the event.
        sequencer: Orders the events of one key; see `comparable_sequencer`.
        arrived_at: Time at which S3 created the object, ISO 8601 UTC.
        recorded_at: Time at which this row was made, ISO 8601 UTC.
        etag: Entity tag without quotes.
        sha1: 40 lower-case hexadecimal characters; None if unreadable.
        digests: Names of further algorithms → hexadecimal digests.
        reason: Why it is unreadable, and the remedy; None if hashed.
        timing: Time of reading; None for members, and if unreadable.
        setup: Settings of reading; None for members.
        member: The central directory's description of a member; None for objects.
        remarks: Oddities of a member's name or of an archive, such as ``duplicate``.
        archive: Result for its members; None if it was not read as an archive.
        deletion: Its deletion; None if it exists. That of a member is in its archive's row.
    """

    bucket: str = field(metadata=NOT_STORED)
    key: str = field(metadata=NOT_STORED)
    entry: str = field(metadata=NOT_STORED)
    status: Status = field(metadata=stored(read=Status))
    size_bytes: int
    sequencer: str = field(metadata=stored(write=comparable_sequencer))
    arrived_at: str
    recorded_at: str
    etag: str | None = None
    sha1: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict, metadata=NOT_STORED)
    reason: str | None = None
    timing: Timing | None = field(default=None, metadata=nested(Timing))
    setup: ReadSetup | None = field(default=None, metadata=nested(ReadSetup))
    member: MemberRecord | None = field(default=None, metadata=nested(MemberRecord))
    remarks: tuple[str, ...] = field(
        default=(), metadata=stored(read=_remarks_of, write=_remarks_text)
    )
    archive: ArchiveRecord | None = field(default=None, metadata=nested(ArchiveRecord))
    deletion: Deletion | None = field(default=None, metadata=nested(Deletion))

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


def row_key_of(event: ObjectEvent) -> RowKey:
    """The key of the row of the object in *event*."""
    return RowKey(event.bucket, event.key, event.version_id or NULL_VERSION)


def key_of(row_key: RowKey) -> dict[str, Any]:
    """*row_key* as the key of an item."""
    return {
        "object": {"S": f"{row_key.bucket}/{row_key.key}"},
        "entry": {"S": row_key.entry},
    }


def row_key_in(item: Mapping[str, Any]) -> RowKey:
    """The key of *item*."""
    bucket, _, key = item["object"]["S"].partition("/")  # a bucket's name has no slash
    return RowKey(bucket, key, item["entry"]["S"])


def item_of(row: Row) -> dict[str, Any]:
    """*row* as an item."""
    return {
        **key_of(RowKey(row.bucket, row.key, row.entry)),
        **encoded(row, _FLOAT_FORMAT),
        **{f"{_DIGEST_PREFIX}{name}": {"S": value} for name, value in row.digests.items()},
        **({"sha1_shard": {"S": _shard_of(row)}} if row.sha1 else {}),
    }


def _shard_of(row: Row) -> str:
    """Key of *row* in the index: its SHA-1 and a shard that its own key decides."""
    shard = zlib.crc32(f"{row.bucket}/{row.key}/{row.entry}".encode()) % SHA1_SHARDS
    return f"{row.sha1}#{shard}"


def row_of(item: Mapping[str, Any]) -> Row:
    """The row that `item_of` made an item of; its sequencer is padded."""
    row_key = row_key_in(item)
    digests = {
        name.removeprefix(_DIGEST_PREFIX): value["S"]
        for name, value in item.items()
        if name.startswith(_DIGEST_PREFIX)
    }
    values = decoded(Row, item)
    return Row(row_key.bucket, row_key.key, row_key.entry, digests=digests, **values)


def rows_of(items: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """The rows among *items*; tombstones are left out."""
    return (row_of(item) for item in items if item["status"]["S"] != NOT_HASHED)


def deletion_of(item: Mapping[str, Any]) -> Deletion | None:
    """The deletion in *item*, a row's or a tombstone; its sequencer is padded."""
    return Deletion(**decoded(Deletion, item)) if "deleted_at" in item else None

"""The digests table: rows, their keys and conditional writes."""

from __future__ import annotations

import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bucketsum.archives.model import ArchiveStatus, Mode
from bucketsum.dynamodb_items import NOT_STORED, decoded, encoded, nested, stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient

    from bucketsum.notifications import ObjectCreated

NULL_VERSION: Final = "null"
"""S3's version id of an object in a bucket that keeps no versions."""

BY_SHA1_INDEX: Final = "by-sha1"

SHA1_SHARDS: Final = 16
"""Keys in the index for one SHA-1, so that a flood of equal objects is not throttled.

A key of an index takes 1,000 writes per second; if it is hot, DynamoDB refuses the writes to the
table itself. S3 takes 3,500 PUTs per second and prefix.
"""

_SEQUENCER_WIDTH: Final = 32
_BATCH_GET_LIMIT: Final = 100
_THROTTLED_PAUSE_SECONDS: Final = 0.05

_IF_NEWER: Final = (
    "attribute_not_exists(#object) OR sequencer < :sequencer"
    " OR (sequencer = :sequencer AND #status <> :hashed)"
)

_DIGEST_PREFIX: Final = "digest_"
_FLOAT_FORMAT: Final = ".3f"


class Status(StrEnum):
    """Whether a row's object could be hashed."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"


class WriteResult(StrEnum):
    """Result of writing a row."""

    WRITTEN = "written"
    DUPLICATE = "known"
    """The same event is recorded already."""
    STALE = "outdated"
    """A newer event of the same key is recorded already."""


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


_SEPARATOR: Final = ", "


def _remarks_of(text: str) -> tuple[str, ...]:
    return tuple(text.split(_SEPARATOR))


def _remarks_text(remarks: tuple[str, ...]) -> str | None:
    return _SEPARATOR.join(remarks) or None


def comparable_sequencer(sequencer: str) -> str:
    """Pad on the right, as S3 prescribes, so that comparing texts compares events of one key."""
    return sequencer.upper().ljust(_SEQUENCER_WIDTH, "0")


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


def row_key_of(created: ObjectCreated) -> RowKey:
    """The key of the row of *created*."""
    return RowKey(created.bucket, created.key, created.version_id or NULL_VERSION)


class DigestsTable:
    """The digests table."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def record(self, row: Row) -> WriteResult:
        """Write *row* unless the table already holds this event or a newer one of its key.

        A hashed row is never overwritten by an event that is not newer; an unreadable one is
        overwritten by the same event once it can be read.
        """
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item=item_of(row),
                ConditionExpression=_IF_NEWER,
                ExpressionAttributeNames={"#object": "object", "#status": "status"},
                ExpressionAttributeValues={
                    ":sequencer": {"S": comparable_sequencer(row.sequencer)},
                    ":hashed": {"S": Status.HASHED},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            same = _recorded_sequencer(error) == comparable_sequencer(row.sequencer)
            return WriteResult.DUPLICATE if same else WriteResult.STALE
        return WriteResult.WRITTEN

    def row_at(self, row_key: RowKey) -> Row | None:
        """The row with *row_key*, or None; eventually consistent."""
        response = self._dynamodb.get_item(TableName=self._table, Key=key_of(row_key))
        return row_of(response["Item"]) if "Item" in response else None

    def rows_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row]:
        """The rows with *row_keys*; keys without a row are left out."""
        waiting = [key_of(row_key) for row_key in dict.fromkeys(row_keys)]
        rows: dict[RowKey, Row] = {}
        while waiting:
            batch, waiting = waiting[:_BATCH_GET_LIMIT], waiting[_BATCH_GET_LIMIT:]
            response = self._dynamodb.batch_get_item(RequestItems={self._table: {"Keys": batch}})
            batch_rows = map(row_of, response["Responses"].get(self._table, ()))
            rows |= {RowKey(row.bucket, row.key, row.entry): row for row in batch_rows}
            unprocessed = response.get("UnprocessedKeys", {}).get(self._table)
            if unprocessed:  # the table is throttled
                time.sleep(_THROTTLED_PAUSE_SECONDS)
                waiting += list(unprocessed["Keys"])
        return rows

    def versions_of(self, bucket: str, key: str) -> list[Row]:
        """Rows of every version of one object, newest first, without members of archives."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="#object = :object",
            FilterExpression="attribute_not_exists(#member)",
            ExpressionAttributeNames={"#object": "object", "#member": "member"},
            ExpressionAttributeValues={":object": {"S": f"{bucket}/{key}"}},
        )
        rows = [row_of(item) for page in pages for item in page["Items"]]
        return sorted(rows, key=lambda row: row.sequencer, reverse=True)

    def with_sha1(self, sha1: str) -> list[Row]:
        """Rows with this digest, ordered by object."""
        rows = self.rows_at(self._row_keys_with(sha1)).values()
        same = (row for row in rows if row.sha1 == sha1)  # the index trails the table
        return sorted(same, key=lambda row: (row.bucket, row.key, row.arrived_at))

    def _row_keys_with(self, sha1: str) -> list[RowKey]:
        with ThreadPoolExecutor(SHA1_SHARDS) as threads:
            shards = (f"{sha1}#{shard}" for shard in range(SHA1_SHARDS))
            return [key for keys in threads.map(self._row_keys_in, shards) for key in keys]

    def _row_keys_in(self, shard: str) -> list[RowKey]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=BY_SHA1_INDEX,
            KeyConditionExpression="sha1_shard = :shard",
            ExpressionAttributeValues={":shard": {"S": shard}},
        )
        return [_row_key_in(item) for page in pages for item in page["Items"]]


def key_of(row_key: RowKey) -> dict[str, Any]:
    """*row_key* as the key of an item."""
    return {
        "object": {"S": f"{row_key.bucket}/{row_key.key}"},
        "entry": {"S": row_key.entry},
    }


def _row_key_in(item: Mapping[str, Any]) -> RowKey:
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
    row_key = _row_key_in(item)
    digests = {
        name.removeprefix(_DIGEST_PREFIX): value["S"]
        for name, value in item.items()
        if name.startswith(_DIGEST_PREFIX)
    }
    values = decoded(Row, item)
    return Row(row_key.bucket, row_key.key, row_key.entry, digests=digests, **values)


def _recorded_sequencer(error: ClientError) -> str | None:
    item: Any = error.response.get("Item") or {}
    sequencer: str | None = item.get("sequencer", {}).get("S")
    return sequencer

"""Values ↔ DynamoDB items. The only file that knows the tables."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient

    from bucketsum.notifications import ObjectCreated

NULL_VERSION: Final = "null"
"""What S3 calls the version of an object in a bucket that keeps none."""

BY_SHA1_INDEX: Final = "by-sha1"

_SEQUENCER_WIDTH: Final = 32
_BATCH_GET_LIMIT: Final = 100
_THROTTLED_PAUSE_SECONDS: Final = 0.05

_WHERE_NEWER: Final = (
    "attribute_not_exists(#object) OR sequencer < :sequencer"
    " OR (sequencer = :sequencer AND #status <> :hashed)"
)

_TEXTS: Final = (
    "status", "etag", "sequencer", "arrived_at", "recorded_at", "sha1", "reason",
    "member", "method", "crc32", "remarks", "archive_status", "archive_mode", "archive_reason",
)  # fmt: skip
_NUMBERS: Final = (
    "size_bytes", "duration_ms", "mb_per_s", "chunk_bytes", "streams", "memory_mb",
    "compressed_bytes", "member_count", "members_unreadable", "directory_count", "member_bytes",
    "ratio",
)  # fmt: skip
_DIGEST_PREFIX: Final = "digest_"


class Status(StrEnum):
    """What a row says of its object."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"


class WriteResult(StrEnum):
    """What became of a row that was handed to the ledger."""

    WRITTEN = "written"
    DUPLICATE = "known"
    """The same event was recorded before."""
    STALE = "outdated"
    """A newer event of the same key was recorded before."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one version of one object.

    Attributes:
        bucket: Bucket name.
        key: Object key.
        entry: Version id, or ``null``.
        status: Whether it could be hashed.
        size_bytes: Size as hashed; where unreadable, as the event told it.
        sequencer: Orders the events of one key; see `comparable_sequencer`.
        arrived_at: When S3 created the object, ISO 8601 UTC.
        recorded_at: When this row was made, ISO 8601 UTC.
        etag: Entity tag without quotes.
        sha1: 40 lower-case hexadecimal characters; None where unreadable.
        digests: Further algorithms' names → hexadecimal digests.
        reason: Why unreadable, and what to do about it.
        duration_ms: Wall time of reading and hashing.
        mb_per_s: 10⁶ bytes per second of it.
        chunk_bytes: Chunk size that it was read with.
        streams: How many connections read it.
        memory_mb: Memory of the function that read it.
        member: Path in the archive, of an archive's member; its row stands beside the archive's.
        method: How a member was compressed.
        crc32: CRC-32 that the archive tells of a member, 8 hexadecimal characters.
        compressed_bytes: What a member takes in the archive.
        remarks: What is unusual about a member's name or an archive, separated by commas.
        archive_status: What became of an archive's members as a whole; see `ArchiveStatus`.
        archive_mode: How they were read.
        archive_reason: Why not all of them were.
        member_count: How many were read.
        members_unreadable: How many of these have no digest.
        directory_count: How many folders they are in.
        member_bytes: What they came to.
        ratio: Of that to the archive's size.
    """

    bucket: str
    key: str
    entry: str
    status: Status
    size_bytes: int
    sequencer: str
    arrived_at: str
    recorded_at: str
    etag: str | None = None
    sha1: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    duration_ms: float | None = None
    mb_per_s: float | None = None
    chunk_bytes: int | None = None
    streams: int | None = None
    memory_mb: int | None = None
    member: str | None = None
    method: str | None = None
    crc32: str | None = None
    compressed_bytes: int | None = None
    remarks: str | None = None
    archive_status: str | None = None
    archive_mode: str | None = None
    archive_reason: str | None = None
    member_count: int | None = None
    members_unreadable: int | None = None
    directory_count: int | None = None
    member_bytes: int | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class RowKey:
    """Where a row is kept: one version of one object."""

    bucket: str
    key: str
    entry: str


def row_key_of(arrival: ObjectCreated) -> RowKey:
    """Where the row of *arrival* is, or will be, kept."""
    return RowKey(arrival.bucket, arrival.key, arrival.version_id or NULL_VERSION)


def comparable_sequencer(sequencer: str) -> str:
    """Pad on the right, as S3 prescribes, so that comparing texts compares events of one key."""
    return sequencer.upper().ljust(_SEQUENCER_WIDTH, "0")


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
                ConditionExpression=_WHERE_NEWER,
                ExpressionAttributeNames={"#object": "object", "#status": "status"},
                ExpressionAttributeValues={
                    ":sequencer": {"S": comparable_sequencer(row.sequencer)},
                    ":hashed": {"S": Status.HASHED},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            held = _held_sequencer(error)
            same = held == comparable_sequencer(row.sequencer)
            return WriteResult.DUPLICATE if same else WriteResult.STALE
        return WriteResult.WRITTEN

    def row_at(self, place: RowKey) -> Row | None:
        """What is recorded at *place*, eventually consistent."""
        answer = self._dynamodb.get_item(TableName=self._table, Key=key_of(place))
        return row_of(answer["Item"]) if "Item" in answer else None

    def rows_at(self, places: Iterable[RowKey]) -> dict[RowKey, Row]:
        """What is recorded at each of *places*; those without a row are left out."""
        waiting = [key_of(place) for place in dict.fromkeys(places)]
        found: dict[RowKey, Row] = {}
        while waiting:
            batch, waiting = waiting[:_BATCH_GET_LIMIT], waiting[_BATCH_GET_LIMIT:]
            answer = self._dynamodb.batch_get_item(RequestItems={self._table: {"Keys": batch}})
            rows = map(row_of, answer["Responses"].get(self._table, ()))
            found |= {RowKey(row.bucket, row.key, row.entry): row for row in rows}
            unprocessed = answer.get("UnprocessedKeys", {}).get(self._table)
            if unprocessed:  # the table is throttled: give it a moment
                time.sleep(_THROTTLED_PAUSE_SECONDS)
                waiting += list(unprocessed["Keys"])
        return found

    def versions_of(self, bucket: str, key: str) -> list[Row]:
        """Every recorded version of one object, the newest arrival first; members are not."""
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
        """Every row with this content, ordered by object."""
        rows = self.rows_at(self._places_with(sha1)).values()
        same = (row for row in rows if row.sha1 == sha1)  # the index trails the table
        return sorted(same, key=lambda row: (row.bucket, row.key, row.arrived_at))

    def _places_with(self, sha1: str) -> Iterator[RowKey]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=BY_SHA1_INDEX,
            KeyConditionExpression="sha1 = :sha1",
            ExpressionAttributeValues={":sha1": {"S": sha1}},
        )
        for page in pages:
            for item in page["Items"]:
                yield _place_of(item)


def key_of(place: RowKey) -> dict[str, Any]:
    """The key of the item at *place*."""
    return {"object": {"S": f"{place.bucket}/{place.key}"}, "entry": {"S": place.entry}}


def _place_of(item: Mapping[str, Any]) -> RowKey:
    bucket, _, key = item["object"]["S"].partition("/")  # a bucket's name has no slash
    return RowKey(bucket, key, item["entry"]["S"])


def item_of(row: Row) -> dict[str, Any]:
    """*row* as an item."""
    item = key_of(RowKey(row.bucket, row.key, row.entry))
    for name in _TEXTS:
        if (value := getattr(row, name)) is not None:
            item[name] = {"S": value}
    for name in _NUMBERS:
        if (value := getattr(row, name)) is not None:
            item[name] = {"N": f"{value:.3f}" if isinstance(value, float) else str(value)}
    item["sequencer"] = {"S": comparable_sequencer(row.sequencer)}
    item |= {f"{_DIGEST_PREFIX}{name}": {"S": value} for name, value in row.digests.items()}
    return item


def row_of(item: Mapping[str, Any]) -> Row:
    """What `item_of` made an item of; the sequencer is padded."""
    place = _place_of(item)
    texts = {name: item[name]["S"] for name in _TEXTS if name in item}
    numbers = {name: _number(item[name]["N"]) for name in _NUMBERS if name in item}
    digests = {
        name.removeprefix(_DIGEST_PREFIX): value["S"]
        for name, value in item.items()
        if name.startswith(_DIGEST_PREFIX)
    }
    status = Status(texts.pop("status"))
    fields: dict[str, Any] = {**texts, **numbers}
    return Row(place.bucket, place.key, place.entry, status, digests=digests, **fields)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _held_sequencer(error: ClientError) -> str | None:
    held: Any = error.response.get("Item") or {}
    sequencer: str | None = held.get("sequencer", {}).get("S")
    return sequencer

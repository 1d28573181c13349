"""The digests table: conditional writes, reads by key, by object and by SHA-1."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import DamagedRow, RowContended, TableBusy
from bucketsum.events.message_fields import shown
from bucketsum.table import items
from bucketsum.table.condition import absent, compared
from bucketsum.table.event_order import deletion_since, read_since, refusal_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import PutItemInputTypeDef


BY_SHA1_INDEX: Final = "by-sha1"

_BATCH_GET_LIMIT: Final = 100

_THROTTLED_PAUSE_SECONDS: Final = 0.05

_IF_NEWER: Final = (
    "(attribute_not_exists(sequencer) OR sequencer < :sequencer"
    " OR (sequencer = :sequencer AND #status <> :hashed))"
)
_IF_NOT_DELETED: Final = " AND attribute_not_exists(deletion_sequencer)"
_IF_NOT_DELETED_SINCE: Final = (
    " AND (attribute_not_exists(deletion_sequencer) OR deletion_sequencer <= :sequencer)"
)
"""Without versions, a newer object at the key ends the deletion of the older one. A listed object
that was put after a deletion has the deletion's sequencer."""
_IF_NO_DIGEST: Final = " AND (attribute_not_exists(sha1) OR etag <> :etag)"
"""A reason never takes the place of a digest of the same content."""
_IF_VERSION_HAS_NONE: Final = " AND attribute_not_exists(sha1)"
"""A digest never takes the place of another of the same version, whatever its event."""
_IF_IN_ORDER: Final = (
    " AND (attribute_not_exists(etag) OR etag = :etag OR etag = :older"
    " OR (sequencer <> :unordered AND recorded_at <= :since))"
)
"""A listed object has no order, or that of the row before it: an event's object takes the place of
an older alone, and that of a row that was made since its reading began may be newer."""
_IF_STILL_SO_DELETED: Final = " AND deletion_sequencer = :deletion"

_NO_MEMBER: Final = "attribute_not_exists(#member) OR attribute_not_exists(compressed_bytes)"
"""Each row of a member has both; of others, another program may have made one."""

_DAY_SECONDS: Final = 24 * 3600

_ATTEMPTS: Final = 8
"""Of a conditional write: two refusals have a reason, and each further one another writer. Also of
a batch of reads, all of which DynamoDB throttles."""
_ATTEMPTS_SECONDS: Final = 20.0


class DigestsTable:
    """The DynamoDB table of digests.

    Attributes:
        name: Of the table.
        deleted_row_days: Days from the recording of a deletion until its row expires; 0 for never.
        has_sha1_index: Whether rows are written into the index by-sha1 too.
    """

    def __init__(
        self,
        dynamodb: DynamoDBClient,
        table: str,
        deleted_row_days: int = 0,
        *,
        has_sha1_index: bool = True,
    ) -> None:
        self.dynamodb = dynamodb
        self.name = table
        self.deleted_row_days = deleted_row_days
        self.has_sha1_index = has_sha1_index

    def record(self, row: Row) -> Outcome:
        """Write *row* unless the table already holds this event or a newer one of its key.

        The outcome is the row's status, or else `UNCHANGED` for the same event and `SUPERSEDED` for
        a newer one.

        A hashed row is never overwritten by an event that is not newer, and one of a version with
        an ID by none; one without a digest is overwritten by the same event once it can be read.
        A deletion that was recorded before stays in the row, unless it is of an older object at the
        same key. If *row* has no digest, one of the same entity tag stays too, under the newer
        event: `UNCHANGED`.

        Raises:
            DamagedRow: Another program changed the item; no condition on it can be met.
            Unordered: Another object is listed at the key; only S3 knows the newer.
            RowContended: The item was changed before each attempt.
            ClientError: DynamoDB refused.
        """
        outcome, older = Outcome(row.status), row.etag
        for _ in attempts_at(RowKey(row.bucket, row.key, row.entry)):
            try:
                self.dynamodb.put_item(**self.put_parameters(row, older))
            except self.dynamodb.exceptions.ConditionalCheckFailedException as error:
                item = item_found(error)
                if refusal := refusal_of(item, row):
                    return refusal
                older = item.get("etag", {}).get("S", row.etag)
                has_digest = "sha1" in item and item.get("etag") == {"S": row.etag}
                if row.status is not Status.HASHED and has_digest:  # of the same content
                    [hashed] = items.rows_of([item])
                    row = replace(
                        hashed,
                        sequencer=row.sequencer,
                        arrived_at=row.arrived_at,
                        deletion=None,
                    )
                    outcome = Outcome.UNCHANGED
                else:
                    if deletion := deletion_since(item, row):  # a tombstone expires earlier
                        deletion = replace(deletion, expires_at=expiry(self.deleted_row_days))
                    row = replace(row, deletion=deletion)
            else:
                break
        return outcome

    def put_parameters(self, row: Row, older: str | None = None) -> PutItemInputTypeDef:
        """The parameters of the PutItem that `record` begins with.

        Of listed objects of version ``null``, it replaces that of the entity tag *older* alone.
        """
        values: dict[str, Any] = {
            ":sequencer": {"S": comparable_sequencer(row.sequencer)},
            ":hashed": {"S": Status.HASHED},
        }
        if row.deletion:
            condition = _IF_STILL_SO_DELETED
            values[":deletion"] = {"S": comparable_sequencer(row.deletion.sequencer)}
        else:
            condition = _IF_NOT_DELETED_SINCE if row.version.is_null else _IF_NOT_DELETED
        if not row.version.is_null:
            condition += _IF_VERSION_HAS_NONE
        elif row.etag is not None and row.sequencer != NO_SEQUENCER:
            condition += _IF_IN_ORDER
            values[":etag"] = {"S": row.etag}
            values[":older"] = {"S": older or row.etag}
            values[":unordered"] = {"S": comparable_sequencer(NO_SEQUENCER)}
            values[":since"] = {"S": read_since(row)}
        if row.status is not Status.HASHED and row.etag is not None:
            condition += _IF_NO_DIGEST
            values[":etag"] = {"S": row.etag}
        return {
            "TableName": self.name,
            "Item": items.item_of(row, is_indexed=self.has_sha1_index),
            "ConditionExpression": _IF_NEWER + condition,
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def replace(self, row: Row, seen: Row) -> Outcome:
        """Write *row* if the table still holds *seen*, by sequencer, entity tag and deletion."""
        sequencer = comparable_sequencer(seen.sequencer)
        same = compared("sequencer", "=", sequencer)
        same &= absent("etag") if seen.etag is None else compared("etag", "=", seen.etag)
        name = "deletion_sequencer"
        same &= compared(name, "=", seen.deletion.sequencer) if seen.deletion else absent(name)
        if row.status is not Status.HASHED and row.etag == seen.etag:
            same &= absent("sha1")  # the event may have been hashed meanwhile
        try:
            self.dynamodb.put_item(
                TableName=self.name,
                Item=items.item_of(row, is_indexed=self.has_sha1_index),
                **same.parameters(),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self.dynamodb.exceptions.ConditionalCheckFailedException as error:
            item = item_found(error)
            if items.sequencer_in(item) < sequencer:
                return self.record(row)  # *seen* was removed, or never was
            same_object = item.get("etag") == {"S": row.etag}
            return Outcome.UNCHANGED if same_object else Outcome.SUPERSEDED
        return Outcome(row.status)

    def row_at(self, row_key: RowKey, *, consistent: bool = False) -> Row | None:
        """The row with *row_key*, or None; eventually consistent, unless it is *consistent*."""
        response = self.dynamodb.get_item(
            TableName=self.name, Key=items.key_of(row_key), ConsistentRead=consistent
        )
        return next(items.rows_of([response["Item"]] if "Item" in response else []), None)

    def rows_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row]:
        """The rows with *row_keys*, damaged rows included; keys without a row are left out."""
        rows = items.shown_rows(self._items_at(row_keys))
        return {RowKey(row.bucket, row.key, row.entry): row for row in rows}

    def records_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row | Deletion | DamagedRow]:
        """The rows with *row_keys*, or the deletions in their tombstones.

        The error of a damaged item stands in its place, so that it ends no other object's work; if
        only its digest is damaged, an unreadable row does.
        """
        records: dict[RowKey, Row | Deletion | DamagedRow] = {}
        for item in self._items_at(row_keys):
            if record := _record_in(item):
                records[items.row_key_in(item)] = record
        return records

    def _items_at(self, row_keys: Iterable[RowKey]) -> Iterator[Mapping[str, Any]]:
        waiting = [items.key_of(row_key) for row_key in dict.fromkeys(row_keys)]
        idle = 0
        while waiting and idle < _ATTEMPTS:
            batch, waiting = waiting[:_BATCH_GET_LIMIT], waiting[_BATCH_GET_LIMIT:]
            response = self.dynamodb.batch_get_item(RequestItems={self.name: {"Keys": batch}})
            yield from response["Responses"].get(self.name, ())
            unprocessed = response.get("UnprocessedKeys", {}).get(self.name)
            idle = idle + 1 if unprocessed and len(unprocessed["Keys"]) == len(batch) else 0
            if unprocessed:  # the table is throttled
                time.sleep(_THROTTLED_PAUSE_SECONDS * 2**idle)
                waiting += list(unprocessed["Keys"])
        if waiting:
            raise TableBusy(f"DynamoDB read none of {len(waiting)} rows in {idle} attempts")

    def versions_of(self, bucket: str, key: str) -> list[Row]:
        """Rows of every version of one object, newest first, without members of archives."""
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.name,
            KeyConditionExpression="#object = :object",
            FilterExpression=_NO_MEMBER,
            ExpressionAttributeNames={"#object": "object", "#member": "member"},
            ExpressionAttributeValues={":object": {"S": f"{bucket}/{key}"}},
        )
        rows = [row for page in pages for row in items.shown_rows(page["Items"])]
        return sorted(rows, key=lambda row: row.sequencer, reverse=True)

    def with_sha1(self, sha1: str) -> list[Row]:
        """Rows with this digest, ordered by object; damaged rows of the index are included."""
        with ThreadPoolExecutor(items.SHA1_SHARDS) as threads:
            shards = (f"{sha1}#{shard}" for shard in range(items.SHA1_SHARDS))
            row_keys = [key for keys in threads.map(self._row_keys_in, shards) for key in keys]
        rows = self.rows_at(row_keys).values()
        same = (row for row in rows if row.sha1 == sha1 or row.status is Status.DAMAGED)
        return sorted(same, key=lambda row: (row.bucket, row.key, row.arrived_at))

    def _row_keys_in(self, shard: str) -> list[RowKey]:
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.name,
            IndexName=BY_SHA1_INDEX,
            KeyConditionExpression="sha1_shard = :shard",
            ExpressionAttributeValues={":shard": {"S": shard}},
        )
        return [items.row_key_in(item) for page in pages for item in page["Items"]]


def attempts_at(row_key: RowKey) -> Iterator[int]:
    """Yield the number of each attempt at a conditional write of the item at *row_key*.

    Raises:
        RowContended: There were `_ATTEMPTS`, or `_ATTEMPTS_SECONDS` are over.
    """
    ends_at = time.monotonic() + _ATTEMPTS_SECONDS
    for attempt in range(_ATTEMPTS):
        if time.monotonic() > ends_at:
            break
        yield attempt
    raise RowContended(
        f"the row of {shown(f'{row_key.bucket}/{row_key.key}')}, entry {shown(row_key.entry)}, "
        "was changed by others before each attempt to write it; if that is not so, correct its "
        "item in the table, or delete it and hash the object again"
    )


def item_found(error: ClientError) -> Mapping[str, Any]:
    """The item that a condition failed on; empty if there is none."""
    item: Any = error.response.get("Item")
    return item or {}


def expiry(days: int) -> int | None:
    """Epoch seconds in *days* from now; None for 0."""
    return round(time.time()) + days * _DAY_SECONDS if days else None


def _record_in(item: Mapping[str, Any]) -> Row | Deletion | DamagedRow | None:
    try:
        return next(items.rows_of([item]), None) or items.deletion_of(item)
    except DamagedRow as error:
        with suppress(DamagedRow):
            return items.row_without_digest(item)
        return error

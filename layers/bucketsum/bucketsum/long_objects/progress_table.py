"""Progress items in the digests table, moved by compare-and-swap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.long_objects.progress import (
    CRC_NAME,
    FLOAT_FORMAT,
    PARTITION,
    STATE_PREFIX,
    ChainStatus,
    Progress,
    crc32_of,
    item_key,
    item_of_progress,
    progress_in,
)
from bucketsum.table.checksum_values import Compared
from bucketsum.table.codec import attribute_of, attributes_of
from bucketsum.table.condition import Condition, absent, compared
from bucketsum.table.damage import each_read
from bucketsum.table.digests_table import expiry, item_found
from bucketsum.table.rows import RowKey
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum.table.stored_fields import names_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


PROGRESS_DAYS: Final = 60
"""Items stay for this long after their last change, if nobody ends their chain: longer than SQS
keeps a message in two queues."""


class ProgressTable:
    """Progress items: every change names the offset and the etag that it is based on."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def at(self, row_key: RowKey) -> Progress | None:
        """The progress of this version now, or None."""
        response = self._dynamodb.get_item(
            TableName=self._table, Key=item_key(row_key), ConsistentRead=True
        )
        return progress_in(response["Item"]) if "Item" in response else None

    def in_progress(self) -> Iterator[Progress | DamagedItem]:
        """Every long object in progress; for a damaged item, its error."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="#object = :partition",
            ExpressionAttributeNames={"#object": "object"},
            ExpressionAttributeValues={":partition": {"S": PARTITION}},
        )
        return each_read(progress_in, (item for page in pages for item in page["Items"]))

    def begin(self, progress: Progress, *, is_listed: bool = False) -> Progress:
        """Write *progress*, unless the item is of this or a newer object; returns the item.

        A listed object takes the place of a stopped one too: nobody knows which is the newer, and
        the slicer finds out if S3 no longer has *progress*.
        """
        older = compared("sequencer", "<", comparable_sequencer(progress.sequencer))
        if is_listed:
            older |= compared("status", "=", ChainStatus.STOPPED)
        older &= compared("etag", "<>", progress.etag)
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item=item_of_progress(progress) | {"expires_at": _attribute(expiry(PROGRESS_DAYS))},
                **(absent("object") | older).parameters(),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            item = item_found(error)
            return progress_in(item) if item else progress
        return progress

    def lease(self, seen: Progress, until: int, at: int) -> bool:
        """Lease the slice of progress *seen* to *until*; False if leased, stopped or changed."""
        condition = compared("status", "=", ChainStatus.RUNNING) & compared("leased_until", "<", at)
        return self._changed(seen, {"leased_until": until}, _same(seen) & condition) is not None

    def end_lease(self, seen: Progress) -> None:
        """End the lease on the slice at *seen*, which failed."""
        self._changed(seen, {"leased_until": 0})

    def advance(self, seen: Progress, new: Progress) -> Progress | None:
        """Save the slice at *seen* as *new*, and end the lease; None if *seen* has changed."""
        return self._changed(
            seen,
            {
                "size_bytes": new.size_bytes, "offset": new.offset, "hop": new.hop,
                "seconds": new.seconds, "mb_per_s": new.mb_per_s, "updated_at": now(),
                "leased_until": 0,
                **{f"{STATE_PREFIX}{name}": state.hex() for name, state in new.states.items()},
                "checksum_state": new.checksum_state, CRC_NAME: crc32_of(new),
            },
        )  # fmt: skip

    def read_again(
        self, seen: Progress, differing: str, last: Compared | None = None
    ) -> Progress | None:
        """Begin another reading, as the last found *differing*; None if *seen* has changed."""
        return self._changed(
            seen,
            {
                "offset": 0, "sent_offset": -1, "hop": 0, "seconds": 0.0, "leased_until": 0,
                "updated_at": now(), "differing": differing, CRC_NAME: None,
                **(dict(attributes_of(last)) if last else dict.fromkeys(names_of(Compared))),
            },
        )  # fmt: skip

    def mark_sent(self, seen: Progress) -> None:
        """Record that the message of *seen* was sent."""
        condition = _same(seen) & compared("sent_offset", "<", seen.offset)
        self._changed(seen, {"sent_offset": seen.offset}, condition)

    def stop(self, seen: Progress, reason: str) -> Progress | None:
        """Stop the slices; None if *seen* has changed or was removed."""
        return self._changed(
            seen,
            {"status": ChainStatus.STOPPED.value, "reason": reason},
            _same_event(seen),
        )

    def restart(self, seen: Progress, wanted: Progress) -> Progress | None:
        """Continue the slices, with the newer of the two events; None if *seen* has changed."""
        wanted_at, seen_at = map(comparable_sequencer, (wanted.sequencer, seen.sequencer))
        is_old = wanted.purpose is not seen.purpose and wanted_at == seen_at  # the row has it
        newest = seen if wanted_at < seen_at or is_old else wanted
        return self._changed(
            seen,
            {
                "status": ChainStatus.RUNNING.value, "reason": None,
                "sequencer": comparable_sequencer(newest.sequencer),
                "arrived_at": newest.arrived_at, "replaces_etag": newest.replaces_etag,
                "purpose": newest.purpose.value, "run": wanted.run or seen.run,
            },
            _same_event(seen),
        )  # fmt: skip

    def remove_progress(self, seen: Progress) -> bool:
        """Remove *seen* unless it has changed; False if it is kept for a newer event."""
        try:
            self._dynamodb.delete_item(
                TableName=self._table,
                Key=item_key(seen.row_key),
                **_same_event(seen).parameters(),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            item = item_found(error)
            same = {"etag": {"S": seen.etag}, "offset": {"N": str(seen.offset)}}
            return any(item.get(name) != value for name, value in same.items())
        return True

    def _changed(
        self,
        seen: Progress,
        changes: Mapping[str, object],
        condition: Condition | None = None,
    ) -> Progress | None:
        """Return the changed item; None if *condition* fails, by default: *seen* is current."""
        changes = {**changes, "expires_at": expiry(PROGRESS_DAYS)}
        new = {
            name: None if value is None else _attribute(value) for name, value in changes.items()
        }
        try:
            response = self._dynamodb.update_item(
                TableName=self._table,
                Key=item_key(seen.row_key),
                **(condition or _same(seen)).update(new),
                ReturnValues="ALL_NEW",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return None
        return progress_in(response["Attributes"])


def _attribute(value: object) -> dict[str, Any]:
    return attribute_of(value, FLOAT_FORMAT)


def _same(seen: Progress) -> Condition:
    return compared("etag", "=", seen.etag) & compared("offset", "=", seen.offset)


def _same_event(seen: Progress) -> Condition:
    return _same(seen) & compared("sequencer", "=", comparable_sequencer(seen.sequencer))

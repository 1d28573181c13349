"""A deletion of an object → its outcome; imported when the first one arrives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bucketsum.events.object_events import ObjectDeleted
from bucketsum.events.version import Version
from bucketsum.hashing.result import HashResult
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS, Deadline
from bucketsum.table.codec import encoded
from bucketsum.table.condition import Condition, absent, compared, present
from bucketsum.table.digests_table import DigestsTable, attempts_at, expiry, item_found
from bucketsum.table.items import NOT_HASHED, key_of, sequencer_in
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import RowKey, row_key_of
from bucketsum.table.sequencer import comparable_sequencer

TOMBSTONE_DAYS: Final = 60
"""Tombstones stay longer than any event of their object is late: SQS keeps a message for 14 days,
and for 14 more in the dead-letter queue."""


def record_deletion(deleted: ObjectDeleted, table: DigestsTable, deadline: Deadline) -> HashResult:
    """Mark the row of the deleted version, or leave a tombstone if there is none.

    A delete marker deletes nothing, unless it replaces the null version.

    Raises:
        OutOfTime: The invocation is about to end.
        DamagedRow: Another program changed the item; no condition on it can be met.
        RowContended: The item was changed before each attempt.
        ClientError: DynamoDB refused.
    """
    deadline.require(STOP_BEFORE_END_SECONDS, "no time is left for this deletion")
    row_key = row_key_of(deleted)
    if deleted.is_marker and not row_key.version.is_null:
        return HashResult(deleted, Outcome.HIDDEN)
    deletion = Deletion(deleted.event_time, deleted.deleted_by, deleted.sequencer)
    return HashResult(deleted, _written(table, row_key, deletion))


def _written(table: DigestsTable, row_key: RowKey, deletion: Deletion) -> Outcome:
    has_row = True  # nearly always; the first refusal shows if not
    for _ in attempts_at(row_key):
        try:
            _mark(table, row_key, deletion, has_row=has_row)
        except table.dynamodb.exceptions.ConditionalCheckFailedException as error:
            item = item_found(error)
            if refusal := _refused_deletion(item, row_key, deletion):
                return refusal
            has_row = "sequencer" in item
        else:
            break
    return Outcome.DELETED


def _mark(table: DigestsTable, row_key: RowKey, deletion: Deletion, *, has_row: bool) -> None:
    """Write *deletion* into the row, or into a tombstone."""
    sequencer = comparable_sequencer(deletion.sequencer)
    condition = _if_recorded(row_key.version, sequencer) if has_row else absent("sequencer")
    condition &= absent("deletion_sequencer") | compared("deletion_sequencer", "<", sequencer)
    expires_at = expiry(table.deleted_row_days if has_row else TOMBSTONE_DAYS)
    changes = {"expires_at": None, **encoded(replace(deletion, expires_at=expires_at), "")}
    if not has_row:
        changes["status"] = {"S": NOT_HASHED}
    table.dynamodb.update_item(
        TableName=table.name,
        Key=key_of(row_key),
        **condition.update(changes),
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )


def _if_recorded(version: Version, sequencer: str) -> Condition:
    """A row is there; of version ``null``, it may be that of a newer object at the key."""
    if version.is_null:
        return compared("sequencer", "<", sequencer)
    return present("sequencer")


def _refused_deletion(
    item: Mapping[str, Any], row_key: RowKey, deletion: Deletion
) -> Outcome | None:
    """Why *deletion* must not change *item*; None if the write should be tried again."""
    sequencer = comparable_sequencer(deletion.sequencer)
    recorded = sequencer_in(item, "deletion_sequencer")
    if recorded == sequencer:
        return Outcome.UNCHANGED
    created = sequencer_in(item)
    is_older = recorded > sequencer or (row_key.version.is_null and created >= sequencer)
    return Outcome.SUPERSEDED if is_older else None

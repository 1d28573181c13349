"""The table of backfills: their runs, their parts, and the counts of the hasher."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.counts import TALLY, BackfillCounts, key_of
from bucketsum.clock import now
from bucketsum.errors import DamagedItem
from bucketsum.events.message_fields import shown
from bucketsum.table.codec import attribute_of, decoded, encoded
from bucketsum.table.condition import Condition, absent, compared
from bucketsum.table.damage import each_read, intact

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RUNS: Final = "backfills"  # in place of a backfill's id; its items are the ids
_FIRST: Final = "2"  # ids begin with a year
_PART: Final = "part#"
_KEPT_SECONDS: Final = 30 * 86_400
_FLOAT_FORMAT: Final = ".9g"
_LEFT_OUT_NONE: Final = {"archived": {"BOOL": True}}
"""Of backfills from before there was this attribute: they read every storage class."""


class RunItems:
    """The items of the table *name*, of whatever kind."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self.name = table

    def _item(self, partition: str, name: str) -> Any:  # noqa: ANN401 - as botocore's
        """An item, or None; consistent."""
        key = key_of(partition, name)
        return self._dynamodb.get_item(TableName=self.name, Key=key, ConsistentRead=True).get(
            "Item"
        )

    def _items(self, partition: str, prefix: str = "", *, forward: bool = True) -> Iterator[Any]:
        """Yield the items of *partition* whose names begin with *prefix*; consistent."""
        condition, values = "backfill = :partition", {":partition": {"S": partition}}
        names: dict[str, Any] = {}
        if prefix:  # DynamoDB takes no empty one
            condition += " AND begins_with(#item, :prefix)"
            values[":prefix"] = {"S": prefix}
            names["ExpressionAttributeNames"] = {"#item": "item"}
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self.name,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ScanIndexForward=forward,
            ConsistentRead=True,
            **names,
        )
        for page in pages:
            yield from page["Items"]

    def _put_item(self, item: Mapping[str, Any], condition: Condition | None) -> bool:
        """Write *item*; False if the one in its place does not meet *condition*."""
        parameters = condition.parameters() if condition else {}
        try:
            self._dynamodb.put_item(TableName=self.name, Item=item, **parameters)
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _change_item(
        self, key: Mapping[str, Any], changes: Mapping[str, str | int | None], condition: Condition
    ) -> bool:
        """Set attributes, or remove them; False if the item does not meet *condition*."""
        new = {name: value if value is None else attribute_of(value, "")
               for name, value in changes.items()}  # fmt: skip
        try:
            self._dynamodb.update_item(TableName=self.name, Key=key, **condition.update(new))
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True


class BackfillsTable(RunItems, BackfillCounts):
    """The table of backfills.

    Its key is ``backfill`` and ``item``. Runs share the key ``backfills``, so that they can be
    listed; parts and counts have the id of their backfill.
    """

    def record(self, backfill: Backfill) -> None:
        """Write the present state of a backfill."""
        item = encoded(backfill, _FLOAT_FORMAT) | key_of(RUNS, backfill.backfill_id)
        self._dynamodb.put_item(TableName=self.name, Item=item)

    def backfill(self, backfill_id: str) -> Backfill | None:
        """The backfill, or None; consistent."""
        item = self._item(RUNS, backfill_id)
        return _backfill_of(item) if item else None

    def backfills(self) -> Iterator[Backfill | DamagedItem]:
        """Every backfill, the newest first; for a damaged backfill, its error."""
        return each_read(_backfill_of, self._items(RUNS, _FIRST, forward=False))

    def members(self, run_id: str) -> list[Backfill]:
        """The backfills of a run, by their ids; consistent.

        Raises:
            DamagedItem: Another program changed one of them.
        """
        items = map(_backfill_of, self._items(RUNS, run_id))
        return [backfill for backfill in items if backfill.run_id == run_id]

    def end(
        self, backfill_id: str, status: BackfillStatus, ended_at: str, failure: str | None = None
    ) -> bool:
        """Change the status of a running backfill; returns whether it was running."""
        changes = {"status": status, "ended_at": ended_at, "failure": failure}
        is_running = compared("status", "=", BackfillStatus.RUNNING)
        return self._change_item(key_of(RUNS, backfill_id), changes, is_running)

    def fail(self, backfill: Backfill, failure: str) -> bool:
        """Mark *backfill* as failed, unless its status has changed, or it rests by now."""
        changes = {"status": BackfillStatus.FAILED, "ended_at": now(), "failure": failure}
        same = compared("status", "=", backfill.status)
        if not backfill.rested_at:
            same &= absent("rested_at")
        return self._change_item(key_of(RUNS, backfill.backfill_id), changes, same)

    def rest(self, backfill_id: str) -> None:
        """Note that nothing of a queued backfill is in a queue or in slices any more."""
        is_queued = compared("status", "=", BackfillStatus.QUEUED)
        key = key_of(RUNS, backfill_id)
        self._change_item(key, {"rested_at": now()}, is_queued & absent("rested_at"))

    def account(self, backfill_id: str) -> None:
        """Note that each object of a backfill has its row."""
        key = key_of(RUNS, backfill_id)
        self._change_item(key, {"accounted_at": now()}, absent("accounted_at"))

    def record_plan(self, backfill_id: str, parts: list[Part]) -> None:
        """Write the parts of a backfill, then their number."""
        for part in parts:
            item = encoded(part, _FLOAT_FORMAT) | key_of(backfill_id, _part_item(part))
            self._dynamodb.put_item(TableName=self.name, Item=item)
        self._dynamodb.update_item(
            TableName=self.name,
            Key=key_of(RUNS, backfill_id),
            UpdateExpression="SET part_count = :count, planned_at = :now",
            ExpressionAttributeValues={":count": {"N": str(len(parts))}, ":now": {"S": now()}},
        )

    def parts(self, backfill_id: str) -> list[Part]:
        """The parts of a backfill, by number; consistent."""
        return [_part_of(item) for item in self._items(backfill_id, _PART)]

    def advance(self, backfill_id: str, before: Part, after: Part) -> bool:
        """Move a part forward from *before*; returns False if another enqueuer has moved it."""
        same = compared("position", "=", before.position) & compared("done", "=", before.done)
        version = before.version
        same &= absent("version") if version is None else compared("version", "=", version)
        item = encoded(after, _FLOAT_FORMAT) | key_of(backfill_id, _part_item(after))
        return self._put_item(item, same)

    def keep_listed(self, backfill_id: str, part: Part, versions: bytes) -> None:
        """Keep the `packed` *versions* of the page after *part* until the rows are counted."""
        expires = {"expires_at": {"N": str(round(time.time()) + _KEPT_SECONDS)}}
        key = key_of(_listed_in(backfill_id, part), f"{part.pages:09d}")
        self._put_item({**key, **expires, "versions": {"B": versions}}, None)

    def listed(self, backfill_id: str, part: Part) -> Iterator[bytes]:
        """The pages of *part* that are kept; consistent."""
        return (item["versions"]["B"] for item in self._items(_listed_in(backfill_id, part)))

    def tally(self, backfill_id: str) -> tuple[Tally, str | None]:
        """The counts of a backfill, and the time of the last of them; consistent."""
        tally, counted_at = Tally(), ""
        with intact("counts of the backfill", backfill_id):
            for item in self._items(backfill_id, TALLY):
                tally += decoded(Tally, item)
                counted_at = max(counted_at, _moment(item["counted_at"]["S"]))
        return tally, counted_at or None


def _listed_in(backfill_id: str, part: Part) -> str:
    """The partition of a part's pages: a partition takes a thousand writes of 1 kB a second."""
    return f"{backfill_id}#listed#{part.number:06d}"


def _part_item(part: Part) -> str:
    return f"{_PART}{part.number:06d}"


def _backfill_of(item: Mapping[str, Any]) -> Backfill:
    backfill_id = item["item"]["S"]
    with intact("backfill", backfill_id):
        require(item, "all_versions")
        backfill = decoded(Backfill, {**_LEFT_OUT_NONE, **item}, backfill_id=backfill_id)
        moments = (backfill.started_at, backfill.planned_at, backfill.ended_at, backfill.rested_at)
        for moment in filter(None, moments):
            _moment(moment)
    return backfill


def _moment(text: str) -> str:
    """Return *text*; raise ValueError if it is not an ISO 8601 time with a UTC offset."""
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(f"{shown(text)} has no time zone")
    return text


def other_parts(backfill_id: str) -> DamagedItem:
    """The error for a backfill whose parts are not those of its plan."""
    return DamagedItem(
        f"another program changed or removed parts of the backfill {shown(backfill_id)}: objects "
        "would be left out; start another backfill",
        backfill_id,
    )


def require(item: Mapping[str, Any], *names: str) -> None:
    """Raise ValueError if an attribute is missing, whose default would leave objects out."""
    if missing := [name for name in names if name not in item]:
        raise ValueError(f"{missing[0]} is missing")


def _part_of(item: Mapping[str, Any]) -> Part:
    """The part in *item*, which must have what `BackfillsTable.advance` compares."""
    backfill_id, number = item["backfill"]["S"], item["item"]["S"].removeprefix(_PART)
    with intact(f"part {number} of the backfill", backfill_id):
        require(item, "position", "done")
        part = decoded(Part, item, number=int(number))
        if part.position and part.file is None:
            require(item, "version")
        return part

"""DynamoDB: tables with conditional writes and eventually consistent reads."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.simulation.network import Network
from tests.simulation.schedule import Schedule
from tests.support.dynamodb_fake import Change, Item, Writes
from tests.support.expressions import check_failed, holds

Key = tuple[str, str]

DIGESTS: Final = "digests"
BACKFILLS: Final = "backfills"
STALE_SECONDS: Final = 1.0
"""An eventually consistent read is at most this old."""

KEYS: Final = {DIGESTS: ("object", "entry"), BACKFILLS: ("backfill", "item")}


class DynamoDb(Writes):
    """The digests table and that of backfills, and the DynamoDB client of the product."""

    def __init__(
        self, schedule: Schedule, on_write: Callable[[Item | None, Item | None], None]
    ) -> None:
        """Call *on_write* with the item before and after each write."""
        self._schedule = schedule
        self._on_write = on_write
        self.network = Network(schedule, ("ProvisionedThroughputExceededException", 400))
        self._tables: dict[str, dict[Key, list[tuple[float, Item | None]]]] = defaultdict(dict)
        """Table → key → the item after every write, with its time; None if it was deleted."""

    def item_at(self, key: str, entry: str) -> Item | None:
        """The item of the digests table as the last write left it."""
        return self._current(DIGESTS, (key, entry))

    def items(self, table: str = DIGESTS) -> list[Item]:
        """Every item of *table*."""
        last = (written[-1][1] for written in self._tables[table].values())
        return [item for item in last if item]

    def seed(self, table: str, item: Item) -> None:
        """Put *item*, whose write is not a part of the schedule."""
        self.overwrite(table, _key_in(table, item), item)

    def overwrite(self, table: str, key: Key, item: Item | None) -> None:
        """Put or delete an item as a program that is not bucketsum."""
        self._tables[table].setdefault(key, []).append((self._schedule.now, item))

    def attribute(self, table: str, key: Key, name: str) -> str:
        """A text or a number of an item, as a text, as the last write left it."""
        item = self._current(table, key) or {}
        return next(iter(item.get(name, {}).values()), "")

    def _current(self, table: str, key: Key) -> Item | None:
        written = self._tables[table].get(key)
        return written[-1][1] if written else None

    def write(self, operation: str, request: Item, key_item: Item, change: Change) -> Item | None:
        """Change an item; botocore repeats a request whose response is lost."""
        table = request["TableName"]
        key = _key_in(table, key_item)
        self.network.request(operation, key)
        after = self._change(operation, table, key, request, change)
        if self._schedule.happens(self.network.faults / 4):
            self._schedule.log("  is repeated by botocore")
            self._schedule.pause()
            after = self._change(operation, table, key, request, change)
        self.network.response()
        return after

    def _change(
        self, operation: str, table: str, key: Key, request: dict[str, Any], change: Change
    ) -> Item | None:
        before = self._current(table, key)
        if not holds(request, before):
            self._schedule.log("  the condition fails")
            raise check_failed(operation, before)
        after = change(before)
        if table == DIGESTS:
            self._on_write(before, after)
        self._tables[table].setdefault(key, []).append((self._schedule.now, after))
        if table == BACKFILLS:
            self._on_write(before, after)
        return after

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's GetItem."""
        table = request["TableName"]
        key = _key_in(table, request["Key"])
        self.network.request("GetItem", key)
        item = self._seen(table, key, consistent=request.get("ConsistentRead", False))
        return {"Item": item} if item else {}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's BatchGetItem; at times a part of the keys is left."""
        [(table, wanted)] = request["RequestItems"].items()
        keys = wanted["Keys"]
        self.network.request("BatchGetItem", len(keys))
        count = len(keys)
        if self._schedule.happens(self.network.faults):
            count = self._schedule.random.randint(0, count)
        seen = (self._seen(table, _key_in(table, key), consistent=False) for key in keys[:count])
        left = {table: {"Keys": keys[count:]}} if keys[count:] else {}
        return {"Responses": {table: [item for item in seen if item]}, "UnprocessedKeys": left}

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Query; of the items that share a partition, and a prefix."""
        table, values = request["TableName"], request["ExpressionAttributeValues"]
        partition, *prefixes = (value["S"] for value in values.values())
        self.network.request("Query", partition)
        prefix = tuple(prefixes) or ""
        keys = [k for k in self._tables[table] if k[0] == partition and k[1].startswith(prefix)]
        consistent = request.get("ConsistentRead", False)
        seen = [self._seen(table, key, consistent=consistent) for key in sorted(keys)]
        yield {"Items": [item for item in seen if item]}

    def _seen(self, table: str, key: Key, *, consistent: bool) -> Item | None:
        """The item as a read sees it: now, or any state of the last second."""
        written = self._tables[table].get(key, [])
        settled = self._schedule.now - (0 if consistent else STALE_SECONDS)
        oldest = len(written)
        while oldest and written[oldest - 1][0] > settled:
            oldest -= 1
        state = self._schedule.number(oldest, len(written))
        return written[state - 1][1] if state else None


def _key_in(table: str, item: Item) -> Key:
    partition, sort = KEYS[table]
    return item[partition]["S"], item[sort]["S"]

"""DynamoDB: one table with conditional puts and eventually consistent reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.network import Network
from tests.support.conditions import ConditionalCheckFailedException, check_failed, holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.simulation.schedule import Schedule

    Item = dict[str, Any]

STALE_SECONDS: Final = 1.0
"""An eventually consistent read is at most this old."""


class DynamoDb:
    """The digests table, and the DynamoDB client of the product."""

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ConditionalCheckFailedException)

    def __init__(self, schedule: Schedule, on_write: Callable[[Item | None, Item], None]) -> None:
        self._schedule = schedule
        self._on_write = on_write
        self.network = Network(schedule, ("ProvisionedThroughputExceededException", 400))
        self._items: dict[tuple[str, str], list[tuple[float, Item]]] = {}
        """Key → every item that was ever there, with the time of its write."""

    def item_at(self, key: str, entry: str) -> Item | None:
        """The item as the last write left it."""
        written = self._items.get((key, entry))
        return written[-1][1] if written else None

    def put_item(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See DynamoDB's PutItem; botocore repeats a request whose response is lost."""
        item: Item = request["Item"]
        key = item["object"]["S"], item["entry"]["S"]
        self.network.request("PutItem", " ".join((*key, item["sequencer"]["S"].rstrip("0"))))
        self._put(key, item, request)
        if self._schedule.happens(self.network.faults / 4):
            self._schedule.log("  is repeated by botocore")
            self._schedule.pause()
            self._put(key, item, request)
        self.network.response()

    def _put(self, key: tuple[str, str], item: Item, request: dict[str, Any]) -> None:
        before = self.item_at(*key)
        if not holds(request, before):
            self._schedule.log("  the condition fails")
            raise check_failed("PutItem", before)
        self._on_write(before, item)
        self._items.setdefault(key, []).append((self._schedule.now, item))

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's GetItem."""
        key = request["Key"]["object"]["S"], request["Key"]["entry"]["S"]
        self.network.request("GetItem", " ".join(key))
        item = self._seen(key, consistent=request.get("ConsistentRead", False))
        return {"Item": item} if item else {}

    def get_paginator(self, operation: str) -> DynamoDb:
        """The paginator of Query, which is this model itself."""
        assert operation == "query"
        return self

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Query; of an object's rows alone."""
        name = request["ExpressionAttributeValues"][":object"]["S"]
        self.network.request("Query", name)
        seen = [self._seen(key, consistent=False) for key in self._items if key[0] == name]
        yield {"Items": [item for item in seen if item]}

    def _seen(self, key: tuple[str, str], *, consistent: bool) -> Item | None:
        """The item as a read sees it: now, or any state of the last second."""
        written = self._items.get(key, [])
        settled = self._schedule.now - (0 if consistent else STALE_SECONDS)
        oldest = sum(at <= settled for at, _ in written)
        state = self._schedule.random.randint(oldest, len(written))
        return written[state - 1][1] if state else None

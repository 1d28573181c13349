"""DynamoDB in memory: the writes of single items, and a table that is always consistent."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, Self

from tests.support.expressions import (
    ConditionalCheckFailedException,
    check_failed,
    holds,
    updated,
)

from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row

Item = dict[str, Any]
Change = Callable[[Item | None], Item | None]


class Writes(ABC):
    """The operations of a client that write an item, and the paginator of Query."""

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ConditionalCheckFailedException)

    @abstractmethod
    def write(self, operation: str, request: Item, key_item: Item, change: Change) -> Item | None:
        """Change an item, which is None if it is absent; returns the new one."""

    def put_item(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See DynamoDB's PutItem."""
        self.write("PutItem", request, request["Item"], lambda _: request["Item"])

    def delete_item(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See DynamoDB's DeleteItem."""
        self.write("DeleteItem", request, request["Key"], lambda _: None)

    def update_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's UpdateItem: SET and REMOVE, or ADD of numbers."""

        def changed(before: Item | None) -> Item:
            return updated({**(before or request["Key"])}, request)

        return {"Attributes": self.write("UpdateItem", request, request["Key"], changed)}

    def get_paginator(self, operation: str) -> Self:
        """The paginator of Query, which is this fake itself."""
        assert operation == "query"
        return self


class FakeDynamoDb(Writes):
    """The client's operations on one table with the keys of the digests table."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], dict[str, Any]] = {}

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's GetItem."""
        item = self.items.get(_key_of(request["Key"]))
        return {"Item": deepcopy(item)} if item else {}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's BatchGetItem."""
        [(table, wanted)] = request["RequestItems"].items()
        items = [self.items.get(_key_of(key)) for key in wanted["Keys"]]
        return {"Responses": {table: deepcopy([item for item in items if item])}}

    def write(self, operation: str, request: Item, key_item: Item, change: Change) -> Item | None:
        """See `Writes.write`."""
        key = _key_of(key_item)
        before = self.items.get(key)
        if not holds(request, before):
            raise check_failed(operation, before)
        after = change(before)
        if after is None:
            self.items.pop(key, None)
        else:
            self.items[key] = after
        return deepcopy(after)

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Query; of a whole partition."""
        [partition] = request["ExpressionAttributeValues"].values()
        yield {"Items": [item for key, item in self.items.items() if key[0] == partition["S"]]}


def table_with(*rows: Row) -> DigestsTable:
    """A digests table in memory with *rows*."""
    dynamodb: Any = FakeDynamoDb()
    table = DigestsTable(dynamodb, "digests")
    for row in rows:
        table.record(row)
    return table


def _key_of(item: Item) -> tuple[str, str]:
    return item["object"]["S"], item["entry"]["S"]

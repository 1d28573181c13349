"""A DynamoDB table in memory: conditional writes of single items, always consistent."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.support.expressions import (
    ConditionalCheckFailedException,
    check_failed,
    holds,
    updated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeDynamoDb:
    """The client's operations on one table with the keys of the digests table."""

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ConditionalCheckFailedException)

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

    def put_item(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See DynamoDB's PutItem."""
        key = _key_of(request["Item"])
        self._check("PutItem", key, request)
        self.items[key] = request["Item"]

    def delete_item(self, **request: Any) -> None:  # noqa: ANN401 - as botocore's
        """See DynamoDB's DeleteItem."""
        key = _key_of(request["Key"])
        self._check("DeleteItem", key, request)
        self.items.pop(key, None)

    def update_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's UpdateItem."""
        key = _key_of(request["Key"])
        self._check("UpdateItem", key, request)
        self.items[key] = updated({**self.items.get(key, request["Key"])}, request)
        return {"Attributes": deepcopy(self.items[key])}

    def get_paginator(self, operation: str) -> FakeDynamoDb:
        """The paginator of Query, which is this fake itself."""
        assert operation == "query"
        return self

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as botocore's
        """See DynamoDB's Query; of a whole partition."""
        [partition] = request["ExpressionAttributeValues"].values()
        yield {"Items": [item for key, item in self.items.items() if key[0] == partition["S"]]}

    def _check(self, operation: str, key: tuple[str, str], request: dict[str, Any]) -> None:
        if not holds(request, self.items.get(key)):
            raise check_failed(operation, self.items.get(key))


def _key_of(item: dict[str, Any]) -> tuple[str, str]:
    return item["object"]["S"], item["entry"]["S"]

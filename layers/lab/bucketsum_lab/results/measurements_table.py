"""The measurements table: items of runs, cells and samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import DamagedItem
from bucketsum.table.codec import attribute_of, plain_values
from bucketsum.table.damage import each_read, intact
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.results.record_values import item_values
from bucketsum_lab.results.run_store import RUN_ITEM, Record, RunStore, run_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


BY_TIME_INDEX: Final = "by-time"
RUN_KIND: Final = "run"
"""The partition of `BY_TIME_INDEX`; only items of runs have the attribute."""

_FLOAT_FORMAT: Final = ".9g"


class MeasurementsTable(RunStore):
    """The DynamoDB table of measurements.

    Raises:
        DamagedItem: Another program changed an item.
    """

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def runs(self) -> Iterator[Run | DamagedItem]:
        """Every run, the newest first; for a damaged run, its error."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=BY_TIME_INDEX,
            KeyConditionExpression="kind = :run",
            ExpressionAttributeValues={":run": {"S": RUN_KIND}},
            ScanIndexForward=False,
        )
        return each_read(self._run_of, (item for page in pages for item in page["Items"]))

    def refuse_cells(self, run_id: str, memory_mb: int, cause: str) -> None:
        """Write *cause* to the cells of one memory size."""
        for cell in self.cells(run_id):
            if cell.setting.memory_mb == memory_mb and cell.cause is None:
                self.record_cell(run_id, replace(cell, cause=cause))

    def _run_of(self, item: Mapping[str, Any]) -> Run:
        with self._intact("run", item["run_id"]["S"]):
            return run_of(plain_values(item))

    def _put(self, run_id: str, item: str, record: Record) -> None:
        attributes = {
            name: attribute_of(value, _FLOAT_FORMAT) for name, value in item_values(record).items()
        }
        if item == RUN_ITEM:
            attributes["kind"] = {"S": RUN_KIND}
        key = {"run_id": {"S": run_id}, "item": {"S": item}}
        self._dynamodb.put_item(TableName=self._table, Item={**attributes, **key})

    def _items(self, run_id: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="run_id = :run AND begins_with(#item, :prefix)",
            ExpressionAttributeNames={"#item": "item"},
            ExpressionAttributeValues={":run": {"S": run_id}, ":prefix": {"S": prefix}},
            ConsistentRead=True,
        )
        return (plain_values(item) for page in pages for item in page["Items"])

    def _intact(self, kind: str, run_id: str) -> AbstractContextManager[None]:
        return intact(kind, run_id)

"""The measurements table: items of runs, cells and samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import DamagedItem
from bucketsum.table.codec import attribute_of, decoded, plain_values
from bucketsum.table.damage import each_read, intact
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.results.recommendation import require_documents
from bucketsum_lab.results.record_values import cell_of, item_values, sample_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


BY_TIME_INDEX: Final = "by-time"
RUN_KIND: Final = "run"
"""The partition of `BY_TIME_INDEX`; only items of runs have the attribute."""

_RUN_ITEM: Final = "run"
_CELL: Final = "cell#"
_SAMPLE: Final = "sample#"
_FLOAT_FORMAT: Final = ".9g"


class MeasurementsTable:
    """The DynamoDB table of measurements."""

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
        return each_read(_run_of, (item for page in pages for item in page["Items"]))

    def run(self, run_id: str) -> Run | None:
        """Read the run consistently; None if there is none. Raises `DamagedItem`, like `cells`."""
        key = {"run_id": {"S": run_id}, "item": {"S": _RUN_ITEM}}
        response = self._dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return _run_of(response["Item"]) if "Item" in response else None

    def cells(self, run_id: str) -> list[CellRow]:
        """The cells of a run, ordered by id; consistent."""
        with intact("cells of the run", run_id):
            return [cell_of(plain_values(item)) for item in self._items(run_id, _CELL)]

    def samples(self, run_id: str) -> list[Sample]:
        """The samples of a run, ordered by cell, repetition and invocation; consistent."""
        with intact("samples of the run", run_id):
            return [sample_of(plain_values(item)) for item in self._items(run_id, _SAMPLE)]

    def record_run(self, run: Run) -> None:
        """Write a run as it stands. Repeating it changes nothing."""
        self._put(run.run_id, _RUN_ITEM, run, {"kind": {"S": RUN_KIND}})

    def record_cell(self, run_id: str, cell: CellRow) -> None:
        """Write one cell of a run."""
        self._put(run_id, f"{_CELL}{cell.cell_id}", cell)

    def record_sample(self, run_id: str, sample: Sample) -> None:
        """Write one sample, as the state machine does."""
        item = sample_item(sample.cell_id, sample.repetition, sample.invocation)
        self._put(run_id, item, sample)

    def refuse_cells(self, run_id: str, memory_mb: int, cause: str) -> None:
        """Write *cause* to the cells of one memory size."""
        for cell in self.cells(run_id):
            if cell.setting.memory_mb == memory_mb and cell.cause is None:
                self.record_cell(run_id, replace(cell, cause=cause))

    def _put(
        self,
        run_id: str,
        item: str,
        record: Run | CellRow | Sample,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        attributes = {
            name: attribute_of(value, _FLOAT_FORMAT) for name, value in item_values(record).items()
        }
        key = {"run_id": {"S": run_id}, "item": {"S": item}}
        self._dynamodb.put_item(TableName=self._table, Item={**attributes, **(more or {}), **key})

    def _items(self, run_id: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="run_id = :run AND begins_with(#item, :prefix)",
            ExpressionAttributeNames={"#item": "item"},
            ExpressionAttributeValues={":run": {"S": run_id}, ":prefix": {"S": prefix}},
            ConsistentRead=True,
        )
        for page in pages:
            yield from page["Items"]


def _run_of(item: Mapping[str, Any]) -> Run:
    with intact("run", item["run_id"]["S"]):
        run = decoded(Run, item)
        require_documents(run)
        return run


def sample_item(cell_id: str, repetition: int, invocation: int) -> str:
    """The sort key of a sample. The state machine composes the same."""
    return f"{_SAMPLE}{cell_id}#{repetition:04d}#{invocation:04d}"

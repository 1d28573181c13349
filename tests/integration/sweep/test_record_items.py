"""The layout dynamodb: items that the planner writes, and batches that the prober reads."""

import time
from collections.abc import Iterator
from typing import Any, Final

import boto3
import pytest
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient
from tests.support.sam_template import create_table

from bucketsum.errors import BadSettings, SourceUnavailable
from bucketsum_lab.workloads.records import items
from bucketsum_lab.workloads.records.data_set import DataSet, queries, verify
from bucketsum_lab.workloads.records.items import KEPT_SECONDS, RecordItems, record_items
from bucketsum_lab.workloads.records.layouts import (
    INDEX_NAME,
    ITEMS_PART,
    RECORDS_TABLE,
    SAMPLED_RECORDS,
)
from bucketsum_lab.workloads.records.workload import RecordsWorkload

TABLE: Final = "records"
DATA_SET: Final = DataSet(100_000)


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDBClient]:
    """The table as the template makes it, named in the environment."""
    monkeypatch.setenv(RECORDS_TABLE, TABLE)
    record_items.cache_clear()
    with mock_aws():
        client = boto3.client("dynamodb")
        create_table(client, "SweepRecordsTable", TABLE)
        yield client
    record_items.cache_clear()


def test_records_are_written_and_read_back(dynamodb: DynamoDBClient) -> None:
    """All that the workload's sampled layouts read; each expires after a week."""
    before = int(time.time())
    RecordsWorkload().prepare(DATA_SET.size_bytes, [ITEMS_PART])
    stored = dynamodb.scan(TableName=TABLE)["Items"]
    assert len(stored) == SAMPLED_RECORDS
    assert before <= int(stored[0]["expires_at"]["N"]) - KEPT_SECONDS <= time.time()
    wanted = queries(100, SAMPLED_RECORDS)
    records, requests = RecordItems(dynamodb, TABLE).read_records(wanted)
    assert requests == 1
    assert set(records) == set(wanted)
    for record_id, data in records.items():
        verify(data, record_id)


def test_a_sweep_without_dynamodb_writes_no_items(dynamodb: DynamoDBClient) -> None:
    """They are a part of the data set, like its files."""
    RecordsWorkload().prepare(DATA_SET.size_bytes, [INDEX_NAME])
    assert not dynamodb.scan(TableName=TABLE)["Items"]


def test_without_a_table_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a stack; a cell then says why it cannot run."""
    monkeypatch.delenv(RECORDS_TABLE, raising=False)
    record_items.cache_clear()
    RecordsWorkload().prepare(DATA_SET.size_bytes, [ITEMS_PART])
    with pytest.raises(BadSettings, match="RECORDS_TABLE is not the name of a table"):
        record_items()


class Reluctant:
    """A DynamoDB that leaves the last of each batch unprocessed, *times* times."""

    def __init__(self, dynamodb: DynamoDBClient, times: int) -> None:
        self._client = dynamodb
        self._times = times

    def batch_write_item(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - as boto3's
        """Write all but the last."""
        return self._reluctantly("UnprocessedItems", arguments, self._client.batch_write_item)

    def batch_get_item(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - as boto3's
        """Read all but the last."""
        return self._reluctantly("UnprocessedKeys", arguments, self._client.batch_get_item)

    def _reluctantly(self, name: str, arguments: dict[str, Any], call: Any) -> dict[str, Any]:  # noqa: ANN401 - as boto3's
        if not self._times:
            return dict(call(**arguments))
        self._times -= 1
        wanted = arguments["RequestItems"][TABLE]
        entries = wanted["Keys"] if isinstance(wanted, dict) else wanted
        first, last = entries[:-1], entries[-1:]
        of_kind = (lambda part: {"Keys": part}) if isinstance(wanted, dict) else list
        left = {name: {TABLE: of_kind(last)}}
        if not first:
            return {"Responses": {}} | left
        return dict(call(RequestItems={TABLE: of_kind(first)})) | left


def test_unprocessed_items_are_sent_again(
    dynamodb: DynamoDBClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As DynamoDB asks its clients to do; none is lost."""
    monkeypatch.setattr(items, "_FIRST_PAUSE_SECONDS", 0)
    table = RecordItems(Reluctant(dynamodb, 3), TABLE)  # type: ignore[arg-type] # has what is called
    table.write_records(DATA_SET.sample(30))
    assert len(dynamodb.scan(TableName=TABLE)["Items"]) == 30
    table = RecordItems(Reluctant(dynamodb, 3), TABLE)  # type: ignore[arg-type] # as above
    wanted = queries(30, 30)
    records, requests = table.read_records(wanted)
    assert (set(records), requests) == (set(wanted), 4)


def test_items_that_stay_unprocessed_end_the_sample(
    dynamodb: DynamoDBClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text says how often it was tried."""
    monkeypatch.setattr(items, "_FIRST_PAUSE_SECONDS", 0)
    table = RecordItems(Reluctant(dynamodb, 99), TABLE)  # type: ignore[arg-type] # has what is called
    with pytest.raises(SourceUnavailable, match="left items unprocessed 8 times"):
        table.write_records(DATA_SET.sample(3))
    with pytest.raises(SourceUnavailable, match="left keys unprocessed 8 times"):
        table.read_records(queries(3, 3))

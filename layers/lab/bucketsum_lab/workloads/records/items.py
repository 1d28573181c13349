"""Records as items of a DynamoDB table: the id is the key, and each item expires after a week."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from bucketsum.errors import BadSettings, SourceUnavailable
from bucketsum_lab.workloads.records.data_set import RECORD_BYTES, id_in
from bucketsum_lab.workloads.records.layouts import RECORDS_TABLE
from bucketsum_lab.workloads.records.record_reader import (
    ReadOptions,
    ReadRecord,
    RecordReader,
    Store,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


KEPT_SECONDS: Final = 7 * 86_400

_WRITTEN_AT_ONCE: Final = 25
_READ_AT_ONCE: Final = 100
"""[A] Most items of a BatchWriteItem, and of a BatchGetItem."""
_ATTEMPTS: Final = 8
_FIRST_PAUSE_SECONDS: Final = 0.05
_ITEM_BYTES: Final = RECORD_BYTES + 100 + len("id" + "record" + "expires_at") + 2 * 6
"""[A] A stored item with the overhead that is billed, its names and its two numbers."""


class RecordItems:
    """The table of records."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def write_records(self, records: Iterable[bytes]) -> None:
        """Write each record, or write it again, which makes it expire later.

        Raises:
            SourceUnavailable: DynamoDB leaves items unprocessed.
        """
        expires_at = {"N": str(int(time.time()) + KEPT_SECONDS)}
        items = (
            {**_key(id_in(record)), "record": {"B": record}, "expires_at": expires_at}
            for record in records
        )
        puts = [{"PutRequest": {"Item": item}} for item in items]
        for start in range(0, len(puts), _WRITTEN_AT_ONCE):
            batch = puts[start : start + _WRITTEN_AT_ONCE]
            for _ in self._responses(self._dynamodb.batch_write_item, batch, "Items"):
                continue

    def read_records(self, record_ids: Sequence[int]) -> tuple[dict[int, bytes], int]:
        """Up to 100 records by id, and the number of requests.

        Raises:
            SourceUnavailable: DynamoDB leaves keys unprocessed.
        """
        records: dict[int, bytes] = {}
        requests = 0
        keys = {"Keys": [_key(record_id) for record_id in record_ids]}
        for response in self._responses(self._dynamodb.batch_get_item, keys, "Keys"):
            requests += 1
            for item in response["Responses"].get(self._table, ()):
                records[int(item["id"]["N"])] = item["record"]["B"]
        return records, requests

    def _responses(self, send: Callable[..., Any], requests: object, kind: str) -> Iterator[Any]:
        """The responses until nothing is unprocessed."""
        left = {self._table: requests}
        for attempt in range(_ATTEMPTS):
            response = send(RequestItems=left)
            yield response
            left = response[f"Unprocessed{kind}"]
            if not left:
                return
            time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
        raise SourceUnavailable(f"DynamoDB left {kind.lower()} unprocessed {_ATTEMPTS} times")


class DynamoReader(RecordReader):
    """BatchGetItem with 100 ids at a time, from as many threads as there are connections."""

    def __init__(self, store: Store, options: ReadOptions) -> None:
        """Open the table in `RECORDS_TABLE`.

        Raises:
            BadSettings: There is none.
        """
        super().__init__(store, options)
        self._items = record_items(options.connections)
        self.stored_bytes = store.records * _ITEM_BYTES

    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """See `RecordReader.fetch_records` for the contract."""
        batches = [
            record_ids[start : start + _READ_AT_ONCE]
            for start in range(0, len(record_ids), _READ_AT_ONCE)
        ]
        with ThreadPoolExecutor(self._options.connections) as pool:
            for records, requests in pool.map(self._items.read_records, batches):
                self.requests += requests
                for record_id, data in records.items():
                    self.bytes_read += len(data)
                    yield ReadRecord(record_id, data, None)


@cache
def record_items(connections: int = 1) -> RecordItems:
    """The table in `RECORDS_TABLE`, with a client for this number of connections.

    Raises:
        BadSettings: The environment has none.
    """
    table = os.environ.get(RECORDS_TABLE)
    if not table:
        raise BadSettings(f"the environment variable {RECORDS_TABLE} is not the name of a table")
    config = Config(max_pool_connections=connections, tcp_keepalive=True)
    return RecordItems(boto3.client("dynamodb", config=config), table)


def _key(record_id: int) -> dict[str, Any]:
    return {"id": {"N": str(record_id)}}

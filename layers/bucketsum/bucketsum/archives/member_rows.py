"""Members of archives ↔ their rows in the digests table, in batches."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final, Self

from botocore.exceptions import ClientError

from bucketsum.archives.names import PATH_BYTES_MAX, shortened, shortened_apart
from bucketsum.errors import TableBusy
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import NULL, Version
from bucketsum.table.items import item_of, key_of, row_of
from bucketsum.table.rows import Row, RowKey, row_key_of
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum.throttling import THROTTLED

if TYPE_CHECKING:
    from botocore.client import ClientMeta
    from mypy_boto3_dynamodb import DynamoDBClient


MEMBER_MARK: Final = "!/"
"""Between the version and the member's path in `Row.entry`."""

_SEQUENCER_MARK: Final = "~"

WRITERS: Final = 8
"""Batches that are written at the same time: each takes some 10 ms, nearly all of it waiting."""

_ENTRY_BYTES_MAX: Final = 1024  # DynamoDB's limit on a sort key
_PATH_BYTES_MIN: Final = 100  # a version id leaves more in all but theory
_BATCH_ROWS: Final = 25  # DynamoDB's own limit
_ATTEMPTS: Final = 8
_LONGEST_PAUSE_SECONDS: Final = 5.0
_OPERATION: Final = "dynamodb.BatchWriteItem"
_ALL: Final = "bucketsum_request_items"


def member_entry(entry: str, sequencer: str, path: str) -> str:
    """The sort key of the member *path* of the archive at *entry*.

    Without versions, archives that overwrite each other share their entry: there the sequencer
    keeps their members apart, even if both are read at the same time.
    """
    if Version.of_entry(entry).is_null:
        entry += f"{_SEQUENCER_MARK}{comparable_sequencer(sequencer)}"
    beginning = f"{entry}{MEMBER_MARK}"
    path = shortened(path, PATH_BYTES_MAX)
    room_bytes = max(_ENTRY_BYTES_MAX - len(beginning), _PATH_BYTES_MIN)
    return beginning + shortened_apart(path, room_bytes)


def archive_entry(entry: str) -> str:
    """The archive's entry, from the entry of one of its members."""
    beginning = entry.partition(MEMBER_MARK)[0]
    return NULL.entry if beginning.startswith(NULL.entry + _SEQUENCER_MARK) else beginning


class MemberRows:
    """The rows of members in the digests table."""

    def __init__(self, dynamodb: DynamoDBClient, table: str, *, is_indexed: bool = True) -> None:
        use_raw_batch_write(dynamodb.meta)
        self._dynamodb = dynamodb
        self._table = table
        self._is_indexed = is_indexed

    def writer(self) -> MemberWriter:
        """A writer for the members of one archive."""
        return MemberWriter(self._write, is_indexed=self._is_indexed)

    def of(self, archive: Row, beginning: str = "") -> Iterator[Row]:
        """The members of *archive* whose paths start with *beginning*, by path."""
        entry = member_entry(archive.entry, archive.sequencer, beginning)
        return map(row_of, self._items(RowKey(archive.bucket, archive.key, entry)))

    def remove_older(self, created: ObjectCreated) -> None:
        """Remove the members of archives that *created* overwrote, in a bucket without versions."""
        row_key = row_key_of(created)
        if row_key.version.is_null:
            first_kept = member_entry(row_key.entry, created.sequencer, "")
            beginning = f"{row_key.entry}{_SEQUENCER_MARK}"  # version IDs may begin with `null`
            rows = self._items(RowKey(row_key.bucket, row_key.key, beginning))
            self._remove(row for row in rows if row["entry"]["S"] < first_kept)

    def remove_overwritten(self, created: ObjectCreated) -> None:
        """Remove the members of *created*, which was overwritten before it was recorded."""
        if row_key_of(created).version.is_null:
            self.remove(created)

    def remove(self, created: ObjectCreated) -> None:
        """Remove the members of *created*."""
        row_key = row_key_of(created)
        entry = member_entry(row_key.entry, created.sequencer, "")
        self._remove(self._items(RowKey(row_key.bucket, row_key.key, entry)))

    def _remove(self, items: Iterable[Mapping[str, Any]]) -> None:
        with self.writer() as writer:
            for item in items:
                if "member" in item:
                    key = {name: item[name] for name in ("object", "entry")}
                    writer.add(key["entry"]["S"], {"DeleteRequest": {"Key": key}})

    def _items(self, beginning: RowKey) -> Iterator[dict[str, Any]]:
        key = key_of(beginning)
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="#object = :object AND begins_with(#entry, :entry)",
            ExpressionAttributeNames={"#object": "object", "#entry": "entry"},
            ExpressionAttributeValues={":object": key["object"], ":entry": key["entry"]},
        )
        for page in pages:
            yield from page["Items"]

    def _write(self, batch: list[Any]) -> None:
        for attempt in range(_ATTEMPTS):
            batch = self._unprocessed(batch)
            if not batch:
                return
            time.sleep(min(0.05 * 2**attempt, _LONGEST_PAUSE_SECONDS) * (0.5 + random.random()))  # noqa: S311 - spreads retries
        raise TableBusy(f"DynamoDB did not take {len(batch)} rows in {_ATTEMPTS} attempts")

    def _unprocessed(self, batch: list[Any]) -> list[Any]:
        """Requests of *batch* that DynamoDB did not take; all of them if it throttles the batch."""
        try:
            response = self._dynamodb.batch_write_item(RequestItems={self._table: batch})
        except ClientError as error:
            if error.response["Error"]["Code"] in THROTTLED:
                return batch  # it took nothing, as all rows are in one partition
            raise
        return list(response.get("UnprocessedItems", {}).get(self._table, ()))


class MemberWriter:
    """Writes in the background while members are read; leaving its ``with`` waits for all rows.

    Keeps at most ``(2 × WRITERS + 1) × 25`` rows.
    """

    def __init__(self, write: Callable[[list[Any]], None], *, is_indexed: bool = True) -> None:
        self._write = write
        self._is_indexed = is_indexed
        self._pool = ThreadPoolExecutor(WRITERS)
        self._batch: dict[str, Any] = {}  # DynamoDB refuses a batch that names a key twice
        self._writing: set[Future[None]] = set()

    def put(self, row: Row) -> None:
        """Write *row* with the next batch.

        Raises:
            ClientError: DynamoDB refused this batch or an earlier one.
            TableBusy: DynamoDB took only part of a batch.
        """
        self.add(row.entry, {"PutRequest": {"Item": item_of(row, is_indexed=self._is_indexed)}})

    def add(self, entry: str, request: Any) -> None:  # noqa: ANN401 - a WriteRequest
        """Send *request* for the sort key *entry* soon; raises the same errors as `put`."""
        self._batch[entry] = request
        if len(self._batch) == _BATCH_ROWS:
            self._send()

    def _send(self) -> None:
        if len(self._writing) >= 2 * WRITERS:
            done, self._writing = wait(self._writing, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
        self._writing.add(self._pool.submit(self._write, list(self._batch.values())))
        self._batch = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                if self._batch:
                    self._send()
                for future in self._writing:
                    future.result()
        finally:
            self._pool.shutdown(cancel_futures=True)


def use_raw_batch_write(client: ClientMeta) -> None:
    """Make ``batch_write_item`` of a client send rows unchecked; a second call changes nothing.

    botocore walks through every attribute of every row twice, to check it and to copy it: measured,
    35 of the 60 µs of CPU time per row, although rows are in DynamoDB's own notation. So botocore
    checks a single row of each batch, and the body that it signs, sends and repeats has all of
    them. Both events are public (boto3's extensibility guide).

    Requests must not have binary values, which JSON cannot represent. Nothing changes if a later
    botocore does not speak JSON to DynamoDB.
    """
    model = client.service_model
    if getattr(model, "resolved_protocol", model.protocol) != "json":  # older ones know but one
        return
    events = client.events
    events.register(f"provide-client-params.{_OPERATION}", _show_first_row, f"{_ALL}-shown")
    events.register(f"before-call.{_OPERATION}", _put_all, f"{_ALL}-put")


def _show_first_row(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    context[_ALL] = params["RequestItems"]
    params["RequestItems"] = {table: rows[:1] for table, rows in context[_ALL].items()}


def _put_all(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    body = json.loads(params["body"]) | {"RequestItems": context[_ALL]}
    params["body"] = json.dumps(body, separators=(",", ":")).encode()

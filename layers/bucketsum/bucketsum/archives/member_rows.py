"""Members of archives ↔ their rows beside the archive's, in batches.

The table's shape is `ledger`'s business; this is how many rows get there and back at a time.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Final, Self

from bucketsum.archives.names import shortened
from bucketsum.archives.raw_batch_write import use_raw_batch_write
from bucketsum.digests_table import (
    NULL_VERSION,
    Row,
    RowKey,
    comparable_sequencer,
    item_of,
    key_of,
    row_of,
)
from bucketsum.errors import Retryable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

MEMBER_MARK: Final = "!/"
"""Between the version and the member's path in `Row.entry`."""

WRITERS: Final = 8
"""Batches on their way at the same time: a batch takes some 10 ms, nearly all of it waiting."""

_ENTRY_BYTES_MAX: Final = 1024  # DynamoDB's limit on a sort key
_PATH_BYTES_MIN: Final = 100  # a version id leaves more in all but theory
_BATCH_ROWS: Final = 25  # DynamoDB's own limit
_ATTEMPTS: Final = 8
_LONGEST_PAUSE_SECONDS: Final = 5.0


class TableBusy(Retryable):
    """DynamoDB took some rows of a batch and, in many attempts, not the others."""


def member_entry(entry: str, path: str) -> str:
    """Where in an object's rows its member *path* is kept."""
    beginning = f"{entry}{MEMBER_MARK}"
    return beginning + shortened(path, max(_ENTRY_BYTES_MAX - len(beginning), _PATH_BYTES_MIN))


class MemberRows:
    """The rows of members in the digests table."""

    def __init__(
        self,
        dynamodb: DynamoDBClient,
        table: str,
        pause: Callable[[float], None] = time.sleep,
        *,
        plainly: bool = True,
    ) -> None:
        if plainly:  # only the benchmark wants it otherwise
            use_raw_batch_write(dynamodb.meta)
        self._dynamodb = dynamodb
        self._table = table
        self._pause = pause

    def writer(self) -> MemberWriter:
        """A writer for the members of one archive."""
        return MemberWriter(self._write)

    def of(self, archive: Row, beginning: str = "") -> Iterator[Row]:
        """The members of *archive* whose paths have this *beginning*, by path.

        Rows of another object that was once at the same key are not among them.
        """
        sequencer = comparable_sequencer(archive.sequencer)
        for item in self._items(archive, beginning):
            row = row_of(item)
            if row.sequencer == sequencer:
                yield row

    def remove_stale(self, archive: Row) -> int:
        """Remove what an object, overwritten by *archive* in place, left behind.

        Only where the bucket keeps no versions: there a key's rows are taken over by the next.

        Returns:
            How many.
        """
        if archive.entry != NULL_VERSION:
            return 0
        sequencer = comparable_sequencer(archive.sequencer)
        removed = 0
        with MemberWriter(self._write) as writer:
            for item in self._items(archive, ""):
                if item["sequencer"]["S"] < sequencer:
                    key = {name: item[name] for name in ("object", "entry")}
                    writer.add(key["entry"]["S"], {"DeleteRequest": {"Key": key}})
                    removed += 1
        return removed

    def _items(self, archive: Row, beginning: str) -> Iterator[dict[str, Any]]:
        key = key_of(RowKey(archive.bucket, archive.key, member_entry(archive.entry, beginning)))
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
            answer = self._dynamodb.batch_write_item(RequestItems={self._table: batch})
            batch = list(answer.get("UnprocessedItems", {}).get(self._table, ()))
            if not batch:
                return
            self._pause(min(0.05 * 2**attempt, _LONGEST_PAUSE_SECONDS) * (0.5 + random.random()))  # noqa: S311 - spreads retries
        raise TableBusy(f"DynamoDB did not take {len(batch)} rows in {_ATTEMPTS} attempts")


class MemberWriter:
    """Writes in the background while members are read; leaving its ``with`` waits for all.

    Holds at most ``(2 × WRITERS + 1) × 25`` rows.
    """

    def __init__(self, write: Callable[[list[Any]], None]) -> None:
        self._write = write
        self._pool: ThreadPoolExecutor | None = None
        self._batch: dict[str, Any] = {}  # a batch that names a key twice is refused as a whole
        self._writing: set[Future[None]] = set()
        self.rows = 0

    def put(self, row: Row) -> None:
        """Write *row* soon.

        Raises:
            ClientError: DynamoDB refused a batch, this one's or one before.
            TableBusy: It took only some.
        """
        self.add(row.entry, {"PutRequest": {"Item": item_of(row)}})

    def add(self, entry: str, request: Any) -> None:  # noqa: ANN401 - a WriteRequest
        """Make *request* for the key *entry* of the archive's object soon; raises as `put`."""
        self._batch[entry] = request
        self.rows += 1
        if len(self._batch) == _BATCH_ROWS:
            self._send()

    def _send(self) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(WRITERS)
        if len(self._writing) >= 2 * WRITERS:
            done, self._writing = wait(self._writing, return_when=FIRST_COMPLETED)
            for one in done:
                one.result()
        self._writing.add(self._pool.submit(self._write, list(self._batch.values())))
        self._batch = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                if self._batch:
                    self._send()
                for one in self._writing:
                    one.result()
        finally:
            if self._pool:
                self._pool.shutdown(cancel_futures=True)

"""The objects, rows and messages that a self-test makes in a stack, and deletes again."""

from __future__ import annotations

import io
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from bucketsum.events.version import Version
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import body_of
from bucketsum.long_objects.progress import item_key, progress_of
from bucketsum.table.items import key_of
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.bucket_contents import emptied_folder
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.dead_letters.queue import received
from bucketsum_cli.objects.row_events import created_of, event_body
from bucketsum_cli.terminal.errors import CannotDoError

T = TypeVar("T")

PREFIX: Final = "bucketsum-selftest-"
MEASUREMENTS: Final = "MeasurementsTableName"

_PART_BYTES: Final = 5 * 1024 * 1024
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0
_DEAD_LETTERS: Final = 1000
_HOLD_SECONDS: Final = 10  # so long a message is hidden that a poll got, and Ctrl-C lost


class Scratch:
    """The part of a stack that belongs to one self-test: everything with its id.

    Args:
        wait_seconds: Longest wait for a row, a log line or a dead letter.
    """

    def __init__(self, stack: Stack, wait_seconds: float) -> None:
        self.stack = stack
        self.wait_seconds = wait_seconds
        self.id = secrets.token_hex(4)
        self._folder = f"{PREFIX}{self.id}"
        self.prefix = f"{self._folder}/"
        self.started_at = datetime.now(UTC)
        self._s3 = stack.client("s3")
        self._partitions: list[tuple[str, str, str, str]] = []
        self._items: list[tuple[str, dict[str, Any]]] = []
        self._expects_dead_letter = False

    def put(self, name: str, content: bytes, **arguments: Any) -> RowKey:  # noqa: ANN401 - S3's
        """Put an object at `prefix` + *name*; returns the key of its row."""
        key = self._new_key(name)
        answer = self._s3.put_object(Bucket=self.stack.bucket, Key=key, Body=content, **arguments)
        return RowKey(self.stack.bucket, key, Version(answer.get("VersionId")).entry)

    def put_in_parts(self, name: str, content: bytes) -> RowKey:
        """Put an object in parts of 5 MiB, S3's smallest."""
        bucket, key = self.stack.bucket, self._new_key(name)
        from boto3.s3.transfer import TransferConfig, create_transfer_manager  # noqa: PLC0415 - boto3 takes a third of a second

        in_parts = TransferConfig(_PART_BYTES, multipart_chunksize=_PART_BYTES)
        with create_transfer_manager(self._s3, in_parts) as transfers:
            transfers.upload(io.BytesIO(content), bucket, key).result()
        answer = self._s3.head_object(Bucket=bucket, Key=key)
        return RowKey(bucket, key, Version(answer.get("VersionId")).entry)

    def delete_object(self, row: Row) -> None:
        """Delete the object version of *row* for good; its row stays."""
        self._s3.delete_object(Bucket=row.bucket, Key=row.key, VersionId=row.entry)

    def delete_row(self, row: Row) -> None:
        """Delete the row alone."""
        item = key_of(RowKey(row.bucket, row.key, row.entry))
        self.stack.client("dynamodb").delete_item(TableName=self.stack.table, Key=item)

    def _new_key(self, name: str) -> str:
        key = self.prefix + name
        self._partitions.append((self.stack.table, "object", f"{self.stack.bucket}/{key}", "entry"))
        return key

    def until(self, look: Callable[[], T | None], seconds: float | None = None) -> T | None:
        """Repeat until there is a value, or the time is over; about 70 times in five minutes."""
        deadline = time.monotonic() + (self.wait_seconds if seconds is None else seconds)
        pause_seconds = _FIRST_PAUSE_SECONDS
        while (value := look()) is None and time.monotonic() < deadline:
            time.sleep(pause_seconds)
            pause_seconds = min(pause_seconds * 1.5, _LONGEST_PAUSE_SECONDS)
        return value

    def row(self, row_key: RowKey) -> Row:
        """Wait for the row.

        Raises:
            CannotDoError: It did not come.
        """
        return self.recorded(row_key, lambda row: row)

    def recorded(
        self,
        row_key: RowKey,
        value_of: Callable[[Row], T | None],
        problem: str = "no row appeared in time",
    ) -> T:
        """Wait until the row has the value *value_of*.

        Raises:
            CannotDoError: It has none; the message is *problem*.
        """
        table = self.stack.digests_table()

        def look() -> T | None:
            row = table.rows_at([row_key]).get(row_key)
            return value_of(row) if row else None

        value = self.until(look)
        if value is None:
            raise CannotDoError(problem)
        return value

    def send_again(self, row: Row) -> None:
        """Send the event of *row* to the arrivals queue."""
        self._send(event_body(row))

    def send_slice(self, row: Row) -> None:
        """Send the message of the first slice of the object of *row*."""
        progress = progress_of(Job(created_of(row)))
        self._items.append((self.stack.table, item_key(progress.row_key)))
        self._send(body_of(progress), self.stack.outputs["LongObjectsQueueUrl"])

    def send_malformed(self) -> None:
        """Send a message to the arrivals queue that names no object."""
        self._expects_dead_letter = True
        self._send(json.dumps({"bucketsum-selftest": self.id}))

    def _send(self, body: str, queue_url: str = "") -> None:
        """Send *body*, by default to the arrivals queue."""
        url = queue_url or self.stack.arrivals_queue_url
        self.stack.client("sqs").send_message(QueueUrl=url, MessageBody=body)

    def remove_dead_letter(self) -> str | None:
        """Wait for the malformed message in the dead-letter queue and delete it there.

        Returns:
            Its reason, empty if it has none; None if it did not come. Other messages stay.
        """
        reason = self.until(self._removed_dead_letter)
        if reason is not None:
            self._expects_dead_letter = False
        return reason

    def _removed_dead_letter(self) -> str | None:
        with received(self.stack, _DEAD_LETTERS, _HOLD_SECONDS) as messages:
            for message in messages:
                if self.id in message.document.body:
                    self.stack.client("sqs").delete_message(
                        QueueUrl=self.stack.dead_letter_queue_url,
                        ReceiptHandle=message.receipt_handle,
                    )
                    return message.document.reason or ""
        return None

    def object_line(self, key: str, outcome: str, count: int = 1) -> dict[str, Any] | None:
        """Wait for the *count*-th log line of *key* with this *outcome*."""
        pattern = f'{{ $.key = "{self.prefix}*" }}'

        def look() -> dict[str, Any] | None:
            lines = [
                line
                for line in self.log_lines(pattern, self.started_at)
                if line.get("key") == key and line.get("outcome") == outcome
            ]
            return lines[count - 1] if len(lines) >= count else None

        return self.until(look)

    def log_lines(self, pattern: str, since: datetime) -> Iterator[dict[str, Any]]:
        """Yield the hasher's log lines that match *pattern*; the emulator gives all lines."""
        pages = self.stack.client("logs").get_paginator("filter_log_events")
        events = pages.paginate(
            logGroupName=self.stack.log_group,
            startTime=int(since.timestamp() * 1000),
            filterPattern=pattern,
        )
        for message in events.search("events[].message"):
            with suppress(ValueError):
                line = json.loads(message)
                if isinstance(line, dict):
                    yield line

    def expect_sweep(self, run_id: str) -> None:
        """Delete the measurements of this sweep at the end."""
        self._partitions.append((self.stack.outputs[MEASUREMENTS], "run_id", run_id, "item"))

    def clean_up(self) -> None:
        """Delete objects, rows, measurements and the dead letter, all of this self-test alone.

        Raises:
            CannotDoError: S3 refuses to delete an object.
        """
        for _ in emptied_folder(self._s3, S3Place(self.stack.bucket, self.prefix), self._folder):
            pass
        for table, key in self._items:
            self.stack.client("dynamodb").delete_item(TableName=table, Key=key)
        for partition in self._partitions:  # rows first: they were noted first
            self._delete_partition(*partition)
        if self._expects_dead_letter:
            self.remove_dead_letter()

    def _delete_partition(self, table: str, name: str, value: str, sort_name: str) -> None:
        dynamodb = self.stack.client("dynamodb")
        pages = dynamodb.get_paginator("query").paginate(
            TableName=table,
            KeyConditionExpression="#name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":value": {"S": value}},
            ConsistentRead=True,
        )
        for item in pages.search("Items[]"):
            dynamodb.delete_item(
                TableName=table, Key={name: item[name], sort_name: item[sort_name]}
            )

"""Queue the objects of a backfill's parts, page by page, no faster than they are hashed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part
from bucketsum.backfill.counts import object_hash
from bucketsum.backfill.inventory import InventoryReader, manifest_at
from bucketsum.backfill.listed_versions import packed
from bucketsum.backfill.listing import Page, page_of_keys
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.table import BackfillsTable, other_parts
from bucketsum.errors import QueueRefused
from bucketsum.events.object_events import ObjectCreated
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.batches import batches_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

    PageReader = Callable[[Part], Page]

QUEUED_MESSAGES_MIN: Final = 5000
MESSAGES_PER_INVOCATION: Final = 600
"""A concurrent invocation hashes some 6 of the smallest messages per second, and the number of
messages in the queue is up to a minute old: less, and the hasher would run out of messages."""

PAUSE_SECONDS: Final = 5.0
STOP_BEFORE_END_SECONDS: Final = 30.0
"""An invocation takes no further page this long before its time-out."""

_ATTEMPTS: Final = 5


class BackfillQueue:
    """The queue of the messages of listed objects."""

    def __init__(self, sqs: SQSClient, url: str, concurrency: int) -> None:
        """A queue that *concurrency* invocations of the hasher read."""
        self._sqs = sqs
        self._url = url
        # It stays short, so that a stop is soon felt, and no message gets as old as 14 days.
        self._messages_max = max(QUEUED_MESSAGES_MIN, MESSAGES_PER_INVOCATION * concurrency)

    def is_full(self) -> bool:
        """Whether so many messages wait that no more should be sent."""
        name: Final = "ApproximateNumberOfMessages"
        answer = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=[name])
        return int(answer["Attributes"][name]) >= self._messages_max

    def send_objects(self, backfill: Backfill, objects: Iterable[ObjectCreated]) -> int:
        """Send *objects* in messages of several; returns the number of messages.

        Raises:
            QueueRefused: SQS did not take a message, in several attempts.
            ClientError: SQS refused the request.
        """
        count = 0
        for batch in batches_of(bodies_of(backfill.backfill_id, objects, backfill.selection), str):
            count += len(batch)
            self._send_batch(batch)
        return count

    def _send_batch(self, bodies: list[str]) -> None:
        refusal = ""
        for _ in range(_ATTEMPTS):
            answer = self._sqs.send_message_batch(
                QueueUrl=self._url,
                Entries=[{"Id": str(n), "MessageBody": body} for n, body in enumerate(bodies)],
            )
            failed = answer.get("Failed", [])
            if not failed:
                return
            refusal = f"{failed[0]['Code']}: {failed[0].get('Message', '')}"
            bodies = [bodies[int(error["Id"])] for error in failed]
        raise QueueRefused(f"SQS did not take {len(bodies)} messages: {refusal}")


def reader_of(s3: S3Client, backfill: Backfill) -> PageReader:
    """The function that reads the next page of one of a backfill's parts.

    It raises `BadInventory` if a row is not valid, and `ClientError` if S3 refuses.

    Raises:
        BadInventory: Its inventory cannot be used.
        ClientError: S3 refused.
    """
    if backfill.inventory is None:
        return partial(page_of_keys, s3, backfill)
    manifest = manifest_at(s3, backfill.inventory, backfill.bucket)
    return InventoryReader(s3, backfill, manifest).next_page


@dataclass(frozen=True, slots=True)
class Enqueuer:
    """Queues the objects of backfills.

    Attributes:
        pause_seconds: Time between two looks at a full queue.
    """

    table: BackfillsTable
    queue: BackfillQueue
    pause_seconds: float = PAUSE_SECONDS

    def enqueue(
        self, backfill: Backfill, numbers: Sequence[int], next_page: PageReader, deadline: Deadline
    ) -> tuple[int, Sequence[int]]:
        """Queue the objects of some parts until they are done, or the invocation's time is over.

        The position is saved after the messages are sent: if this is interrupted, a page is sent
        again, and the hasher skips what is recorded. No part is left if the backfill was stopped or
        another enqueuer has the part. The reason of an error is kept in the part's item.

        Returns:
            The number of queued objects, and the parts that the next invocation goes on with.

        Raises:
            DamagedItem: A part is missing.
            BadInventory, QueueRefused, ClientError: The next page could not be queued.
        """
        queued = 0
        parts = self._parts(backfill.backfill_id, numbers)
        before = sum(map(_read, parts.values()))
        budget = None if backfill.limit is None else max(0, backfill.limit - before)
        for place, number in enumerate(numbers):
            part = parts[number]
            while not part.done and deadline.leaves(STOP_BEFORE_END_SECONDS):
                if not self._is_running(backfill):
                    return queued, ()
                if self.queue.is_full():
                    time.sleep(self.pause_seconds)
                    continue
                try:
                    moved = self._with_next_page(backfill, part, next_page(part), budget)
                except Exception as error:
                    failed = replace(part, failure=f"{type(error).__name__}: {error}")
                    with suppress(BotoCoreError, ClientError):  # the error itself says more
                        self.table.advance(backfill.backfill_id, part, failed)
                    raise
                if moved is None:  # another enqueuer has this part
                    return queued, ()
                queued += moved.objects - part.objects
                budget = None if budget is None else budget - _read(moved) + _read(part)
                part = moved
            if not part.done:
                return queued, numbers[place:]
        return queued, ()

    def _parts(self, backfill_id: str, numbers: Sequence[int]) -> dict[int, Part]:
        parts = {part.number: part for part in self.table.parts(backfill_id)}
        if not parts.keys() >= {*numbers}:
            raise other_parts(backfill_id)
        return parts

    def _with_next_page(
        self, backfill: Backfill, part: Part, page: Page, budget: int | None
    ) -> Part | None:
        read = page.objects if budget is None else page.objects[:budget]
        objects = *read, *page.archived
        if page.versions:
            self.table.keep_listed(backfill.backfill_id, part, packed(page.versions))
        messages = self.queue.send_objects(backfill, objects)
        moved = replace(
            page.after,
            done=page.after.done or (budget is not None and budget <= len(read)),
            objects=part.objects + len(objects),
            object_hashes=_hashes_after(part, objects),
            size_bytes=part.size_bytes + sum(listed.size_bytes for listed in read),
            messages=part.messages + messages,
            pages=part.pages + 1,
            archived=part.archived + len(page.archived),
            failure=None,
        )
        return moved if self.table.advance(backfill.backfill_id, part, moved) else None

    def _is_running(self, backfill: Backfill) -> bool:
        current = self.table.backfill(backfill.backfill_id)
        return current is not None and current.status is BackfillStatus.RUNNING


def _read(part: Part) -> int:
    """Objects of *part* that are queued and not archived: those that a limit counts."""
    return part.objects - part.archived


def _hashes_after(part: Part, objects: Iterable[ObjectCreated]) -> int:
    """The sum with *objects*; 0 stays if an earlier release, which had none, began the part."""
    has_sum = part.object_hashes or not part.objects
    return part.object_hashes + sum(map(object_hash, objects)) if has_sum else 0

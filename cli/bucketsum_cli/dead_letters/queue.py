"""The dead-letter queue: receive its messages without loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version
from bucketsum.queue.batches import BATCH_MESSAGES, batches_of
from bucketsum_cli.dead_letters.messages import DeadLetter, dead_letter_of, why
from bucketsum_cli.terminal.live_progress import progress

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from bucketsum_cli.aws.stack import Stack

_POLL_SECONDS: Final = 1  # a long poll queries all servers of the queue, a short poll only some
_CHECKED_MESSAGES: Final = 1000
_CHECK_SECONDS: Final = 60


@contextmanager
def received(stack: Stack, limit: int, hold_seconds: int) -> Iterator[list[DeadLetter]]:
    """Receive up to *limit* messages of the dead-letter queue; yields them by age, oldest first.

    They are hidden from other consumers meanwhile, for at most *hold_seconds*. At the end, the
    messages that were not deleted become visible again.
    """
    sqs = stack.client("sqs")
    messages: dict[str, DeadLetter] = {}
    try:
        with progress("{task.completed} messages", passing=True) as bar:
            task = bar.add_task("receiving", total=None)
            while len(messages) < limit:
                most = min(BATCH_MESSAGES, limit - len(messages))
                page = _received(sqs, stack.dead_letter_queue_url, most, hold_seconds)
                is_last = not page.keys() - messages.keys()  # it is empty, or our own come again
                messages |= page
                bar.update(task, completed=len(messages))
                if is_last:
                    break
        yield sorted(messages.values(), key=attrgetter("document.sent_at"))
    finally:
        _release(sqs, stack.dead_letter_queue_url, messages.values())


def _received(
    sqs: SQSClient, queue_url: str, most: int, hold_seconds: int
) -> dict[str, DeadLetter]:
    """Receive up to *most* messages by their ids."""
    answer = sqs.receive_message(
        QueueUrl=queue_url,
        MaxNumberOfMessages=most,
        MessageAttributeNames=["All"],
        MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
        VisibilityTimeout=hold_seconds,
        WaitTimeSeconds=_POLL_SECONDS,
    )
    letters = map(dead_letter_of, answer.get("Messages", ()))
    return {letter.document.message_id: letter for letter in letters}


def failed_versions(stack: Stack) -> dict[tuple[str, str, str | None], str]:
    """Return key, version id and entity tag → reason, of up to 1,000 messages in the queue.

    Only objects that could not be hashed are returned, not deletions.
    """
    with received(stack, _CHECKED_MESSAGES, _CHECK_SECONDS) as messages:
        return {
            (event.key, Version(event.version_id).entry, event.etag): why(message.document, stack)
            for message in messages
            for event in message.events
            if isinstance(event, ObjectCreated) and event.bucket == stack.bucket
        }


def delete_letters(stack: Stack, letters: Sequence[DeadLetter]) -> list[str]:
    """Delete received *letters*; returns the message ids of those that SQS did not delete."""
    failed: list[str] = []
    for batch in batches_of(letters, attrgetter("document.body")):
        answer = stack.client("sqs").delete_message_batch(
            QueueUrl=stack.dead_letter_queue_url,
            Entries=[
                {"Id": letter.document.message_id, "ReceiptHandle": letter.receipt_handle}
                for letter in batch
            ],
        )
        failed += (error["Id"] for error in answer.get("Failed", ()))
    return failed


def _release(sqs: SQSClient, queue_url: str, messages: Iterable[DeadLetter]) -> None:
    """Make them visible again; SQS refuses each deleted message, which is right."""
    for batch in batches_of(messages, attrgetter("document.body")):
        sqs.change_message_visibility_batch(
            QueueUrl=queue_url,
            Entries=[
                {
                    "Id": message.document.message_id,
                    "ReceiptHandle": message.receipt_handle,
                    "VisibilityTimeout": 0,
                }
                for message in batch
            ],
        )

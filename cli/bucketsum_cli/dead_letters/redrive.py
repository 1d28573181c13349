"""Dead letters are sent back to their queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from bucketsum.backfill import is_listed
from bucketsum.long_objects.message import is_slice
from bucketsum.queue.batches import batches_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.dead_letters.messages import DeadLetter


@dataclass(frozen=True, slots=True)
class RedriveResult:
    """Messages of the dead-letter queue, by the result of sending them back.

    Attributes:
        sent: They are in their queue again.
        refused: SQS refused them, and why; they stay in the dead-letter queue.
        undeleted: They are in their queue, and also still in the dead-letter queue.
    """

    sent: list[DeadLetter]
    refused: list[tuple[DeadLetter, str]]
    undeleted: list[DeadLetter]


def send_back(stack: Stack, messages: Sequence[DeadLetter]) -> RedriveResult:
    """Send *messages* to their queues, then delete them from the dead-letter queue.

    Messages of backfills and long objects go to their own queues, all others to the arrivals queue.

    If this is interrupted, a message is in at least one of the two queues; being in both only
    means that its object is hashed twice, to the same row.
    """
    sqs = stack.client("sqs")
    result = RedriveResult([], [], [])
    for queue_url, batch in _batches_by_queue(stack, messages):
        failed = _send(sqs, queue_url, batch)
        sent = [message for message in batch if message.message_id not in failed]
        undeleted = _delete(sqs, stack.dead_letter_queue_url, sent) if sent else set()
        result.sent.extend(sent)
        result.undeleted.extend(message for message in sent if message.message_id in undeleted)
        result.refused.extend(
            (message, failed[message.message_id])
            for message in batch
            if message.message_id in failed
        )
    return result


def _batches_by_queue(
    stack: Stack, messages: Sequence[DeadLetter]
) -> Iterator[tuple[str, list[DeadLetter]]]:
    by_queue: dict[str, list[DeadLetter]] = {}
    for message in messages:
        by_queue.setdefault(_queue_of(stack, message.body), []).append(message)
    for queue_url, of_queue in by_queue.items():
        for batch in batches_of(of_queue, attrgetter("body")):
            yield queue_url, batch


def _queue_of(stack: Stack, body: str) -> str:
    if is_listed(body):
        return stack.outputs["BackfillQueueUrl"]
    if is_slice(body):
        return stack.outputs["LongObjectsQueueUrl"]
    return stack.arrivals_queue_url


def _send(sqs: SQSClient, queue_url: str, batch: Sequence[DeadLetter]) -> dict[str, str]:
    """Send *batch*; returns message id → error of those that SQS refused."""
    answer = sqs.send_message_batch(
        QueueUrl=queue_url,
        Entries=[
            {"Id": str(n), "MessageBody": message.body, "MessageAttributes": message.attributes}
            for n, message in enumerate(batch)
        ],
    )
    return {
        batch[int(error["Id"])].message_id: f"{error['Code']}: {error.get('Message', '')}"
        for error in answer.get("Failed", ())
    }


def _delete(sqs: SQSClient, queue_url: str, batch: Sequence[DeadLetter]) -> set[str]:
    """Delete *batch*; returns the message ids of those that SQS did not delete."""
    answer = sqs.delete_message_batch(
        QueueUrl=queue_url,
        Entries=[
            {"Id": str(n), "ReceiptHandle": message.receipt_handle}
            for n, message in enumerate(batch)
        ],
    )
    return {batch[int(error["Id"])].message_id for error in answer.get("Failed", ())}

"""Dead letters are sent back to their queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

from bucketsum.backfill import is_listed
from bucketsum.long_objects.message import is_slice
from bucketsum.queue.batches import batches_of
from bucketsum_cli.dead_letters.queue import delete_letters

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.dead_letters.messages import DeadLetter, FailedMessage


@dataclass(frozen=True, slots=True)
class SentMessages:
    """The result of `redrive`."""

    sent: Annotated[list[FailedMessage], "Messages that were sent back."]
    refused: Annotated[list[FailedMessage], "Messages that SQS refused."]
    undeleted: Annotated[list[str], "IDs of messages that are in both queues."]


def send_back(stack: Stack, messages: Sequence[DeadLetter]) -> SentMessages:
    """Send *messages* to their queues, then delete them from the dead-letter queue.

    Messages of backfills and long objects go to their own queues, all others to the arrivals queue.

    If this is interrupted, a message is in at least one of the two queues; being in both only
    means that its object is hashed twice, to the same row.
    """
    sqs = stack.client("sqs")
    result = SentMessages([], [], [])
    for queue_url, batch in _batches_by_queue(stack, messages):
        refusals = _send(sqs, queue_url, batch)
        sent = [message for message in batch if message.document.message_id not in refusals]
        result.sent.extend(message.document for message in sent)
        result.refused.extend(
            replace(message.document, refusal=refusals[message.document.message_id])
            for message in batch
            if message.document.message_id in refusals
        )
        if sent:
            result.undeleted.extend(delete_letters(stack, sent))
    return result


def _batches_by_queue(
    stack: Stack, messages: Sequence[DeadLetter]
) -> Iterator[tuple[str, list[DeadLetter]]]:
    by_queue: dict[str, list[DeadLetter]] = {}
    for message in messages:
        by_queue.setdefault(_queue_of(stack, message.document.body), []).append(message)
    for queue_url, of_queue in by_queue.items():
        for batch in batches_of(of_queue, attrgetter("document.body")):
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
            {
                "Id": message.document.message_id,
                "MessageBody": message.document.body,
                "MessageAttributes": message.attributes,
            }
            for message in batch
        ],
    )
    failed = answer.get("Failed", ())
    return {error["Id"]: f"{error['Code']}: {error.get('Message', '')}" for error in failed}

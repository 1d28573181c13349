"""The dead-letter queue: looked at without losing or hiding anything, and sent back."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bucketsum.dead_letters import REASON_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

    from bucketsum_cli.stack import Stack

_BATCH_MESSAGES: Final = 10  # SQS's own limit
_BATCH_BYTES: Final = 256 * 1024  # a quarter of what SQS takes at once; one alone may be larger
_POLL_SECONDS: Final = 1  # a long poll asks every server of the queue, a short one only some


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in the dead-letter queue, received.

    Attributes:
        message_id: What SQS calls it.
        body: The message.
        reason: Why the hasher set it aside; None where SQS itself moved it.
        since: When it was sent to this queue, ISO 8601 UTC; where SQS moved it, to the first.
        receives: How often it was received, by these very commands too.
        attributes: Its message attributes, without the reason.
        receipt_handle: What SQS knows this receive by.
    """

    message_id: str
    body: str
    reason: str | None
    since: str
    receives: int
    attributes: Mapping[str, Any]
    receipt_handle: str


@dataclass(frozen=True, slots=True)
class SentBack:
    """What became of messages that were to go back to the arrivals queue.

    Attributes:
        sent: They are in the arrivals queue.
        refused: SQS did not take them, and why; they stay set aside.
        undeleted: They are in the arrivals queue, and still in the dead-letter queue too.
    """

    sent: list[DeadLetter]
    refused: list[tuple[DeadLetter, str]]
    undeleted: list[DeadLetter]


@contextmanager
def received(stack: Stack, limit: int, hold_seconds: int) -> Iterator[list[DeadLetter]]:
    """Up to *limit* messages of the dead-letter queue, oldest first.

    Nobody else sees them meanwhile, for *hold_seconds* at the longest. Whatever happens, those
    that were not deleted are there for everybody again at the end.

    Raises:
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    sqs = stack.client("sqs")
    held: dict[str, DeadLetter] = {}
    try:
        while len(held) < limit:
            answer = sqs.receive_message(
                QueueUrl=stack.dead_letter_queue_url,
                MaxNumberOfMessages=min(_BATCH_MESSAGES, limit - len(held)),
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
                VisibilityTimeout=hold_seconds,
                WaitTimeSeconds=_POLL_SECONDS,
            )
            messages = {one.message_id: one for one in map(_set_aside, answer.get("Messages", ()))}
            if not messages.keys() - held.keys():  # it is empty, or we meet our own again
                held |= messages
                break
            held |= messages
        yield sorted(held.values(), key=lambda one: one.since)
    finally:
        _release(sqs, stack.dead_letter_queue_url, held.values())


def _set_aside(message: MessageTypeDef) -> DeadLetter:
    attributes: dict[str, Any] = dict(message.get("MessageAttributes", {}))
    reason = attributes.pop(REASON_ATTRIBUTE, {}).get("StringValue")
    sent = int(message["Attributes"]["SentTimestamp"]) / 1000
    return DeadLetter(
        message_id=message["MessageId"],
        body=message["Body"],
        reason=reason,
        since=datetime.fromtimestamp(sent, UTC).isoformat(timespec="seconds"),
        receives=int(message["Attributes"]["ApproximateReceiveCount"]),
        attributes=attributes,
        receipt_handle=message["ReceiptHandle"],
    )


def _release(sqs: SQSClient, queue_url: str, messages: Iterable[DeadLetter]) -> None:
    """Show them to everybody again; the deleted ones are refused one by one, which is right."""
    for batch in _batches(messages):
        sqs.change_message_visibility_batch(
            QueueUrl=queue_url,
            Entries=[
                {"Id": str(n), "ReceiptHandle": one.receipt_handle, "VisibilityTimeout": 0}
                for n, one in enumerate(batch)
            ],
        )


def send_back(stack: Stack, messages: Sequence[DeadLetter]) -> SentBack:
    """Send *messages* to the arrivals queue, then delete them from the dead-letter queue.

    Interrupted anywhere, a message is in at least one of the two; being in both only means that
    its object is hashed twice, to the same row.

    Raises:
        BotoCoreError: AWS cannot be reached.
        ClientError: AWS refused.
    """
    sqs = stack.client("sqs")
    result = SentBack([], [], [])
    for batch in _batches(messages):
        failed = _send(sqs, stack.arrivals_queue_url, batch)
        sent = [one for one in batch if one.message_id not in failed]
        kept = _delete(sqs, stack.dead_letter_queue_url, sent) if sent else set()
        result.sent.extend(sent)
        result.undeleted.extend(one for one in sent if one.message_id in kept)
        result.refused.extend(
            (one, failed[one.message_id]) for one in batch if one.message_id in failed
        )
    return result


def _send(sqs: SQSClient, queue_url: str, batch: Sequence[DeadLetter]) -> dict[str, str]:
    """Message id → why, of those that SQS did not take."""
    answer = sqs.send_message_batch(
        QueueUrl=queue_url,
        Entries=[
            {"Id": str(n), "MessageBody": one.body, "MessageAttributes": one.attributes}
            for n, one in enumerate(batch)
        ],
    )
    return {
        batch[int(one["Id"])].message_id: f"{one['Code']}: {one.get('Message', '')}"
        for one in answer.get("Failed", ())
    }


def _delete(sqs: SQSClient, queue_url: str, batch: Sequence[DeadLetter]) -> set[str]:
    """The message ids of those that SQS did not delete."""
    answer = sqs.delete_message_batch(
        QueueUrl=queue_url,
        Entries=[
            {"Id": str(n), "ReceiptHandle": one.receipt_handle} for n, one in enumerate(batch)
        ],
    )
    return {batch[int(one["Id"])].message_id for one in answer.get("Failed", ())}


def _batches(messages: Iterable[DeadLetter]) -> Iterator[list[DeadLetter]]:
    """In order, as many at a time as one request may carry."""
    batch: list[DeadLetter] = []
    batch_bytes = 0
    for one in messages:
        size = len(one.body.encode())
        if batch and (len(batch) == _BATCH_MESSAGES or batch_bytes + size > _BATCH_BYTES):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(one)
        batch_bytes += size
    if batch:
        yield batch

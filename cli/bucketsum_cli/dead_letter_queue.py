"""The dead-letter queue: receive its messages without loss."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill import is_listed
from bucketsum.backfill.messages import listed_objects_in
from bucketsum.dead_letters import REASON_ATTRIBUTE
from bucketsum.digest_rows import NULL_VERSION
from bucketsum.errors import MalformedMessage
from bucketsum.notifications import events_in
from bucketsum.object_events import ObjectCreated
from bucketsum_cli.output import iso_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

    from bucketsum.object_events import ObjectEvent
    from bucketsum_cli.stack import Stack

_BATCH_MESSAGES: Final = 10  # SQS's own limit
_BATCH_BYTES: Final = 256 * 1024  # a quarter of SQS's limit; a single message may be larger
_POLL_SECONDS: Final = 1  # a long poll queries all servers of the queue, a short poll only some
_CHECKED_MESSAGES: Final = 1000
_CHECK_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in the dead-letter queue, received.

    Attributes:
        message_id: Its id in SQS.
        body: The message.
        reason: Why the hasher moved it to this queue; None if SQS itself moved it.
        sent_at: When it was sent to this queue, ISO 8601 UTC; if SQS moved it, to the first queue.
        receives: How often it was received, also by these commands.
        attributes: Its message attributes, without the reason.
        receipt_handle: Identifies this receive.
    """

    message_id: str
    body: str
    reason: str | None
    sent_at: str
    receives: int
    attributes: Mapping[str, Any]
    receipt_handle: str


@contextmanager
def received(stack: Stack, limit: int, hold_seconds: int) -> Iterator[list[DeadLetter]]:
    """Receive up to *limit* messages of the dead-letter queue; yields them by age, oldest first.

    They are hidden from other consumers meanwhile, for at most *hold_seconds*. At the end, the
    messages that were not deleted become visible again.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    sqs = stack.client("sqs")
    messages: dict[str, DeadLetter] = {}
    try:
        while len(messages) < limit:
            answer = sqs.receive_message(
                QueueUrl=stack.dead_letter_queue_url,
                MaxNumberOfMessages=min(_BATCH_MESSAGES, limit - len(messages)),
                MessageAttributeNames=["All"],
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
                VisibilityTimeout=hold_seconds,
                WaitTimeSeconds=_POLL_SECONDS,
            )
            letters = map(_dead_letter, answer.get("Messages", ()))
            page = {letter.message_id: letter for letter in letters}
            is_last = not page.keys() - messages.keys()  # it is empty, or our own come again
            messages |= page
            if is_last:
                break
        yield sorted(messages.values(), key=lambda message: message.sent_at)
    finally:
        _release(sqs, stack.dead_letter_queue_url, messages.values())


def hidden_count(stack: Stack) -> int:
    """Return roughly how many messages another consumer is holding now.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    name: Final = "ApproximateNumberOfMessagesNotVisible"
    attributes = stack.client("sqs").get_queue_attributes(
        QueueUrl=stack.dead_letter_queue_url, AttributeNames=[name]
    )
    return int(attributes["Attributes"][name])


def events_of(message: DeadLetter) -> list[ObjectEvent]:
    """Return the events in *message*; none if it is malformed."""
    try:
        if is_listed(message.body):
            return list(listed_objects_in(message.body).objects)
        return events_in(message.body)
    except MalformedMessage:
        return []


def why(message: DeadLetter, stack: Stack) -> str:
    """Return the reason why *message* is in the dead-letter queue."""
    return message.reason or (
        "the function died (time-out or out of memory), was throttled or could not start; see its "
        f"log group {stack.log_group}"
    )


def failed_versions(stack: Stack) -> dict[tuple[str, str, str | None], str]:
    """Return key, version id and entity tag → reason, of up to 1,000 messages in the queue.

    Only objects that could not be hashed are returned, not deletions.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    with received(stack, _CHECKED_MESSAGES, _CHECK_SECONDS) as messages:
        return {
            (event.key, event.version_id or NULL_VERSION, event.etag): why(message, stack)
            for message in messages
            for event in events_of(message)
            if isinstance(event, ObjectCreated) and event.bucket == stack.bucket
        }


def _dead_letter(message: MessageTypeDef) -> DeadLetter:
    attributes: dict[str, Any] = dict(message.get("MessageAttributes", {}))
    reason = attributes.pop(REASON_ATTRIBUTE, {}).get("StringValue")
    sent = int(message["Attributes"]["SentTimestamp"]) / 1000
    return DeadLetter(
        message_id=message["MessageId"],
        body=message["Body"],
        reason=reason,
        sent_at=iso_text(datetime.fromtimestamp(sent, UTC)),
        receives=int(message["Attributes"]["ApproximateReceiveCount"]),
        attributes=attributes,
        receipt_handle=message["ReceiptHandle"],
    )


def _release(sqs: SQSClient, queue_url: str, messages: Iterable[DeadLetter]) -> None:
    """Make them visible again; SQS refuses each deleted message, which is right."""
    for batch in batches_of(messages):
        sqs.change_message_visibility_batch(
            QueueUrl=queue_url,
            Entries=[
                {"Id": str(n), "ReceiptHandle": message.receipt_handle, "VisibilityTimeout": 0}
                for n, message in enumerate(batch)
            ],
        )


def batches_of(messages: Iterable[DeadLetter]) -> Iterator[list[DeadLetter]]:
    """Split *messages*, in order, into batches for one request each."""
    batch: list[DeadLetter] = []
    batch_bytes = 0
    for message in messages:
        size = len(message.body.encode())
        if batch and (len(batch) == _BATCH_MESSAGES or batch_bytes + size > _BATCH_BYTES):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(message)
        batch_bytes += size
    if batch:
        yield batch

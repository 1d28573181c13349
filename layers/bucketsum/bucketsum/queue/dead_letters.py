"""Failed messages: retry, release, or dead-letter with a reason."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import NotRetryable, Released
from bucketsum.throttling import is_throttled

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from bucketsum.settings import Settings

REASON_ATTRIBUTE: Final = "bucketsum-reason"
"""Attribute of messages in the dead-letter queue that holds the reason."""

SENT_ATTRIBUTE: Final = "bucketsum-sent"
"""Attribute of a message that was sent again: when it was first sent, in ms since 1970."""

THROTTLED_SECONDS: Final = 300
"""Delay after DynamoDB throttled for the first time; on-demand capacity doubles in 30 minutes."""

FIRST_DELAY_SECONDS: Final = 10
"""Delay before the second receive; each later one doubles it: 10, 20, 40, 80 s."""

_VISIBILITY_MAX_SECONDS: Final = 43_200  # SQS's own limit
_DELAY_MAX_SECONDS: Final = 900  # SQS's own limit
_THROTTLED_MAX_MS: Final = 13 * 24 * 3600 * 1000  # a queue keeps a message for 14 days
_RELEASED_MAX_SECONDS: Final = _VISIBILITY_MAX_SECONDS - 900
"""SQS's limit counts from the receive of the message, at most an invocation ago."""
_REASON_MAX_CHARACTERS: Final = 1000
_MESSAGE_MAX_BYTES: Final = 1_048_576  # SQS's own limit: body, attributes' names, types and values


class Fate(StrEnum):
    """The fate of a message that is not done."""

    RETRIED = "retried"
    """It failed, and becomes visible again after a delay."""
    RELEASED = "released"
    """It did not fail: it is for another invocation."""
    DEAD_LETTERED = "dead-lettered"
    """It is in the dead-letter queue, and must be deleted from its own."""


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """One receive of one message.

    Attributes:
        receipt_handle: SQS's identifier of this receive.
        receive_count: Number of receives of the message, including this one.
        message_id: Identifies a message that returns to the queue, in Lambda's response.
        queue_url: Queue that it was received from.
        sent_ms: When it was first sent, in milliseconds since 1970; None if SQS did not say.
    """

    body: str
    receipt_handle: str
    receive_count: int
    message_id: str
    queue_url: str
    sent_ms: int | None = None


def message_of(record: dict[str, Any], settings: Settings) -> ReceivedMessage:
    """The message in a record of Lambda's SQS event, of a queue beside the arrivals queue."""
    folder = settings.arrivals_queue_url.rpartition("/")[0]  # its account and Region
    again = record.get("messageAttributes", {}).get(SENT_ATTRIBUTE)
    sent = again["stringValue"] if again else record["attributes"].get("SentTimestamp")
    return ReceivedMessage(
        body=record["body"],
        receipt_handle=record["receiptHandle"],
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
        message_id=record["messageId"],
        queue_url=f"{folder}/{record['eventSourceARN'].rpartition(':')[2]}",
        sent_ms=int(sent) if sent else None,
    )


class DeadLetters:
    """Returns failed messages to their queue, or moves them to the dead-letter queue."""

    def __init__(
        self, sqs: SQSClient, settings: Settings, chance: Callable[[], float] = random.random
    ) -> None:
        self._sqs = sqs
        self._settings = settings
        self._chance = chance

    def settle(self, message: ReceivedMessage, error: Exception) -> Fate:
        """Set the delay before the message's next receive, or move it to the dead-letter queue.

        It is dead-lettered when no retry can help, and on its last receive, before the queue
        itself would move it without a reason. If DynamoDB throttles, its last receive is the first
        of a copy, which waits until the capacity has grown.

        Raises:
            ClientError: SQS refused; the queue's own visibility time-out and redrive then apply.
        """
        last = message.receive_count >= self._settings.max_receives
        if last and is_throttled(error) and _is_kept(message):
            self._send_again(message)
            return Fate.RELEASED
        if isinstance(error, NotRetryable) or last:
            self._dead_letter(message, error)
            return Fate.DEAD_LETTERED
        self._sqs.change_message_visibility(
            QueueUrl=message.queue_url,
            ReceiptHandle=message.receipt_handle,
            VisibilityTimeout=self._delay_seconds(message, error),
        )
        return fate_of(error)

    def _send_again(self, message: ReceivedMessage) -> None:
        sent = str(message.sent_ms)
        self._sqs.send_message(
            QueueUrl=message.queue_url,
            MessageBody=message.body,
            DelaySeconds=_DELAY_MAX_SECONDS,
            MessageAttributes={SENT_ATTRIBUTE: {"DataType": "String", "StringValue": sent}},
        )
        self._sqs.delete_message(QueueUrl=message.queue_url, ReceiptHandle=message.receipt_handle)

    def _dead_letter(self, message: ReceivedMessage, error: Exception) -> None:
        reason = _fitting(_reason(error), message.body)
        self._sqs.send_message(
            QueueUrl=self._settings.dead_letter_queue_url,
            MessageBody=message.body,
            MessageAttributes={REASON_ATTRIBUTE: {"DataType": "String", "StringValue": reason}}
            if reason
            else {},
        )

    def _delay_seconds(self, message: ReceivedMessage, error: Exception) -> int:
        """Doubles with each receive; at random, up to half is subtracted, to spread retries."""
        if isinstance(error, Released):
            return min(error.seconds, _RELEASED_MAX_SECONDS)
        first = THROTTLED_SECONDS if is_throttled(error) else FIRST_DELAY_SECONDS
        delay = first << (message.receive_count - 1)
        return min(round(delay * (1 - self._chance() / 2)), _VISIBILITY_MAX_SECONDS)


def fate_of(error: Exception) -> Fate:
    """The fate of a message that returns to its queue because of *error*."""
    is_released = isinstance(error, Released) or is_throttled(error)
    return Fate.RELEASED if is_released else Fate.RETRIED


def _is_kept(message: ReceivedMessage) -> bool:
    """Whether it is in its queue for less time than SQS keeps a message."""
    return message.sent_ms is not None and time.time() * 1000 - message.sent_ms < _THROTTLED_MAX_MS


def _fitting(reason: str, body: str) -> str:
    """As much of *reason* as fits into SQS's size limit next to *body*; may be empty."""
    used = len(body.encode()) + len(REASON_ATTRIBUTE) + len("String")
    room = max(_MESSAGE_MAX_BYTES - used, 0)
    return reason.encode()[:room].decode(errors="ignore")


def _reason(error: Exception) -> str:
    """The error as one line of characters that SQS allows in an attribute."""
    text = _text_of(error)[:_REASON_MAX_CHARACTERS]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _text_of(error: Exception) -> str:
    """Type and text of the error; of every error of a group, whose own text only counts them."""
    if isinstance(error, ExceptionGroup):
        return "; ".join(_text_of(member) for member in error.exceptions)
    return f"{type(error).__name__}: {error}"

"""A message that could not be handled: later, or aside; never lost."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.errors import Deferred, NotRetryable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient

    from bucketsum.settings import Settings

REASON_ATTRIBUTE: Final = "bucketsum-reason"
"""The message attribute in the dead-letter queue that says why a message is there."""

FIRST_DELAY_SECONDS: Final = 10
"""Delay before the second receive; each later one doubles it: 10, 20, 40, 80 s."""

_VISIBILITY_MAX_SECONDS: Final = 43_200  # SQS's own limit
_REASON_MAX_CHARACTERS: Final = 1000
_MESSAGE_MAX_BYTES: Final = 1_048_576  # SQS's own limit: body, attributes' names, types and values


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """One receive of one message.

    Attributes:
        body: The message, as it was sent.
        receipt_handle: What SQS knows this receive by.
        receive_count: How often the message was received, this time included.
        message_id: What Lambda is told of a message that goes back.
    """

    body: str
    receipt_handle: str
    receive_count: int
    message_id: str


class DeadLetters:
    """Decides what happens to a message that failed."""

    def __init__(
        self, sqs: SQSClient, settings: Settings, chance: Callable[[], float] = random.random
    ) -> None:
        self._sqs = sqs
        self._settings = settings
        self._chance = chance

    def settle(self, delivery: ReceivedMessage, error: Exception) -> bool:
        """Put the message where *error* says it belongs.

        Returns whether it is settled: True, it is in the dead-letter queue with its reason and
        must be deleted from its own; False, it must go back there, where it waits for its next
        receive. It goes aside when no retry can help, and on its last receive, before the queue
        itself would move it without a reason.

        Raises:
            ClientError: SQS refused; the queue's own visibility time-out and redrive then apply.
        """
        last = delivery.receive_count >= self._settings.max_receives
        if isinstance(error, NotRetryable) or last:
            self._set_aside(delivery, error)
            return True
        self._sqs.change_message_visibility(
            QueueUrl=self._settings.arrivals_queue_url,
            ReceiptHandle=delivery.receipt_handle,
            VisibilityTimeout=(
                error.seconds
                if isinstance(error, Deferred)
                else self._delay_seconds(delivery.receive_count)
            ),
        )
        return False

    def _set_aside(self, delivery: ReceivedMessage, error: Exception) -> None:
        reason = _fitting(_reason(error), delivery.body)
        self._sqs.send_message(
            QueueUrl=self._settings.dead_letter_queue_url,
            MessageBody=delivery.body,
            MessageAttributes={REASON_ATTRIBUTE: {"DataType": "String", "StringValue": reason}}
            if reason
            else {},
        )

    def _delay_seconds(self, receive_count: int) -> int:
        """Double with each receive, less up to half by chance: what failed together parts."""
        delay = FIRST_DELAY_SECONDS << (receive_count - 1)
        return min(round(delay * (1 - self._chance() / 2)), _VISIBILITY_MAX_SECONDS)


def _fitting(reason: str, body: str) -> str:
    """As much of *reason* as SQS takes beside *body*; nothing beside one of the greatest length."""
    taken = len(body.encode()) + len(REASON_ATTRIBUTE) + len("String")
    room = max(_MESSAGE_MAX_BYTES - taken, 0)
    return reason.encode()[:room].decode(errors="ignore")


def _reason(error: Exception) -> str:
    """The error in one line, of characters that SQS allows in an attribute."""
    text = "".join(c if c.isprintable() else " " for c in _told(error))
    return text[:_REASON_MAX_CHARACTERS]


def _told(error: Exception) -> str:
    """What went wrong; of a group, each of its errors, for its own text only counts them."""
    if isinstance(error, ExceptionGroup):
        return "; ".join(_told(one) for one in error.exceptions)
    return f"{type(error).__name__}: {error}"

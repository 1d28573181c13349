"""A failed message: retry or dead-letter it, log and count it; for every function with a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.errors import Deferred
from bucketsum.queue.dead_letters import ReceivedMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger, Metrics

    from bucketsum.queue.dead_letters import DeadLetters
    from bucketsum.settings import Settings


@dataclass(frozen=True, slots=True)
class FailedMessages:
    """Handles failed messages.

    Attributes:
        dead_letters: Makes the dead letters at the first failure, so that none needs no client.
    """

    dead_letters: Callable[[], DeadLetters]
    logger: Logger
    metrics: Metrics

    def handle(self, message: ReceivedMessage, failure: Exception) -> bool:
        """Retry or dead-letter a failed message; returns whether it can be deleted."""
        dead_lettered = False
        try:
            dead_lettered = self.dead_letters().retry_or_dead_letter(message, failure)
        except (BotoCoreError, ClientError):
            self.logger.exception(
                "SQS refused; the message waits out the queue's own visibility time-out"
            )
        fields: dict[str, Any] = {
            "message_id": message.message_id,
            "receive_count": message.receive_count,
        }
        if isinstance(failure, Deferred):
            self.metrics.add_metric("MessagesDeferred", MetricUnit.Count, 1)
            self.logger.info(
                "message left to another invocation", seconds=failure.seconds, **fields
            )
            return dead_lettered
        name = "MessagesSetAside" if dead_lettered else "MessagesRetried"
        self.metrics.add_metric(name, MetricUnit.Count, 1)
        self.logger.error(
            "message set aside" if dead_lettered else "message goes back",
            exc_info=failure,
            body=message.body[:2000],
            **fields,
        )
        return dead_lettered


def message_of(record: dict[str, Any], settings: Settings) -> ReceivedMessage:
    """The message in a record of Lambda's SQS event."""
    return ReceivedMessage(
        body=record["body"],
        receipt_handle=record["receiptHandle"],
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
        message_id=record["messageId"],
        queue_url=settings.queue_url_of(record["eventSourceARN"]),
    )

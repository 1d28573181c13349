"""A message's fate: log and count it; for every function with a queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit
from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.errors import Released
from bucketsum.queue.dead_letters import Fate, ReceivedMessage, fate_of

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics

    from bucketsum.queue.dead_letters import DeadLetters
    from bucketsum.settings import Settings


@dataclass(frozen=True, slots=True)
class MessageFates:
    """Decides, logs and counts the fates of messages.

    Attributes:
        dead_letters: Makes the dead letters for a failure, so that without any none needs a client.
    """

    dead_letters: Callable[[], DeadLetters]
    logger: Logger
    metrics: Metrics

    def is_done(self, message: ReceivedMessage, failure: Exception | None) -> bool:
        """Whether *message* can be deleted; if it failed, its fate is decided first."""
        self.metrics.add_metric("Messages", MetricUnit.Count, 1)
        if failure is None:
            return True
        try:
            fate = self.dead_letters().settle(message, failure)
        except (BotoCoreError, ClientError):
            self.logger.exception(
                "SQS refused; the message waits out the queue's own visibility time-out"
            )
            fate = fate_of(failure)
        self.metrics.add_metric(f"Messages{fate.title().replace('-', '')}", MetricUnit.Count, 1)
        fields: dict[str, Any] = {
            "message_id": message.message_id,
            "receive_count": message.receive_count,
        }
        if isinstance(failure, Released) and fate is Fate.RELEASED:
            self.logger.info("message released", seconds=failure.seconds, **fields)
        else:
            self.logger.error(
                "message %s", fate, exc_info=failure, body=message.body[:2000], **fields
            )
        return fate is Fate.DEAD_LETTERED


def message_of(record: dict[str, Any], settings: Settings) -> ReceivedMessage:
    """The message in a record of Lambda's SQS event."""
    return ReceivedMessage(
        body=record["body"],
        receipt_handle=record["receiptHandle"],
        receive_count=int(record["attributes"]["ApproximateReceiveCount"]),
        message_id=record["messageId"],
        queue_url=settings.queue_url_of(record["eventSourceARN"]),
    )

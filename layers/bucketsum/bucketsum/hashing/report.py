"""Log lines and metrics of messages and their results, for every function that has a queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.events.object_events import ObjectCreated, ObjectDeleted
from bucketsum.hashing import metric
from bucketsum.hashing.result import HashResult
from bucketsum.queue.dead_letters import DeadLetters, Fate, ReceivedMessage, fate_of
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger, Metrics

    from bucketsum.hashing.batch import M

_QUIET: Final = (Outcome.HASHED, Outcome.UNCHANGED, Outcome.VERIFIED, Outcome.ARCHIVED)
"""Outcomes of listed objects without a log line: a row says the same, and the lines would cost as
much as the reading."""

_HEALTHY: Final = (*_QUIET, Outcome.LONG, Outcome.DELETED, Outcome.HIDDEN)
"""Outcomes without a line if only problems are logged."""


@dataclass(frozen=True, slots=True)
class Report:
    """Decides the fates of messages; logs and counts these and the results of their events.

    Attributes:
        logs_objects: Whether a healthy object has a log line; listed objects have none anyhow.
    """

    dead_letters: DeadLetters
    logger: Logger
    metrics: Metrics
    logs_objects: bool = True

    def settled(self, messages: Iterable[M]) -> tuple[list[M], list[M]]:
        """Report *messages*; returns those to delete, and those that return to the queue."""
        done: list[M] = []
        returned: list[M] = []
        for message in messages:
            is_done = self.is_done(message.received, message.failure)
            for result in message.reports:
                if is_done or result.outcome is not Outcome.UNREADABLE:  # else it is read again
                    self.publish(result)
            (done if is_done else returned).append(message)
        return done, returned

    def is_done(self, message: ReceivedMessage, failure: Exception | None) -> bool:
        """Whether *message* can be deleted; if it failed, its fate is decided first."""
        metric.MESSAGES.add(self.metrics)
        if failure is None:
            return True
        try:
            fate = self.dead_letters.settle(message, failure)
        except (BotoCoreError, ClientError):
            self.logger.exception(
                "SQS refused; the message waits out the queue's own visibility time-out"
            )
            fate = fate_of(failure)
        metric.FATES[fate].add(self.metrics)
        if fate is Fate.RELEASED:
            self.logger.info(
                "message released",
                seconds=getattr(failure, "seconds", None),  # None: DynamoDB throttles
                message_id=message.message_id,
                receive_count=message.receive_count,
            )
        else:
            self.logger.error(
                "message %s",
                fate,
                exc_info=failure,
                body=message.body[:2000],
                message_id=message.message_id,
                receive_count=message.receive_count,
            )
        return fate is Fate.DEAD_LETTERED

    def publish(self, result: HashResult) -> None:
        """Write the metrics of one event, and its log line unless it is healthy and many are."""
        event, measurement = result.event, result.measurement
        is_listed = isinstance(event, ObjectCreated) and not event.sequencer
        is_listed |= result.outcome is Outcome.VERIFIED
        quiet = () if self.logs_objects else _HEALTHY
        has_problem = bool(result.summary and result.summary.reason)
        if has_problem or result.outcome not in (quiet or (_QUIET if is_listed else ())):
            self._log(result)
        metric.OUTCOMES[result.outcome].add(self.metrics)
        if result.outcome is Outcome.HASHED and measurement:
            metric.BYTES.add(self.metrics, measurement.size_bytes)
            metric.SPEED.add(self.metrics, measurement.mb_per_s)
        if result.summary:
            metric.MEMBERS.add(self.metrics, result.summary.members)
            metric.MEMBER_BYTES.add(self.metrics, result.summary.member_bytes)

    def _log(self, result: HashResult) -> None:
        event, measurement = result.event, result.measurement
        event_bytes = None if isinstance(event, ObjectDeleted) else event.size_bytes
        members: dict[str, Any] = {}
        if contents := result.summary:
            members = {
                "archive": contents.status,
                "archive_reason": contents.reason,
                "members": contents.members,
                "members_unreadable": contents.unreadable,
                "member_bytes": contents.member_bytes,
            }
        self.logger.info(
            "object",
            bucket=event.bucket,
            key=event.key,
            version_id=event.version_id,
            outcome=result.outcome,
            sha1=result.sha1,
            size_bytes=measurement.size_bytes if measurement else event_bytes,
            seconds=round(measurement.seconds, 6) if measurement else None,
            mb_per_s=round(measurement.mb_per_s, 3) if measurement else None,
            reason=result.reason,
            **members,
        )

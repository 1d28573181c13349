"""Log lines and metrics of results: the same for every function that records objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools.metrics import MetricUnit

from bucketsum.events.object_events import ObjectCreated, ObjectDeleted
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from bucketsum.hashing.batch import MessageResult
    from bucketsum.hashing.result import HashResult
    from bucketsum.queue.fates import MessageFates
    from bucketsum.table.rows import ArchiveRecord

_QUIET: Final = (Outcome.HASHED, Outcome.UNCHANGED)
"""Outcomes of listed objects without a log line: a row says the same, and the lines would cost as
much as the reading."""


@dataclass(frozen=True, slots=True)
class ResultReport:
    """Logs and counts results; uses the logger and the metrics of a `MessageFates`."""

    fates: MessageFates

    def settled(
        self, messages: Iterable[MessageResult]
    ) -> tuple[list[MessageResult], list[MessageResult]]:
        """Report *messages*; returns those to delete, and those that return to the queue."""
        done: list[MessageResult] = []
        returned: list[MessageResult] = []
        for message in messages:
            for result in message.reports:
                self.publish(result)
            is_done = self.fates.is_done(message.received, message.failure)
            (done if is_done else returned).append(message)
        return done, returned

    def publish(self, result: HashResult) -> None:
        """Write the metrics and the log line of one event; most listed objects have no line."""
        event, measurement = result.event, result.measurement
        is_listed = isinstance(event, ObjectCreated) and not event.sequencer
        if not (result.outcome in _QUIET and is_listed):
            self._log(result)
        add = self.fates.metrics.add_metric
        add(f"Objects{result.outcome.title()}", MetricUnit.Count, 1)
        if result.outcome is Outcome.HASHED and measurement:
            add("BytesHashed", MetricUnit.Bytes, measurement.size_bytes)
            add("Speed", MetricUnit.MegabytesPerSecond, measurement.mb_per_s)
        if result.summary:
            add("MembersHashed", MetricUnit.Count, result.summary.members)
            add("MemberBytes", MetricUnit.Bytes, result.summary.member_bytes)

    def _log(self, result: HashResult) -> None:
        event, measurement = result.event, result.measurement
        event_bytes = None if isinstance(event, ObjectDeleted) else event.size_bytes
        self.fates.logger.info(
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
            **(_members(result.summary) if result.summary else {}),
        )


def _members(contents: ArchiveRecord) -> dict[str, Any]:
    return {
        "archive": contents.status,
        "archive_reason": contents.reason,
        "members": contents.members,
        "members_unreadable": contents.unreadable,
        "member_bytes": contents.member_bytes,
    }

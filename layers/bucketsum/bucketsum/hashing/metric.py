"""Registry of metrics: all that the functions count, which the documents list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.queue.dead_letters import Fate
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from aws_lambda_powertools import Metrics


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; its meaning is a text of the documents, its unit a name of Powertools."""

    name: str
    meaning: str
    unit: str = "Count"

    def add(self, metrics: Metrics, value: float = 1) -> None:
        """Emit *value* with the line of the invocation."""
        metrics.add_metric(self.name, self.unit, value)


_SPEED: Final = "MegabytesPerSecond"

OUTCOMES: Final = {
    outcome: Metric(
        f"Objects{outcome.title()}", f"events with the [outcome](rows.md#outcomes) `{outcome}`"
    )
    for outcome in Outcome
}
BYTES: Final = Metric("BytesHashed", "bytes of a hashed object", "Bytes")
SPEED: Final = Metric("Speed", "speed of reading and hashing an object", _SPEED)
MEMBERS: Final = Metric("MembersHashed", "members of an archive")
MEMBER_BYTES: Final = Metric("MemberBytes", "bytes of these members", "Bytes")
MESSAGES: Final = Metric("Messages", "messages that were received")
FATES: Final = {
    Fate.RETRIED: Metric("MessagesRetried", "messages that failed and return to their queue"),
    Fate.RELEASED: Metric(
        "MessagesReleased",
        "messages left to [another invocation](../explanation/what-is-recorded.md#batches)",
    ),
    Fate.DEAD_LETTERED: Metric(
        "MessagesDeadLettered", "messages that went to the dead-letter queue"
    ),
}
SLICES: Final = Metric(
    "Slices", "slices of [long objects](../explanation/architecture.md#long-objects)"
)
SLICE_BYTES: Final = Metric("SliceBytes", "bytes of a slice", "Bytes")
SLICE_SPEED: Final = Metric("SliceSpeed", "speed of reading and hashing a slice", _SPEED)
AGE: Final = Metric("LongObjectAge", "time since the first slice of a long object began", "Seconds")
REPORTS_FAILED: Final = Metric(
    "ReportsFailed", "attempts at which `ReportBucket` or `ReportTopicArn` took no report"
)
VERIFICATIONS_OVERDUE: Final = Metric(
    "VerificationsOverdue",
    "buckets without a verification in time, or whose last one delays that of the schedule",
)
COLD_START: Final = Metric("ColdStart", "cold starts, with the function as `function_name`")
"""Powertools emits it itself."""

METRICS: Final = (
    *OUTCOMES.values(), BYTES, SPEED, MEMBERS, MEMBER_BYTES, MESSAGES, *FATES.values(), SLICES,
    SLICE_BYTES, SLICE_SPEED, AGE, REPORTS_FAILED, VERIFICATIONS_OVERDUE, COLD_START,
)  # fmt: skip

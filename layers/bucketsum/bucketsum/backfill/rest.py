"""Rest: nothing of a backfill is in a queue or in slices any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from bucketsum.backfill.backfill_records import BackfillStatus, is_complete
from bucketsum.clock import seconds_since, text_of
from bucketsum.long_objects.progress import ChainStatus, Progress

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

    from bucketsum.backfill.backfill_records import Backfill, Part, Tally
    from bucketsum.backfill.table import BackfillsTable
    from bucketsum.long_objects.progress_table import ProgressTable

QUIET_SECONDS: Final = 300
"""SQS's numbers of messages may be wrong for a minute after the last was sent or received."""
MESSAGE_DAYS: Final = 14
"""[A] SQS keeps a message at most so long: whatever was queued before is over."""
PAUSE_GROWTH: Final = 1.25
"""After so many times the time that was waited, a run is looked at again."""
_PAUSE_SECONDS_MIN: Final = 5
_PAUSE_SECONDS_MAX: Final = 3600
_LENGTHS: Final[tuple[QueueAttributeNameType, ...]] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The queue of backfills and the long objects in progress, which a backfill waits for."""

    sqs: SQSClient
    queue_url: str
    progress_table: ProgressTable

    def is_over(
        self, backfill: Backfill, parts: Sequence[Part], tally: Tally, counted_at: str | None
    ) -> bool:
        """Whether nothing more happens to the objects of *backfill*, all of which are queued.

        If some were counted twice, its counts never agree; then the queue must be empty.
        """
        if backfill.rested_at:
            return True
        if backfill.status is not BackfillStatus.QUEUED:
            return False
        last = [moment for moment in (backfill.ended_at, counted_at) if moment]
        is_done = (
            is_complete(parts, tally)
            or seconds_since(max(last)) > MESSAGE_DAYS * 86_400
            or self._is_quiet_since(last)
        )
        return is_done and not (tally.long and self._has_slices(backfill.backfill_id))

    def _has_slices(self, backfill_id: str) -> bool:
        """Whether an object of it is being read in slices."""
        return any(
            isinstance(item, Progress)
            and (item.run, item.status) == (backfill_id, ChainStatus.RUNNING)
            for item in self.progress_table.in_progress()
        )

    def _is_quiet_since(self, moments: Iterable[str]) -> bool:
        """Whether the queue is empty, and all *moments* are so long ago that SQS knows that."""
        if any(seconds_since(moment) < QUIET_SECONDS for moment in moments):
            return False
        answer = self.sqs.get_queue_attributes(
            QueueUrl=self.queue_url, AttributeNames=list(_LENGTHS)
        )
        return not any(int(answer["Attributes"][name]) for name in _LENGTHS)


def pause_before_next_look(work: OpenWork, table: BackfillsTable, backfill: Backfill) -> int:
    """Seconds until it should be asked again; 0 if *backfill* rests, which is then recorded."""
    tally, counted_at = table.tally(backfill.backfill_id)
    if work.is_over(backfill, table.parts(backfill.backfill_id), tally, counted_at):
        table.rest(backfill.backfill_id)
        return 0
    return pause_after(seconds_since(backfill.ended_at or backfill.started_at))


def pause_after(seconds: float) -> int:
    """The pause after *seconds* of waiting: a quarter of them, as an execution's history is short.

    It is at least some seconds, also if a clock went back, and at most an hour.
    """
    return round(min(max(seconds * (PAUSE_GROWTH - 1), _PAUSE_SECONDS_MIN), _PAUSE_SECONDS_MAX))


def days_ago(days: float) -> str:
    """The moment that many days ago, ISO 8601 UTC."""
    moment = datetime.now(UTC) - timedelta(days=days)
    return text_of(moment)

"""The state of a backfill or a verification."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally, is_done
from bucketsum.hashing.ending import Purpose
from bucketsum_cli.aws.executions import Execution
from bucketsum_cli.backfill.purpose_words import BACKFILL, VERIFICATION
from bucketsum_cli.backfill.work import Work


@dataclass(frozen=True, slots=True)
class RecordedProgress:
    """The state of a backfill.

    Attributes:
        queued: Its objects that were queued so far.
        tally: Its objects that are done, by outcome.
        is_at_rest: Whether nothing of it is in a queue or in slices.
        failed: Its execution, if that ended early.
        usd: US dollars so far, by arithmetic.
        seconds: Time since it was started, until its last count if it is not running.
    """

    backfill: Backfill
    parts: tuple[Part, ...]
    queued: Work
    tally: Tally
    is_at_rest: bool
    failed: Execution | None
    usd: float
    seconds: float

    @property
    def is_done(self) -> bool:
        """Whether every object is done."""
        return self.is_at_rest and is_done(self.backfill, self.parts, self.tally)

    @property
    def is_incomplete(self) -> bool:
        """Whether it is at rest, and the counts still differ from what was queued."""
        return self.is_at_rest and not self.is_done

    @property
    def left(self) -> int | None:
        """Objects that are not done; None while it is not known how many there are."""
        if self.is_done:
            return 0
        if self.backfill.status is BackfillStatus.QUEUED:  # at least one, but some counted twice
            left = max(0, self.queued.object_count - self.tally.objects)
            return left or self.tally.long or None
        if self.backfill.expected_objects is None:
            return None
        return max(0, self.backfill.expected_objects - self.tally.objects)

    @property
    def archived(self) -> int:
        """Objects in GLACIER and DEEP_ARCHIVE that were left out."""
        return sum(part.archived for part in self.parts)

    @property
    def parts_done(self) -> int:
        """Parts of which all objects are queued."""
        return sum(part.done for part in self.parts)

    @property
    def objects_per_second(self) -> float:
        """Mean rate since it was started."""
        return self.tally.objects / self.seconds if self.seconds > 0 else 0.0

    @property
    def failure(self) -> str | None:
        """The status of the execution that failed, and the next step."""
        if self.failed is None:
            return None
        verifies = self.backfill.purpose is Purpose.VERIFY
        words = VERIFICATION if verifies else BACKFILL
        command = words.line("resume", self.backfill.backfill_id)
        return f"the execution is {self.failed.status}; continue with `{command}`"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it by itself."""
        is_stopped = self.backfill.status is BackfillStatus.STOPPED
        return bool(self.failed) or self.is_at_rest or is_stopped

    @property
    def has_failed(self) -> bool:
        """Whether it failed, or some of its objects did, are missing or differ."""
        tally = self.tally
        unread = tally.unreadable if self.backfill.purpose is Purpose.VERIFY else 0
        return bool(self.failed or self.is_incomplete or tally.failed or tally.differs or unread)

    @property
    def state(self) -> str:
        """The state in a word."""
        if self.failed:
            return "failed"
        if self.is_incomplete:
            return "incomplete"
        return "done" if self.is_done else self.backfill.status.value

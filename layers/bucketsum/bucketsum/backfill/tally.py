"""Counts of listed objects by their outcome."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tally:
    """Objects of a backfill that are done, by outcome.

    Attributes:
        hashed: Read and recorded.
        hashed_bytes: Their size.
        skipped: Recorded before, so not read.
        superseded: Overwritten since they were listed, or a newer row exists.
        gone: Deleted since they were listed.
        unreadable: Recorded with a reason instead of a digest.
        long: Handed over to be hashed in slices.
        failed: In the dead-letter queue.
        invocations: Invocations of the hasher that did this.
    """

    hashed: int = 0
    hashed_bytes: int = 0
    skipped: int = 0
    superseded: int = 0
    gone: int = 0
    unreadable: int = 0
    long: int = 0
    failed: int = 0
    invocations: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Add each count."""
        sums = (getattr(self, field.name) + getattr(other, field.name) for field in fields(Tally))
        return Tally(*sums)

    @property
    def objects(self) -> int:
        """All objects that are done."""
        done = (self.hashed, self.skipped, self.superseded, self.gone, self.unreadable)
        return sum(done) + self.long + self.failed

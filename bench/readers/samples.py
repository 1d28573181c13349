"""One sample of a reader, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bucketsum.measure import mb_per_s


class Outcome(StrEnum):
    """Outcome of a sample."""

    GOOD = "ok"
    OUT_OF_MEMORY = "out of memory"
    WRONG = "wrong digest"
    FAILED = "failed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Sample:
    """One object, read once.

    Attributes:
        reader: Name of the reader.
        round: From 0; every reader reads once per round.
        outcome: `Outcome.GOOD`, or the reason why the sample does not count.
        size_bytes: Bytes read; 0 if it failed.
        seconds: Wall time from before the request until the digest.
        cpu_seconds: CPU time in it.
        peak_bytes: Peak resident memory of the process.
        kills: Processes that the kernel killed because memory ran out.
        detail: The reader's last line, if it failed.
    """

    reader: str
    round: int
    outcome: Outcome
    size_bytes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    kills: int = 0
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether it counts."""
        return self.outcome is Outcome.GOOD

    @property
    def mb_per_s(self) -> float:
        """10⁶ bytes per second of wall time; 0 if it failed."""
        return mb_per_s(self.size_bytes, self.seconds)

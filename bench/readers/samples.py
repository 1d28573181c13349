"""One reading, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

GOOD: Final = "ok"
OUT_OF_MEMORY: Final = "out of memory"
WRONG: Final = "wrong digest"
FAILED: Final = "failed"
TIMED_OUT: Final = "timed out"


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading.

    Attributes:
        reader: The entry's name.
        round: Counted from 0; in a round every reader reads once.
        outcome: `GOOD`, or why it does not count.
        size_bytes: Bytes that were read; 0 where it failed.
        seconds: Wall time from before the request until the digest.
        cpu_seconds: Processor time in it.
        peak_bytes: Most memory that was resident in the process's whole life.
        kills: Processes that the kernel killed for want of memory.
        detail: What the reader said last, where it failed.
    """

    reader: str
    round: int
    outcome: str
    size_bytes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    kills: int = 0
    detail: str = ""

    @property
    def mb_per_s(self) -> float:
        """MB of 10⁶ bytes per second of wall time; 0 where it failed."""
        return self.size_bytes / 1e6 / self.seconds if self.seconds else 0.0

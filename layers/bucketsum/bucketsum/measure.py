"""Time and memory that reading takes, and its speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BYTES_PER_MB: Final = 1_000_000
"""MB is 10⁶ bytes everywhere in bucketsum; MiB is 2²⁰."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Time and memory of streaming, from the GET to the last byte hashed.

    Attributes:
        size_bytes: Bytes read and hashed.
        seconds: Wall time.
        cpu_seconds: CPU time of the process, all threads; None if not measured.
        max_rss_bytes: Peak resident memory; None if not measured.
    """

    size_bytes: int
    seconds: float
    cpu_seconds: float | None = None
    max_rss_bytes: int | None = None

    @property
    def mb_per_s(self) -> float:
        """10⁶ bytes per second of streaming; 0 if no time passed."""
        return mb_per_s(self.size_bytes, self.seconds)


def mb_per_s(size_bytes: int, seconds: float) -> float:
    """10⁶ bytes per second; 0 if no time passed."""
    return size_bytes / BYTES_PER_MB / seconds if seconds > 0 else 0.0

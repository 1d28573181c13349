"""Clock and bytes → speed. The arithmetic is here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BYTES_PER_MB: Final = 1_000_000
"""MB is 10⁶ bytes everywhere in bucketsum; MiB is 2²⁰."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """How long streaming took, from the GET to the last byte hashed.

    Attributes:
        size_bytes: Bytes read and hashed.
        seconds: Wall time.
    """

    size_bytes: int
    seconds: float

    @property
    def mb_per_s(self) -> float:
        """10⁶ bytes per second of streaming; 0 where no time passed."""
        return self.size_bytes / BYTES_PER_MB / self.seconds if self.seconds > 0 else 0.0

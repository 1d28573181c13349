"""Lambda-like configurations: memory, network, object."""

from dataclasses import dataclass
from typing import Final

from bucketsum_cli.machine.proxy import BURST_BYTES, LINK_MBIT_PER_S

BURST_PEAK_BYTES_PER_S: Final = 1_288_490_188
"""[T] arXiv 2501.07771: 1.2 GiB/s during the network's burst."""

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Profile:
    """One configuration, and the object that is read in it.

    Attributes:
        memory_mb: The function's memory size, which sets its CPU share too.
        link_mbit_per_s: Sustained rate of the network, as a program sees it.
        burst_bytes: Burst allowance of the network; 0 for none.
        warm: Whether the object is read once, untimed, before the timed reading.
    """

    name: str
    memory_mb: int
    link_mbit_per_s: int
    object_bytes: int
    burst_bytes: int = 0
    warm: bool = False

    @property
    def link_bytes_per_s(self) -> float:
        """The link's sustained rate."""
        return self.link_mbit_per_s * 1e6 / 8

    @property
    def best_seconds(self) -> float:
        """Shortest possible transfer time over the link, including the burst."""
        # tokens flow in during the burst, so it is longer than the allowance
        longest = self.burst_bytes / (1 - self.link_bytes_per_s / BURST_PEAK_BYTES_PER_S)
        in_burst = min(self.object_bytes, int(longest))
        rest = self.object_bytes - in_burst
        return in_burst / BURST_PEAK_BYTES_PER_S + rest / self.link_bytes_per_s

    @property
    def title(self) -> str:
        """One line of text."""
        peak_mbit_per_s = round(BURST_PEAK_BYTES_PER_S * 8 / 1e6)
        link = f"{self.link_mbit_per_s:,} Mbit/s"
        if self.burst_bytes:
            link = f"{peak_mbit_per_s:,} Mbit/s (network burst)"
        size = (
            f"{self.object_bytes // (1000 * _MB)} GB"
            if self.object_bytes % (1000 * _MB) == 0
            else f"{self.object_bytes // _MB} MB"
        )
        warm = " (second read)" if self.warm else ""
        return f"{self.memory_mb} MB of memory, {link}, object of {size}{warm}"


PROFILES: Final = (
    Profile("128", 128, LINK_MBIT_PER_S, 100 * _MB),
    Profile("256", 256, LINK_MBIT_PER_S, 100 * _MB),
    Profile("512", 512, LINK_MBIT_PER_S, 1000 * _MB),
    Profile("1769-burst", 1769, LINK_MBIT_PER_S, 100 * _MB, burst_bytes=BURST_BYTES, warm=True),
    Profile("3008", 3008, 1200, 1000 * _MB),
    Profile("3538", 3538, 3000, 1000 * _MB),
)
"""Measured by default."""

QUICK_OBJECT_BYTES: Final = 20 * _MB
"""Enough for a check, too little for a comparison."""

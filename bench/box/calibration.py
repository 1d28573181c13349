"""What the box allows, measured by curl under no limit of processor: the bench's own honesty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.box.objects import BUCKET, make_object
from bench.box.profiles import CONNECTION_BYTES_PER_S
from bench.box.requirements import SYSTEM_PATH, tool

if TYPE_CHECKING:
    from pathlib import Path

    from bench.box.box import Box
    from bench.box.server import Server

SMALLEST_SHARE: Final = 0.95
"""Of what the shape allows; with less, the box is the limit and not the reader."""

_SECONDS: Final = 3.0
_OBJECT_BYTES: Final = 300_000_000
_DRAINING: Final = 8


@dataclass(frozen=True, slots=True)
class Calibration:
    """One measurement of the link, with nothing in its way.

    Attributes:
        connections: How many at once.
        mb_per_s: MB of 10⁶ bytes per second, from the first byte to the last.
        allowed_mb_per_s: What the shape allows.
    """

    connections: int
    mb_per_s: float
    allowed_mb_per_s: float

    @property
    def share(self) -> float:
        """Measured over allowed."""
        return self.mb_per_s / self.allowed_mb_per_s

    @property
    def good(self) -> bool:
        """Whether readers are measured here, and not the box."""
        return self.share >= SMALLEST_SHARE

    def __str__(self) -> str:
        """One line for people."""
        plural = "s" if self.connections > 1 else ""
        return (
            f"{self.connections} connection{plural}: {self.mb_per_s:.1f} MB/s of "
            f"{self.allowed_mb_per_s:.1f} ({self.share:.3f})"
        )


def plan(link_bytes_per_s: float) -> list[tuple[int, float]]:
    """Connections, and bytes per second that they are allowed: for one, and enough for the link."""
    many = int(link_bytes_per_s // CONNECTION_BYTES_PER_S) + 2
    return [(1, min(link_bytes_per_s, CONNECTION_BYTES_PER_S)), (many, link_bytes_per_s)]


def calibrate(box: Box, server: Server, objects: Path) -> list[Calibration]:
    """Read for some seconds with one connection, then with many.

    Takes the burst out of the link first where it has one: what is measured is what is sustained.
    """
    known = make_object(objects, _OBJECT_BYTES)
    url = f"{server.endpoint}/{BUCKET}/{known.key}"
    burst_bytes = box.profile.burst_bytes
    if burst_bytes:
        _read(box, server, url, _DRAINING, burst_bytes * 5 // 4)
    return [
        Calibration(
            connections,
            _read(box, server, url, connections, int(allowed * _SECONDS)) / 1e6,
            allowed / 1e6,
        )
        for connections, allowed in plan(box.profile.link_bytes_per_s)
    ]


def _read(box: Box, server: Server, url: str, connections: int, size_bytes: int) -> float:
    """Bytes per second of *size_bytes* over *connections*, from the first byte to the last."""
    each = min(size_bytes // connections, _OBJECT_BYTES)
    told = box.unlimited(
        [
            *(tool("curl") or "curl", "--silent", "--fail", "--cacert", str(server.certificates)),
            *("--parallel", "--parallel-immediate", "--parallel-max", str(connections)),
            *("--range", f"0-{each - 1}"),
            *("--write-out", "%{time_starttransfer} %{time_total} %{size_download}\n"),
            *(["--output", "/dev/null", url] * connections),
        ],
        {"PATH": SYSTEM_PATH},
    )
    return rate_in(told)


def rate_in(told: str) -> float:
    """Bytes per second in curl's lines of first byte's time, last byte's time and size."""
    rows = [[float(word) for word in line.split()] for line in told.splitlines()]
    seconds = max(row[1] for row in rows) - min(row[0] for row in rows)
    return sum(row[2] for row in rows) / seconds

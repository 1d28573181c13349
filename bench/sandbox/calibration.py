"""Speed that the sandbox allows, measured by curl without a CPU limit."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.sandbox.objects import BUCKET, make_object
from bench.sandbox.profiles import BURST_PEAK_BYTES_PER_S, Profile
from bench.sandbox.requirements import SYSTEM_PATH, tool
from bench.sandbox.sandbox import Sandbox
from bench.sandbox.server import Server
from bucketsum_cli.machine.proxy import CONNECTION_BYTES_PER_S

SMALLEST_SHARE: Final = 0.95
"""Of the configured speed; below this share, the sandbox limits the reader."""

SECONDS: Final = 3.0
OBJECT_BYTES: Final = 300_000_000
_BURSTING: Final = 8


@dataclass(frozen=True, slots=True)
class Calibration:
    """One measurement of the link: its speed from first to last byte, and the configured speed."""

    what: str
    mb_per_s: float
    allowed_mb_per_s: float

    @property
    def good(self) -> bool:
        """Whether the sandbox is fast enough."""
        return self.mb_per_s >= SMALLEST_SHARE * self.allowed_mb_per_s

    def __str__(self) -> str:
        """Number of connections, measured and configured speed, and their ratio."""
        share = self.mb_per_s / self.allowed_mb_per_s
        return f"{self.what} {self.mb_per_s:.1f} MB/s of {self.allowed_mb_per_s:.1f} ({share:.3f})"


@dataclass(frozen=True, slots=True)
class Step:
    """One planned measurement; without a name, it only uses up the burst."""

    what: str
    connections: int
    allowed_bytes_per_s: float
    size_bytes: int


def plan(profile: Profile) -> list[Step]:
    """First the burst, which would distort the others; then one connection; then many."""
    link = profile.link_bytes_per_s
    many = int(link // CONNECTION_BYTES_PER_S) + 2
    single = min(link, CONNECTION_BYTES_PER_S)
    steps = [
        Step("1 connection", 1, single, int(single * SECONDS)),
        Step(f"{many} connections", many, link, int(link * SECONDS)),
    ]
    if profile.burst_bytes:
        burst = min(_BURSTING * CONNECTION_BYTES_PER_S, BURST_PEAK_BYTES_PER_S)
        steps = [
            Step(f"{_BURSTING} in the burst", _BURSTING, burst, profile.burst_bytes * 4 // 5),
            Step("", _BURSTING, link, profile.burst_bytes * 3 // 4),  # uses up the rest of it
            *steps,
        ]
    return steps


def calibrate(sandbox: Sandbox, server: Server, objects: Path) -> list[Calibration]:
    """Run the steps of `plan`, which takes some seconds."""
    known = make_object(objects, OBJECT_BYTES)
    url = f"{server.endpoint}/{BUCKET}/{known.key}"
    measured = [
        Calibration(
            step.what,
            _read(sandbox, server, url, step.connections, step.size_bytes) / 1e6,
            step.allowed_bytes_per_s / 1e6,
        )
        for step in plan(sandbox.profile)
    ]
    return [calibration for calibration in measured if calibration.what]


def _read(sandbox: Sandbox, server: Server, url: str, connections: int, size_bytes: int) -> float:
    """Bytes per second of *size_bytes* over *connections*, from the first byte to the last."""
    share = min(size_bytes // connections, OBJECT_BYTES)
    times = sandbox.unlimited(
        [
            *(tool("curl") or "curl", "--silent", "--fail", "--cacert", str(server.certificates)),
            *("--parallel", "--parallel-immediate", "--parallel-max", str(connections)),
            *("--range", f"0-{share - 1}"),
            *("--write-out", "%{time_starttransfer} %{time_total} %{size_download}\n"),
            *(["--output", "/dev/null", url] * connections),
        ],
        {"PATH": SYSTEM_PATH},
    )
    return rate_in(times)


def rate_in(times: str) -> float:
    """Bytes per second from curl's lines: time of the first and last byte, and size."""
    rows = [[float(word) for word in line.split()] for line in times.splitlines()]
    seconds = max(row[1] for row in rows) - min(row[0] for row in rows)
    return sum(row[2] for row in rows) / seconds

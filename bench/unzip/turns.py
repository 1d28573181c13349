"""Ways of unzipping, each in a process of its own, in turns."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench.unzip.ways import WAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

OURS: Final = "bucketsum stream"

_TWO_CORES: Final = frozenset(way for way in WAYS if "2 threads" in way)


@dataclass(frozen=True, slots=True)
class Timing:
    """One run of one way.

    Attributes:
        seconds: Wall time.
        cpu_seconds: Processor time, that of processes which it started included.
        peak_bytes: Most memory that was resident.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, and the least and the most of what it is of."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The spread of *values*."""
        ordered = sorted(values)
        return cls(statistics.median(ordered), ordered[0], ordered[-1])

    def text(self, decimals: int) -> str:
        """As ``1.49 (1.47-1.52)``; without the range where there is none."""
        if self.least == self.most:
            return f"{self.median:.{decimals}f}"
        return f"{self.median:.{decimals}f} ({self.least:.{decimals}f}-{self.most:.{decimals}f})"


Turns = dict[str, list[Timing]]
"""Way → its timings, one of each turn."""


def available() -> list[str]:
    """The ways that this machine has the programs for."""
    return [way for way in WAYS if way.split()[0] != "unzip" or shutil.which("unzip")]


def measured(archive: Path, scratch: Path, turns: int, step: Callable[[], object]) -> Turns:
    """Every way once in each turn, so that what disturbs one disturbs the others as well.

    The archive is in memory (the page cache) beforehand, as the article's were.
    """
    archive.read_bytes()
    timings: Turns = {way: [] for way in available()}
    for _ in range(turns):
        for way, ones in timings.items():
            ones.append(_once(way, archive, scratch))
            step()
    return timings


def _once(way: str, archive: Path, scratch: Path) -> Timing:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        told = output_of(
            ["-m", "bench.unzip.ways", way, str(archive), str(Path(folder, "out"))],
            cores=2 if way in _TWO_CORES else 1,
        )
    return Timing(**json.loads(told))


def output_of(arguments: Sequence[str], cores: int) -> str:
    """What this interpreter prints with *arguments*, on that many cores."""
    allowed = sorted(os.sched_getaffinity(0))[-cores:]
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    return done.stdout


def slowdown(turns: Turns, way: str) -> Spread:
    """How many times the processor time of `OURS` *way* takes, turn by turn."""
    pairs = zip(turns[way], turns[OURS], strict=True)
    return Spread.of(one.cpu_seconds / ours.cpu_seconds for one, ours in pairs)

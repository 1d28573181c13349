"""Variants in turns, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.tables.spread import Spread
from bench.unzip import variants
from bench.unzip.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Callable

OURS: Final = "bucketsum stream"


@dataclass(frozen=True, slots=True)
class Timing:
    """One run of one variant.

    Attributes:
        seconds: Wall time.
        cpu_seconds: CPU time, child processes included.
        peak_bytes: Peak resident memory.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int


Turns = dict[str, list[Timing]]
"""Timings by variant, one per turn."""


def available() -> list[str]:
    """The variants whose programs are installed."""
    return [name for name in VARIANTS if name.split()[0] != "unzip" or shutil.which("unzip")]


def measured(archive: Path, scratch: Path, turns: int, step: Callable[[], object]) -> Turns:
    """Every variant once per turn, so that other work on the machine affects all of them.

    The archive is read into the page cache first, as in the unzip articles.
    """
    archive.read_bytes()
    timings: Turns = {name: [] for name in available()}
    for _ in range(turns):
        for name, runs in timings.items():
            runs.append(_once(name, archive, scratch))
            step()
    return timings


def _once(variant: str, archive: Path, scratch: Path) -> Timing:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        arguments = [variant, str(archive), str(Path(folder, "out"))]
        cores = 2 if "2 threads" in variant else 1
        return Timing(**output_of(variants.__name__, arguments, cores))


def output_of(module: str, arguments: list[str], cores: int) -> Any:  # noqa: ANN401 - any JSON
    """The JSON that ``python -m module`` prints, on that many cores."""
    allowed = sorted(os.sched_getaffinity(0))[-cores:]
    completed = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", module, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    return json.loads(completed.stdout)


def slowdown(turns: Turns, variant: str) -> Spread:
    """CPU time ÷ that of `OURS`, turn by turn."""
    pairs = zip(turns[variant], turns[OURS], strict=True)
    return Spread.of(run.cpu_seconds / ours.cpu_seconds for run, ours in pairs)

"""Measure time, CPU time and memory; compute cost and percentiles."""

from __future__ import annotations

import math
import os
import re
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum.measure import Measurement
from bucketsum.prices import FREE_STORAGE_MB

BYTES_PER_GB: Final = 1_000_000_000
GB_PER_TB: Final = 1_000
_MS_PER_HOUR: Final = 3_600_000


def usd_per_gb(usd: float, size_bytes: int) -> float:
    """Dollars per 10⁹ bytes, if reading *size_bytes* cost *usd*."""
    return usd * BYTES_PER_GB / size_bytes


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """Price of a machine without Lambda, in US dollars."""

    usd_per_hour: float | None = None
    """None if it is not known."""
    date: str | None = None
    """Day on which it was given."""
    priced_as: None = None

    def invocation_usd(
        self,
        billed_ms: float,
        memory_mb: int,  # noqa: ARG002 - as `Prices`
        storage_mb: int = FREE_STORAGE_MB,  # noqa: ARG002 - as `Prices`
    ) -> float | None:
        """Cost of *billed_ms* of the whole machine; None if its price is not known."""
        return None if self.usd_per_hour is None else billed_ms / _MS_PER_HOUR * self.usd_per_hour


def percentile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between the closest ranks (0.5 is the median)."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


class Meter:
    """Measures wall time, CPU time and peak memory from its creation to `stop`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.peak_was_reset = _reset_peak()
        """Whether the peak is of the measured time, not of the process's whole life."""
        self._cpu_started = time.process_time()
        self._started = clock()

    def stop(self, size_bytes: int) -> Measurement:
        """The measurement of reading *size_bytes*."""
        seconds = self._clock() - self._started
        cpu_seconds = time.process_time() - self._cpu_started
        status = text_of(_PROC / "self" / "status") or ""
        peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        peak_bytes = int(peak[1]) * _KIB if peak else None
        return Measurement(size_bytes, seconds, cpu_seconds, peak_bytes)


def text_of(file: Path) -> str | None:
    """The content of *file*; None if it cannot be read."""
    try:
        return file.read_text()
    except OSError:
        return None


def children_cpu_seconds() -> float:
    """CPU time of this process's children: of those that ended and, on Linux, of those that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = sum(user + in_kernel for user, in_kernel, *_ in ticks_of_children(_PROC))
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def ticks_of_children(proc: Path) -> list[list[int]]:
    """`ticks_in` of each process that a thread of this one has started, and that has not ended."""
    lists = map(text_of, proc.glob("self/task/*/children"))  # None: that thread has ended meanwhile
    pids = [pid for text in lists if text for pid in text.split()]
    return [ticks_in(text) for pid in pids if (text := text_of(proc / pid / "stat"))]


def ticks_in(stat: str) -> list[int]:
    """User and system ticks of a process, then of its ended children, in its file ``stat``."""
    return [int(word) for word in stat.rpartition(")")[2].split()[11:15]]


_PROC: Final = Path("/proc")
_RESET_PEAK: Final = "5"
_KIB: Final = 1024


def _reset_peak() -> bool:
    """Reset the kernel's record of this process's peak memory; False if that is impossible."""
    try:
        (_PROC / "self" / "clear_refs").write_text(_RESET_PEAK)
    except OSError:  # not Linux, or not allowed
        return False
    return True

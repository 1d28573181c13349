"""The emulator's workers: their processes, killed at random, and their memory."""

import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

from tests.soak.faults import FaultKind, Faults
from tests.soak.proxy import FaultyProxy

_TICK_SECONDS: Final = 0.25
_KILL_SECONDS: Final = 8.0
_CUT_SECONDS: Final = 2.0
"""Mean time from a kill, and from a cut connection, until the next is due."""

_ALONE_SECONDS: Final = 4.0
"""The oldest worker, whose memory is watched, is killed if it is alone for so long at the start."""

_STARTED_BEFORE: Final = 0.1
_WARM_FROM: Final = 0.2
"""Shares of the objects: a worker's first event, if it is later, is too near to the watch."""

_WINDOWS: Final = 8


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory of one worker after the first fifth of the objects.

    Attributes:
        medians_mb: The median of each eighth of that time, in MB.
    """

    medians_mb: tuple[float, ...]

    @property
    def middle_mb(self) -> float:
        """The median of the medians."""
        return median(self.medians_mb)

    @property
    def spread(self) -> float:
        """The largest difference from the middle, as a share of it."""
        return max(abs(value / self.middle_mb - 1) for value in self.medians_mb)


@dataclass(frozen=True, slots=True)
class _Sample:
    progress: float
    size_bytes: int


class Workers:
    """The workers of one function, which are this emulator's child processes."""

    def __init__(self, server_pid: int, function: str) -> None:
        self._server = Path("/proc", str(server_pid))
        self._function = function
        self._samples: defaultdict[int, list[_Sample]] = defaultdict(list)

    def pids(self) -> list[int]:
        """The processes, the oldest first."""
        ages: list[tuple[int, int]] = []
        for children in self._server.glob("task/*/children"):
            with suppress(OSError):
                for pid in map(int, children.read_text().split()):
                    with suppress(OSError):
                        if self._is_worker(pid):
                            ages.append((_started(pid), pid))
        return [pid for _, pid in sorted(ages)]

    def kill(self, random: Random, *, spare_oldest: bool) -> bool:
        """Kill one of them, perhaps the oldest; returns whether there was one.

        If a worker dies while it starts, the emulator ends all workers, so those are left alone.
        """
        pids = self.pids()[1 if spare_oldest else 0 :]
        if not (victims := [pid for pid in pids if _has_connections(pid)]):
            return False
        with suppress(ProcessLookupError):
            os.kill(random.choice(victims), signal.SIGKILL)
        return True

    def sample(self, progress: float) -> None:
        """Read the memory of each; *progress* is the share of the objects that are done.

        A worker counts from its first event on: before, it may import for seconds.
        """
        for pid in self.pids():
            if pid not in self._samples and not _has_connections(pid):
                continue
            with suppress(OSError, IndexError):
                pages = int(Path("/proc", str(pid), "statm").read_text().split()[1])
                size_bytes = pages * os.sysconf("SC_PAGESIZE")
                self._samples[pid].append(_Sample(progress, size_bytes))

    def memory(self) -> list[Memory]:
        """The memory of each worker that worked from the first tenth of the objects to the end."""
        return [
            Memory(tuple(median(window) / 1e6 for window in windows))
            for samples in self._samples.values()
            if samples[0].progress < _STARTED_BEFORE and all(windows := _windows(samples))
        ]

    def _is_worker(self, pid: int) -> bool:
        arguments = Path("/proc", str(pid), "cmdline").read_bytes()
        return f"-{self._function}-".encode() in arguments


def _has_connections(pid: int) -> bool:
    """Whether the process has sockets: then it has handled an event."""
    with suppress(OSError):
        links = (descriptor.readlink() for descriptor in Path("/proc", str(pid), "fd").iterdir())
        return any(str(link).startswith("socket:") for link in links)
    return False


def _started(pid: int) -> int:
    """When the process started, in ticks since the machine did."""
    return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[19])


def _windows(samples: list[_Sample]) -> list[list[int]]:
    windows: list[list[int]] = [[] for _ in range(_WINDOWS)]
    for sample in samples:
        place = int((sample.progress - _WARM_FROM) / (1 - _WARM_FROM) * _WINDOWS)
        if 0 <= place < _WINDOWS:
            windows[place].append(sample.size_bytes)
    return windows


@contextmanager
def disturbed(
    workers: Workers, proxy: FaultyProxy, faults: Faults, seed: int, progress: Callable[[], float]
) -> Iterator[None]:
    """Kill workers and cut connections at random during the block, and sample the memory."""
    end = threading.Event()
    random = Random(seed)  # noqa: S311 - a plan, not a secret

    def disturb() -> None:
        kill_at = cut_at = started = time.monotonic()
        while not end.wait(_TICK_SECONDS):
            workers.sample(progress())
            now = time.monotonic()
            killed = faults.counts[FaultKind.WORKER_KILLED]
            spare_oldest = bool(killed) or now < started + _ALONE_SECONDS
            if now >= kill_at and workers.kill(random, spare_oldest=spare_oldest):
                faults.count(FaultKind.WORKER_KILLED)
                kill_at = now + random.expovariate(1 / _KILL_SECONDS)
            if now >= cut_at and proxy.cut(random):
                faults.count(FaultKind.CONNECTION_CUT)
                cut_at = now + random.expovariate(1 / _CUT_SECONDS)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()

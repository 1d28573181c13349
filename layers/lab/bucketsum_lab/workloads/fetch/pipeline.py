"""A thread that downloads archives to the disk, and workers that process them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bucketsum_lab.workloads.fetch.disk_queue import DiskQueue, Stopped
from bucketsum_lab.workloads.fetch.model import Timings

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_lab.workloads.fetch.model import Item


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Both sides and the queue between them."""

    queue: DiskQueue
    fetch: Callable[[Item], Path]
    """Writes an archive, and returns its file."""
    process: Callable[[Item, Path], None]
    """Processes an archive and checks the result; several threads may call it at once."""
    workers: int

    def run(self, items: Sequence[Item]) -> Timings:
        """Fetch and process all *items*; each is removed from the disk once it was processed.

        Errors as of `in_threads`.
        """
        started = time.perf_counter()
        workers: list[Callable[[], float]] = [self._work] * self.workers
        fetching, *working = in_threads([partial(self._fetch, items), *workers], self.queue.stop)
        return Timings(
            wall=time.perf_counter() - started,
            fetching=fetching,
            working=sum(working) / self.workers,
            peak_bytes=self.queue.peak_bytes,
        )

    def _fetch(self, items: Iterable[Item]) -> float:
        """Seconds in which archives were fetched."""
        busy = 0.0
        for item in items:
            self.queue.reserve(item.size_bytes)
            started = time.perf_counter()
            path = self.fetch(item)
            busy += time.perf_counter() - started
            self.queue.put(item, path)
        self.queue.end()
        return busy

    def _work(self) -> float:
        """Seconds in which archives were processed."""
        busy = 0.0
        while fetched := self.queue.take():
            item, path = fetched
            started = time.perf_counter()
            self.process(item, path)
            busy += time.perf_counter() - started
            path.unlink()
            self.queue.release(item.size_bytes)
        return busy


def in_threads(sides: Sequence[Callable[[], float]], stop: Callable[[], None]) -> list[float]:
    """Results of *sides*, each in a thread of its own.

    The first error calls *stop*, which ends the others, and is raised after all have ended.
    """

    def stopping(side: Callable[[], float]) -> float:
        try:
            return side()
        except BaseException:
            stop()
            raise

    with ThreadPoolExecutor(len(sides), "fetch") as pool:
        futures = [pool.submit(stopping, side) for side in sides]
        try:
            wait(futures)
        finally:  # an interrupt too ends all sides
            stop()
    errors = [error for future in futures if (error := future.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error
    return [future.result() for future in futures]

"""A thread that downloads archives to the disk, and workers that process them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from bucketsum_lab.workloads.fetch.disk_queue import Stopped
from bucketsum_lab.workloads.fetch.model import Timings

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum_lab.workloads.fetch.disk_queue import DiskQueue
    from bucketsum_lab.workloads.fetch.model import ArchiveItem


def run_pipeline(
    queue: DiskQueue,
    fetch: Callable[[ArchiveItem], Path],
    process: Callable[[ArchiveItem, Path], None],
    workers: int,
    items: Sequence[ArchiveItem],
) -> Timings:
    """Fetch and process all *items*; each is removed from the disk once it was processed.

    *fetch* writes an archive, and returns its file. *process* checks the result; several threads
    may call it at once. Errors as of `in_threads`.
    """

    def fetch_all() -> float:
        """Seconds in which archives were fetched."""
        busy = 0.0
        for item in items:
            queue.reserve(item.size_bytes)
            started = time.perf_counter()
            path = fetch(item)
            busy += time.perf_counter() - started
            queue.put(item, path)
        queue.end()
        return busy

    def work() -> float:
        """Seconds in which archives were processed."""
        busy = 0.0
        while fetched := queue.take():
            item, path = fetched
            started = time.perf_counter()
            process(item, path)
            busy += time.perf_counter() - started
            path.unlink()
            queue.release(item.size_bytes)
        return busy

    started = time.perf_counter()
    fetching, *working = in_threads([fetch_all, *[work] * workers], queue.stop)
    wall = time.perf_counter() - started
    return Timings(wall, fetching, sum(working) / workers, queue.peak_bytes)


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

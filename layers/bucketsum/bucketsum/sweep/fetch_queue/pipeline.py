"""A thread that downloads archives to the disk, and workers that process them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum.sweep.fetch_queue.disk_queue import DiskQueue, Stopped
from bucketsum.sweep.fetch_queue.model import Timings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from bucketsum.sweep.fetch_queue.model import Fetcher, Item, Worker


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Both sides and the queue between them."""

    queue: DiskQueue
    fetcher: Fetcher
    worker: Worker
    workers: int

    def run(self, items: Sequence[Item]) -> Timings:
        """Fetch and process all *items*; each is removed from the disk once it was processed.

        The first error of either side stops the other and is raised after all threads have ended.
        """
        started = time.perf_counter()
        with ThreadPoolExecutor(1 + self.workers, "fetch") as pool:
            fetching = pool.submit(self._fetch, items)
            working = [pool.submit(self._work) for _ in range(self.workers)]
            try:
                wait([fetching, *working])
            finally:  # an interrupt too ends both sides
                self.queue.stop()
        raise_first([fetching, *working])
        return Timings(
            wall=time.perf_counter() - started,
            fetching=fetching.result(),
            working=sum(future.result() for future in working) / self.workers,
            peak_bytes=self.queue.peak_bytes,
        )

    def _fetch(self, items: Iterable[Item]) -> float:
        """Seconds in which archives were fetched."""
        busy = 0.0
        try:
            for item in items:
                self.queue.reserve(item.size_bytes)
                started = time.perf_counter()
                path = self.fetcher.fetch(item)
                busy += time.perf_counter() - started
                self.queue.put(item, path)
        except BaseException:
            self.queue.stop()
            raise
        self.queue.end()
        return busy

    def _work(self) -> float:
        """Seconds in which archives were processed."""
        busy = 0.0
        try:
            while fetched := self.queue.take():
                item, path = fetched
                started = time.perf_counter()
                self.worker.process(item, path)
                busy += time.perf_counter() - started
                path.unlink()
                self.queue.release(item.size_bytes)
        except BaseException:
            self.queue.stop()
            raise
        return busy


def raise_first(futures: Iterable[Future[float]]) -> None:
    """Raise the error that stopped the others, if there is one."""
    errors = [error for future in futures if (error := future.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error

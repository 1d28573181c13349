"""Archives on the disk: a thread downloads them, and workers process them.

Every wait ends when the queue is stopped, and whoever fails stops it: no side can hang.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Condition

from bucketsum.errors import BucketsumError
from bucketsum_lab.workloads.fetch.model import ArchiveItem, Timings

Fetched = tuple["ArchiveItem", "Path"]


class Stopped(BucketsumError):
    """The other side failed; this side ends too."""


class DiskQueue:
    """Bounded by the number of archives ahead of the workers, and by all bytes on the disk.

    An archive that is larger than the disk's room is fetched once nothing else is there: the disk
    itself refuses it.
    """

    def __init__(self, depth: int | None, room_bytes: int, *, opens_at_end: bool) -> None:
        """A queue without any item.

        Args:
            depth: Most archives that are reserved and not yet taken; None means no limit.
            room_bytes: Most bytes that are reserved and not yet released.
            opens_at_end: Whether nothing can be taken before `end`. Nothing is bounded then, as
                nothing would become free: the disk refuses more than it holds.
        """
        self._depth = depth
        self._room_bytes = room_bytes
        self._opens_at_end = opens_at_end
        self._changed = Condition()
        self._fetched: deque[Fetched] = deque()
        self._ahead = 0
        self._used_bytes = 0
        self._ended = self._stopped = False
        self.peak_bytes = 0
        """Most bytes that were reserved at once."""

    def reserve(self, size_bytes: int) -> None:
        """Wait until an archive of *size_bytes* may be fetched.

        Raises:
            Stopped: The other side failed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._has_room(size_bytes))
            self._require_running()
            self._ahead += 1
            self._used_bytes += size_bytes
            self.peak_bytes = max(self.peak_bytes, self._used_bytes)

    def put(self, item: ArchiveItem, path: Path) -> None:
        """Hand over an archive that was reserved and is on the disk."""
        with self._changed:
            self._fetched.append((item, path))
            self._changed.notify_all()

    def end(self) -> None:
        """Everything has been put."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self) -> Fetched | None:
        """Wait for an archive; None after the last one.

        Raises:
            Stopped: The other side failed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._ended or self._is_open())
            self._require_running()
            if not self._fetched:
                return None
            self._ahead -= 1
            self._changed.notify_all()
            return self._fetched.popleft()

    def release(self, size_bytes: int) -> None:
        """An archive was processed and is no longer on the disk."""
        with self._changed:
            self._used_bytes -= size_bytes
            self._changed.notify_all()

    def stop(self) -> None:
        """End every wait, on both sides."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def passing(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """*chunks*, until the queue is stopped.

        Raises:
            Stopped: The other side failed.
        """
        for chunk in chunks:
            self._require_running()
            yield chunk

    def _has_room(self, size_bytes: int) -> bool:
        if not self._used_bytes or self._opens_at_end:
            return True
        fits = self._used_bytes + size_bytes <= self._room_bytes
        return fits and (self._depth is None or self._ahead < self._depth)

    def _is_open(self) -> bool:
        return bool(self._fetched) and not self._opens_at_end

    def _require_running(self) -> None:
        if self._stopped:
            raise Stopped("the other side failed")


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

"""One measured run of a data set by a schedule: times, disk and page cache."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from bucketsum.archives.workspace import workspace
from bucketsum_lab.protocol.page_cache import PageCache, disk_bytes
from bucketsum_lab.workloads.fetch.model import (
    FOLDER_PROCESSORS,
    ArchiveItem,
    ArchiveWork,
    Bytes,
    ItemFailed,
    Schedule,
    Timings,
)
from bucketsum_lab.workloads.fetch.pipeline import DiskQueue, Stopped, in_threads, run_pipeline
from bucketsum_lab.workloads.fetch.processing import process
from bucketsum_lab.workloads.fetch.stages import DiskWorker, S3Items, fetch_to


def run_streaming(
    source: S3Items, work: ArchiveWork, workers: int, items: Sequence[ArchiveItem]
) -> Timings:
    """Process all *items* by workers that each read an archive from S3; errors as of `in_threads`.

    A worker is busy while it processes bytes, and not while it waits for them.
    """
    stopped = Event()
    left = iter(items)  # threads may share the iterator of a sequence

    def busy_seconds() -> float:
        return sum(_process(source, item, work, stopped) for item in left)

    started = time.perf_counter()
    working = in_threads([busy_seconds] * workers, stopped.set)
    return Timings(time.perf_counter() - started, None, sum(working) / workers, peak_bytes=0)


def _process(source: S3Items, item: ArchiveItem, work: ArchiveWork, stopped: Event) -> float:
    opened = source.open(item)
    waiting = _Waits(source.bytes_of(item, opened), stopped)
    started = time.perf_counter()
    try:
        process(item, Bytes(waiting.chunks(), waiting.read), work)
    finally:
        opened.chunks.close()
    return time.perf_counter() - started - waiting.seconds


class _Waits:
    """An archive's bytes, and the time spent waiting for them."""

    def __init__(self, content: Bytes, stopped: Event) -> None:
        self._content = content
        self._stopped = stopped
        self.seconds = 0.0

    def chunks(self) -> Iterator[bytes]:
        chunks = iter(self._content.chunks)
        while not self._stopped.is_set():
            with self._counted():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
        raise Stopped("another worker failed")

    def read(self, offset: int, length: int) -> bytes | memoryview:
        with self._counted():
            return self._content.read(offset, length)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - started


ROOM_SHARE: Final = 0.9
"""Of the disk's free bytes, that a queue fills at most."""


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One way to fetch and process.

    Attributes:
        workers: Threads, or shell jobs, that process archives.
        root: Where the folder of archives is made; None is the system's /tmp.
    """

    schedule: Schedule
    work: ArchiveWork
    workers: int
    root: Path | None = None
    page_cache: PageCache = PageCache.WARM

    def measured(self, source: S3Items, items: Sequence[ArchiveItem]) -> Mapping[str, int]:
        """Process all *items*, and return the workload's attributes of the sample.

        Nothing is left on the disk. Errors of reading pass through unchanged.

        Raises:
            ItemFailed: An archive cannot be processed, has a wrong result, or does not fit on the
                disk; or a program is not installed.
            BadSettings: The page cache cannot be cold.
        """
        if self.schedule is Schedule.SHELL and self.schedule not in FOLDER_PROCESSORS:
            raise ItemFailed(
                "NotInstalled",
                "the schedule shell needs parallel, unzip and bash, which are not installed here; "
                "Lambda has none of them",
            )
        before = disk_bytes()
        values = dict(self._values(source, items))
        after = disk_bytes()
        if before and after:
            values |= {name: max(0, count - before[name]) for name, count in after.items()}
        return {"items": len(items), **values}

    def _values(self, source: S3Items, items: Sequence[ArchiveItem]) -> Mapping[str, int]:
        if self.schedule is Schedule.STREAM:
            return run_streaming(source, self.work, self.workers, items).values()
        with workspace(self.root) as folder:
            try:
                return self._on_disk(source, items, folder)
            except OSError as error:  # as a full disk
                raise ItemFailed("NotFetched", f"{error.strerror or error}") from error

    def _on_disk(
        self, source: S3Items, items: Sequence[ArchiveItem], folder: Path
    ) -> Mapping[str, int]:
        room = round(shutil.disk_usage(folder).free * ROOM_SHARE)
        queue = DiskQueue(
            self.schedule.depth, room, opens_at_end=self.schedule is Schedule.ALL_FIRST
        )
        fetch = partial(fetch_to, folder, source, queue, self.page_cache)
        if self.schedule is Schedule.SHELL:
            return self._by_shell(fetch, folder, items).values()
        worker = DiskWorker(queue, self.work)
        timings = run_pipeline(queue, fetch, worker.process, self.workers, items)
        cached = worker.cached_bytes
        return {**timings.values(), **({} if cached is None else {"cached_bytes": cached})}

    def _by_shell(
        self, fetch: Callable[[ArchiveItem], Path], folder: Path, items: Sequence[ArchiveItem]
    ) -> Timings:
        started = time.perf_counter()
        for item in items:
            fetch(item)
        fetching = time.perf_counter() - started
        process = FOLDER_PROCESSORS[self.schedule]
        working = process(folder, self.work, self.workers, items)
        wall = time.perf_counter() - started
        return Timings(wall, fetching, working, sum(item.size_bytes for item in items))

"""Archives processed while they arrive, without a disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from bucketsum_lab.workloads.fetch.disk_queue import Stopped
from bucketsum_lab.workloads.fetch.model import Bytes, Timings
from bucketsum_lab.workloads.fetch.pipeline import in_threads
from bucketsum_lab.workloads.fetch.processing import process

if TYPE_CHECKING:
    from bucketsum_lab.workloads.fetch.model import ArchiveItem, ArchiveWork, ItemSource


def run_streaming(
    source: ItemSource, work: ArchiveWork, workers: int, items: Sequence[ArchiveItem]
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


def _process(source: ItemSource, item: ArchiveItem, work: ArchiveWork, stopped: Event) -> float:
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

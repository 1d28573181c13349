"""Archives processed while they arrive, without a disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from bucketsum_lab.workloads.fetch.disk_queue import Stopped
from bucketsum_lab.workloads.fetch.model import Bytes, Timings
from bucketsum_lab.workloads.fetch.pipeline import in_threads
from bucketsum_lab.workloads.fetch.processing import process

if TYPE_CHECKING:
    from bucketsum_lab.workloads.fetch.model import Item, ItemSource, Work


@dataclass(frozen=True, slots=True)
class Streaming:
    """Workers that each read an archive from S3 and process its bytes as they come."""

    source: ItemSource
    work: Work
    workers: int
    stopped: Event = field(default_factory=Event)

    def run(self, items: Sequence[Item]) -> Timings:
        """Process all *items*; raises the same errors as `in_threads`."""
        started = time.perf_counter()
        left = iter(items)  # threads may share the iterator of a sequence
        working = in_threads([partial(self._work, left)] * self.workers, self.stopped.set)
        busy = sum(working) / self.workers
        return Timings(time.perf_counter() - started, None, busy, peak_bytes=0)

    def _work(self, left: Iterator[Item]) -> float:
        """Seconds in which archives were processed, without the waits for bytes."""
        return sum(self._process(item) for item in left)

    def _process(self, item: Item) -> float:
        opened = self.source.open(item)
        content = self.source.bytes_of(item, opened)
        waiting = _Waits(content, self.stopped)
        started = time.perf_counter()
        try:
            process(item, Bytes(waiting.chunks(), waiting.read), self.work)
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

"""Download archives to the disk, and process them from there."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.range_reads import range_reader
from bucketsum.s3.source import OpenObject, Source
from bucketsum_lab.protocol.objects import chunks_of
from bucketsum_lab.protocol.page_cache import PageCache, cached_bytes, drop
from bucketsum_lab.protocol.probe import object_at
from bucketsum_lab.workloads.fetch.model import ArchiveItem, ArchiveWork, Bytes
from bucketsum_lab.workloads.fetch.pipeline import DiskQueue
from bucketsum_lab.workloads.fetch.processing import process

if TYPE_CHECKING:
    from pathlib import Path

    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class S3Items:
    """Archives in a bucket.

    Attributes:
        s3: Reads central directories of archives that are not on the disk.
        prefix: Beginning of their keys, before an item's name.
    """

    s3: S3Client
    source: Source
    bucket: str
    prefix: str

    def open(self, item: ArchiveItem) -> OpenObject:
        """See `Source.open` for the contract."""
        return self.source.open(self._object(item))

    def bytes_of(self, item: ArchiveItem, opened: OpenObject) -> Bytes:
        """The archive's bytes without a disk."""
        return Bytes(opened.chunks, range_reader(self.s3, self._object(item)))

    def _object(self, item: ArchiveItem) -> ObjectCreated:
        return object_at(self.bucket, self.prefix + item.name, item.size_bytes)


def fetch_to(
    folder: Path, source: S3Items, queue: DiskQueue, page_cache: PageCache, item: ArchiveItem
) -> Path:
    """Write an archive to *folder*, until *queue* is stopped."""
    path = folder / item.name
    opened = source.open(item)
    try:
        with path.open("wb", buffering=0) as file:
            for chunk in queue.passing(opened.chunks):
                file.write(chunk)
    finally:
        opened.chunks.close()
    if page_cache is PageCache.COLD:
        drop(path)
    return path


@dataclass(slots=True)
class DiskWorker:
    """Does *work* on archives on the disk, until *queue* is stopped."""

    queue: DiskQueue
    work: ArchiveWork
    cached_bytes: int | None = 0
    """Bytes that were in the page cache when the work on their archive began."""
    _lock: Lock = field(default_factory=Lock)

    def process(self, item: ArchiveItem, path: Path) -> None:
        """Process the archive on the disk."""
        count = cached_bytes(path)
        with self._lock:
            if count is None or self.cached_bytes is None:
                self.cached_bytes = None
            else:
                self.cached_bytes += count

        def read(offset: int, length: int) -> bytes:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)

        with closing(chunks_of(path)) as chunks:
            process(item, Bytes(self.queue.passing(chunks), read), self.work)

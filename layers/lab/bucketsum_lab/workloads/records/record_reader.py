"""Contract of a layout's reader, and the access to S3 that readers share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bucketsum.events.object_events import ObjectCreated
from bucketsum_lab.protocol.objects import file_key
from bucketsum_lab.protocol.page_cache import PageCache
from bucketsum_lab.workloads.records.concurrent_gets import ConcurrentGets


class ReadRecord(NamedTuple):
    """A record as it was read; the caller verifies it."""

    record_id: int
    data: bytes
    seconds: float | None
    """Its own time; None if it was read in a batch."""


@dataclass(frozen=True, slots=True)
class Store:
    """The data set in S3."""

    created: ObjectCreated
    """The main object."""
    records: int
    gets: ConcurrentGets
    download: Callable[[], Iterator[bytes]]
    """The data set's chunks, as the hasher reads an object."""
    download_requests: int
    """GETs of a `download`."""

    @property
    def size_bytes(self) -> int:
        """Size of the data set."""
        return self.created.size_bytes

    def file(self, name: str, size_bytes: int = 0) -> ObjectCreated:
        """The object of the file *name* beside the main one; its size if it matters."""
        key = file_key(self.created.key, name)
        return replace(self.created, key=key, size_bytes=size_bytes)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The values that a cell chooses."""

    connections: int
    block_bytes: int
    gap_bytes: int
    objects: int
    folder: Path
    """Empty; removed after the probe."""
    page_cache: PageCache = PageCache.WARM
    """When files of the folder are read."""


class RecordReader(ABC):
    """Reads records in one layout: `build`, `load`, then `fetch_records`, each once."""

    def __init__(self, store: Store, options: ReadOptions) -> None:
        self._store = store
        self._options = options
        self.requests = 0
        """Requests so far, to S3 or to DynamoDB."""
        self.bytes_read = 0
        """Bytes so far, from the network."""
        self.stored_bytes = store.size_bytes
        """Bytes of the layout with its index, once it is built."""
        self.database_server: str | None = None
        """Program and version of the database's server, if the user chose it, once it is built."""

    def build(self) -> None:  # noqa: B027 - a default
        """Make the layout from the data set, if it is not in S3."""

    def load(self) -> None:  # noqa: B027 - a default
        """Load the index into memory."""

    @abstractmethod
    def fetch_records(self, record_ids: Sequence[int]) -> Iterator[ReadRecord]:
        """Read the records, in the order in which they come.

        Raises:
            WrongRecord: There is no record of an id.
            BucketsumError: It cannot be read.
        """

    def _downloaded(self) -> Iterator[bytes]:
        """The data set's chunks, counted."""
        self.requests += self._store.download_requests
        self.bytes_read += self._store.size_bytes
        return self._store.download()


def each_timed(read: Callable[[int], bytes], record_ids: Iterable[int]) -> Iterator[ReadRecord]:
    """The records that *read* returns, with the time of each."""
    for record_id in record_ids:
        started = time.perf_counter()
        data = read(record_id)
        yield ReadRecord(record_id, data, time.perf_counter() - started)

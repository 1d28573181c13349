"""One measurement of a layout: build, load, fetch and verify, each with wall and CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum_lab.workloads.records.data_set import WrongRecord, verify

if TYPE_CHECKING:
    from bucketsum_lab.workloads.records.record_reader import RecordReader

PERCENTILES: Final = (50, 90, 99)
_MS: Final = 1000


@dataclass(slots=True)
class Phase:
    """A part of the work."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the process, all threads."""

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time of the block."""
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - wall
            self.cpu_seconds += time.process_time() - cpu


@dataclass(frozen=True, slots=True)
class Reading:
    """The phases of one reader, and the time of each record."""

    build: Phase
    load: Phase
    fetch: Phase
    records: int
    record_bytes: int
    fetch_requests: int
    fetch_bytes: int
    """From the network, as `fetch_requests` without those of the other phases."""
    record_seconds: tuple[float, ...]
    """Of each record read on its own, ascending; empty if records were read in batches."""


def reading_of(reader: RecordReader, record_ids: Sequence[int]) -> Reading:
    """Read and verify all of *record_ids*.

    Raises:
        WrongRecord: A record is wrong, or missing.
        BucketsumError: The records cannot be read.
    """
    build, load, fetch = Phase(), Phase(), Phase()
    with build.timed():
        reader.build()
    with load.timed():
        reader.load()
    record_seconds = []
    records = record_bytes = 0
    requests, bytes_read = reader.requests, reader.bytes_read
    with fetch.timed():
        for record_id, data, seconds in reader.fetch_records(record_ids):
            verify(data, record_id)
            records += 1
            record_bytes += len(data)
            if seconds is not None:
                record_seconds.append(seconds)
    if records != len(record_ids):
        raise WrongRecord(f"{records} of {len(record_ids)} records came")
    return Reading(
        build, load, fetch, records, record_bytes, reader.requests - requests,
        reader.bytes_read - bytes_read, tuple(sorted(record_seconds)),
    )  # fmt: skip


def record_ms(reading: Reading) -> dict[int, float]:
    """Milliseconds of a record by percentile; in batches, the batch's time over its records."""
    times = reading.record_seconds
    if not times:
        amortised = reading.fetch.seconds / reading.records * _MS
        return dict.fromkeys(PERCENTILES, amortised)
    last = len(times) - 1
    return {percent: times[round(last * percent / 100)] * _MS for percent in PERCENTILES}

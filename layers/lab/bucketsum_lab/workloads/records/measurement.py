"""One measurement of a layout: build, load, fetch and verify, each with wall and CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from bucketsum_lab.protocol.parameters import Statistic
from bucketsum_lab.workloads.records.data_set import WrongRecord, verify
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


def measured(reader: RecordReader, record_ids: Sequence[int], reads: int) -> dict[str, Statistic]:
    """Read and verify all of *record_ids*; returns attributes of the sample, scaled to *reads*.

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
    scale = reads / records
    fetch_seconds = fetch.seconds * scale
    bytes_read = reader.bytes_read + round((reader.bytes_read - bytes_read) * (scale - 1))
    times = sorted(record_seconds) or [fetch.seconds / records]  # of a batch over its records
    return {
        "records_read": records,
        "build_seconds": round(build.seconds, 6),
        "build_cpu_seconds": round(build.cpu_seconds, 6),
        "index_seconds": round(load.seconds, 6),
        "index_cpu_seconds": round(load.cpu_seconds, 6),
        "fetch_seconds": round(fetch_seconds, 6),
        "fetch_cpu_seconds": round(fetch.cpu_seconds * scale, 6),
        "total_seconds": round(build.seconds + load.seconds + fetch_seconds, 6),
        "records_per_s": round(reads / fetch_seconds, 3),
        "record_time": "each" if record_seconds else "amortised",
        **{
            f"record_p{percent}_ms": round(times[round((len(times) - 1) * percent / 100)] * _MS, 6)
            for percent in PERCENTILES
        },
        "requests": reader.requests + round((reader.requests - requests) * (scale - 1)),
        "bytes_read": bytes_read,
        "read_factor": round(bytes_read / (record_bytes * scale), 3),
    }

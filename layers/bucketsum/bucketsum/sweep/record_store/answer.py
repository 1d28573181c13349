"""The prober's answer for one measurement of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.sweep.probe import ProbeAnswer
from bucketsum.sweep.record_store.layouts import build_usd, read_usd
from bucketsum.sweep.record_store.measurement import record_ms

if TYPE_CHECKING:
    from bucketsum.sweep.record_store.layouts import Layout
    from bucketsum.sweep.record_store.measurement import Reading
    from bucketsum.sweep.record_store.reader import RecordReader, Store


class RecordsAnswer(ProbeAnswer, total=False):
    """An answer with the workload's own attributes; see docs/experiments.md."""

    records: int
    """In the data set."""
    records_read: int
    """Fewer than the cell's ``reads`` if the layout is sampled; the numbers below are scaled."""
    build_seconds: float
    build_cpu_seconds: float
    index_seconds: float
    index_cpu_seconds: float
    fetch_seconds: float
    fetch_cpu_seconds: float
    total_seconds: float
    """Of the three phases."""
    predicted_seconds: float
    """The model's total."""
    records_per_s: float
    """Of the fetch."""
    record_time: str
    """``each`` or ``amortised``: how the percentiles were measured."""
    record_p50_ms: float
    record_p90_ms: float
    record_p99_ms: float
    requests: int
    retries: int
    """Ranged GETs that were repeated; `requests` does not count them."""
    bytes_read: int
    """From the network."""
    read_factor: float
    """`bytes_read` over the bytes of the records wanted."""
    request_usd: float
    """Price of the requests."""
    build_usd: float
    """Price of the requests that store the layout once."""
    storage_factor: float
    """Bytes of the layout over those of its records."""
    latency_ms: float
    """Of a GET of one byte."""
    link_mb_per_s: float
    """Of one connection."""
    merged_gap_bytes: int
    """Gap over which ranges were merged."""


def own_attributes(
    layout: Layout, reads: int, store: Store, reader: RecordReader, reading: Reading
) -> RecordsAnswer:
    """The attributes of a measurement, scaled to *reads*."""
    scale = reads / reading.records
    fetch_seconds = reading.fetch.seconds * scale
    requests = round(reader.requests * scale)
    times = record_ms(reading)
    return {
        "records": store.records,
        "records_read": reading.records,
        "build_seconds": round(reading.build.seconds, 6),
        "build_cpu_seconds": round(reading.build.cpu_seconds, 6),
        "index_seconds": round(reading.load.seconds, 6),
        "index_cpu_seconds": round(reading.load.cpu_seconds, 6),
        "fetch_seconds": round(fetch_seconds, 6),
        "fetch_cpu_seconds": round(reading.fetch.cpu_seconds * scale, 6),
        "total_seconds": round(reading.build.seconds + reading.load.seconds + fetch_seconds, 6),
        "records_per_s": round(reads / fetch_seconds, 3),
        "record_time": "each" if reading.record_seconds else "amortised",
        "record_p50_ms": round(times[50], 6),
        "record_p90_ms": round(times[90], 6),
        "record_p99_ms": round(times[99], 6),
        "requests": requests,
        "bytes_read": round(reader.bytes_read * scale),
        "read_factor": round(reader.bytes_read / reading.record_bytes, 3),
        "request_usd": read_usd(layout, requests, reads),
        "build_usd": build_usd(layout, store.records, store.size_bytes),
        "storage_factor": round(reader.stored_bytes / store.size_bytes, 4),
    }

"""Statistics of the cells of the workload ``records``."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum_lab.protocol.workload_statistics import WorkloadStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsStatistics(WorkloadStatistics):
    """Medians of the samples, scaled to the reads of the setting."""

    records: float
    records_read: float
    build_seconds: float
    build_cpu_seconds: float
    index_seconds: float
    index_cpu_seconds: float
    fetch_seconds: float
    fetch_cpu_seconds: float
    total_seconds: float
    predicted_seconds: float
    records_per_s: float
    record_time: str
    """``each`` or ``amortised``: how the percentiles were measured."""
    record_p50_ms: float
    record_p90_ms: float
    record_p99_ms: float
    requests: float
    """Without `retries`."""
    retries: float
    bytes_read: float
    """From the network."""
    read_factor: float
    """`bytes_read` ÷ the bytes of the records wanted."""
    request_usd: float
    build_usd: float
    storage_factor: float
    """Bytes of the layout ÷ the bytes of the records."""
    latency_ms: float
    link_mb_per_s: float
    merged_gap_bytes: float | None = None
    database_server: str | None = None
    """Program and version, if the user chose the server."""

"""Statistics of the cells of the workload ``transfer``."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum_lab.protocol.workload_statistics import WorkloadStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferStatistics(WorkloadStatistics):
    """Statistics of the times of all files in all samples."""

    files: int
    threads: int
    file_min_ms: float
    file_p50_ms: float
    file_p90_ms: float
    file_p99_ms: float | None = None
    """Only of many files."""
    file_max_ms: float
    file_mean_ms: float
    first_byte_p50_ms: float | None = None
    """None if the client does not report it."""

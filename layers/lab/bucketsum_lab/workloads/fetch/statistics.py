"""Statistics of the cells of the workload ``fetch``."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum_lab.protocol.workload_statistics import WorkloadStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStatistics(WorkloadStatistics):
    """Medians of the samples; without a disk there is one stage."""

    items: int
    fetch_ms: int | None = None
    """Time in which archives were fetched."""
    work_ms: int
    """Time in which each worker was busy, on average."""
    fetch_idle_ms: int | None = None
    """The rest of the wall time of fetching."""
    work_idle_ms: int
    sum_ms: int | None = None
    """The model of one stage after the other."""
    max_ms: int | None = None
    """The model in which only the longer stage counts."""
    disk_peak_bytes: int | None = None
    disk_read_bytes: int | None = None
    disk_written_bytes: int | None = None
    cached_bytes: int | None = None
    """Bytes that were in the page cache when the work on them began."""

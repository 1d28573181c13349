"""Statistics of the cells of the workload ``unzip``."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum_lab.protocol.workload_statistics import WorkloadStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class UnzipStatistics(WorkloadStatistics):
    """The contents of the archive."""

    members: int
    directories: int
    member_bytes: int

"""View of the workload ``unzip``."""

from __future__ import annotations

from typing import Final

from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView, text_of
from bucketsum_lab.workloads.unzip.workload import UnzipStatistics

_MEMBERS: Final = text_of(UnzipStatistics, lambda own: f"{own.members:,} in {own.directories:,}")

UNZIP: Final = WorkloadView((TableColumn("members", "files in folders", _MEMBERS),))

"""The registry of the workloads that have columns and rows of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum.sweep.workloads import WorkloadName
from bucketsum_cli.tune.workloads.fetch import FetchView
from bucketsum_cli.tune.workloads.records import RecordsView
from bucketsum_cli.tune.workloads.transfer import TransferView
from bucketsum_cli.tune.workloads.unzip import UnzipView
from bucketsum_cli.tune.workloads.view import OwnColumn, WorkloadView

if TYPE_CHECKING:
    from collections.abc import Mapping

VIEWS: Final[Mapping[WorkloadName, WorkloadView]] = {
    **dict.fromkeys(WorkloadName, WorkloadView()),
    WorkloadName.UNZIP: UnzipView(),
    WorkloadName.RECORDS: RecordsView(),
    WorkloadName.FETCH: FetchView(),
    WorkloadName.TRANSFER: TransferView(),
}


def view_of(name: str) -> WorkloadView:
    """The view of the workload of that name."""
    return VIEWS[WorkloadName(name)]


OWN_COLUMNS: Final[Mapping[str, OwnColumn]] = {
    column.name: column for view in VIEWS.values() for column in view.columns
}
"""The own columns of all workloads by name."""

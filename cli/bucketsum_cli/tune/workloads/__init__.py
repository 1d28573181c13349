"""The registry of the workloads that have columns and rows of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.workloads.fetch import FETCH
from bucketsum_cli.tune.workloads.records import RECORDS
from bucketsum_cli.tune.workloads.transfer import TRANSFER
from bucketsum_cli.tune.workloads.unzip import UNZIP
from bucketsum_cli.tune.workloads.view import WorkloadView
from bucketsum_lab.workloads import WorkloadName

if TYPE_CHECKING:
    from collections.abc import Mapping

VIEWS: Final[Mapping[WorkloadName, WorkloadView]] = {
    WorkloadName.UNZIP: UNZIP,
    WorkloadName.RECORDS: RECORDS,
    WorkloadName.FETCH: FETCH,
    WorkloadName.TRANSFER: TRANSFER,
}


def view_of(name: str) -> WorkloadView:
    """The view of the workload of that name."""
    return VIEWS.get(WorkloadName(name), WorkloadView())

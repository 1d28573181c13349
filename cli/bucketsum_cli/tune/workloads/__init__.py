"""The registry of the command's parts of workloads; see CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.workload_view import WorkloadView
from bucketsum_cli.tune.workloads.fetch.view import FETCH
from bucketsum_cli.tune.workloads.records.view import RECORDS
from bucketsum_cli.tune.workloads.transfer.view import TRANSFER
from bucketsum_cli.tune.workloads.unzip.view import UNZIP
from bucketsum_lab.workloads import WorkloadName

if TYPE_CHECKING:
    from bucketsum_cli.tune.plots.plot import Plots

VIEWS: Final[Mapping[WorkloadName, WorkloadView]] = {
    WorkloadName.UNZIP: UNZIP,
    WorkloadName.RECORDS: RECORDS,
    WorkloadName.FETCH: FETCH,
    WorkloadName.TRANSFER: TRANSFER,
}
_WITHOUT_OWN: Final = WorkloadView()


def view_of(name: WorkloadName | None) -> WorkloadView:
    """The view of a workload; the default view for an unknown workload."""
    return VIEWS.get(name, _WITHOUT_OWN) if name else _WITHOUT_OWN


def plots_of(name: WorkloadName | None) -> Plots:
    """The plots of a workload.

    Raises:
        ModuleNotFoundError: The plotting library is not installed.
    """
    plots: Plots = resolve_name(f"{view_of(name).plots}:PLOTS")
    return plots


def add_programs(name: WorkloadName) -> None:
    """Let the probe of a workload use what Lambda does not have, for a sweep on this machine."""
    if function := view_of(name).programs:
        resolve_name(function)()

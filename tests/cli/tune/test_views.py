"""Views of workloads: their own columns, plots and rows."""

from __future__ import annotations

from typing import Final

from tests.cli.tune.sweeps import grid_results

from bucketsum_cli.tune.report.page import PLOTS
from bucketsum_cli.tune.table import columns_of
from bucketsum_cli.tune.workloads import VIEWS
from bucketsum_lab.workloads import WORKLOADS

OF_EVERY_RUN: Final = [
    "object", "memory_used", "runs", "average", "median", "median_seconds", "spread", "usd_per_gb",
    "remarks",
]  # fmt: skip
"""Names of the columns that do not depend on the workload."""


def test_each_plot_has_a_view() -> None:
    """A name without a view would end the report with an error."""
    for workload in WORKLOADS.values():
        assert set(workload.plots) <= set(PLOTS)


def test_every_run_has_these_columns() -> None:
    """The terminal has no room for the median seconds."""
    run = grid_results()
    assert [column.name for column in columns_of(run, in_report=True)] == OF_EVERY_RUN
    shown = [column.name for column in columns_of(run, in_report=False)]
    assert shown == [name for name in OF_EVERY_RUN if name != "median_seconds"]


def test_columns_have_names_of_their_own() -> None:
    """A name stands for one column, whatever the workload."""
    own = [column.name for view in VIEWS.values() for column in view.columns]
    assert len({*OF_EVERY_RUN, *own}) == len(OF_EVERY_RUN) + len(own)

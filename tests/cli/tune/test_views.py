"""Views of workloads: their own columns, plots and rows."""

from __future__ import annotations

from bucketsum.sweep.workloads import WORKLOADS
from bucketsum_cli.tune.report.page import PLOTS


def test_each_plot_has_a_view() -> None:
    """A name without a view would end the report with an error."""
    for workload in WORKLOADS.values():
        assert set(workload.plots) <= set(PLOTS)

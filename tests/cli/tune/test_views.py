"""Views of workloads: their own columns, plots and rows."""

from __future__ import annotations

from bucketsum.sweep.workloads import WORKLOADS
from bucketsum_cli.tune.report.plot_kinds import PLOTS
from bucketsum_cli.tune.workloads import OWN_COLUMNS, VIEWS


def test_each_column_and_plot_has_a_view() -> None:
    """A name without a view would end the table or the report with an error."""
    for name, workload in WORKLOADS.items():
        assert tuple(column.name for column in VIEWS[name].columns) == workload.columns
        assert set(workload.plots) <= set(PLOTS)
    assert len(OWN_COLUMNS) == sum(len(view.columns) for view in VIEWS.values())

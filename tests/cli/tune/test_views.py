"""Views of workloads: their own columns, plots and rows."""

from pkgutil import resolve_name
from typing import Final

import pytest
from tests.cli.tune.sweeps import a_run, grid_results

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.report.export import results_as_csv, rows_as_csv
from bucketsum_cli.tune.report.table import columns_of
from bucketsum_cli.tune.results import assembled
from bucketsum_cli.tune.workloads import VIEWS, plots_of
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.workloads import WorkloadName

OF_EVERY_RUN: Final = [
    "object", "memory_used", "runs", "average", "median", "median_seconds", "objects_per_hour",
    "spread", "usd_per_tb", "remarks",
]  # fmt: skip
"""Names of the columns that do not depend on the workload."""


def test_each_view_finds_its_modules() -> None:
    """They are named by a text, which no type checker reads."""
    for name in (*WorkloadName, None):
        assert plots_of(name)
    assert all(callable(resolve_name(view.programs)) for view in VIEWS.values() if view.programs)


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


def test_a_run_of_an_unknown_workload_has_the_columns_of_none() -> None:
    """The planner refused it; it is not taken for one that is known."""
    refused = assembled(a_run(input={"workload": "juggle"}, status=RunStatus.FAILED), [], [])
    assert (refused.workload, refused.workload_name) == (None, None)
    assert [column.name for column in columns_of(refused, in_report=True)] == OF_EVERY_RUN
    assert "workload" not in results_as_csv(refused)
    with pytest.raises(CannotDoError, match="no parts of samples"):
        rows_as_csv(refused)

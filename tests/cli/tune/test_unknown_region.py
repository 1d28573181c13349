"""A sweep in a Region whose prices are not known says whose prices it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.state_machine import StateMachine
from tests.cli.tune.sweeps import a_grid, a_run

from bucketsum.prices import prices_in
from bucketsum_cli.tune import sweeper


@pytest.mark.usefixtures("undrawn")
def test_an_unknown_region_is_named_in_plan_table_and_report(
    run: Run,
    state_machine: StateMachine,
    monkeypatch: pytest.MonkeyPatch,
    record: Callable[..., object],
    tmp_path: Path,
) -> None:
    """Costs that are those of another Region never look like the own Region's."""
    assert state_machine.inputs == []
    record(*a_grid((512,)), a_run(region="mx-central-1", priced_as="us-east-1"))
    shown = "prices of us-east-1 of 2026-11-01, as those of mx-central-1 are not known"
    assert shown in run("tune", "show", "last").out
    page = tmp_path / "report.html"
    assert run("tune", "report", "last", "--output", page).status == 0
    assert "us-east-1: prices of mx-central-1 are not known" in page.read_text(encoding="utf-8")
    monkeypatch.setattr(sweeper, "prices_in", lambda _, cpu: prices_in("mx-central-1", cpu))
    axes = ("--memory", "512", "--chunk", "256KiB", "--object-size", "20MB")
    assert shown in run("tune", "run", *axes, "--dry-run").err

"""The lab's parts in the product's commands: running sweeps, a check, completion."""

from dataclasses import replace
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.state_machine import StateMachine

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.tune.registration import running_sweeps
from bucketsum_cli.tune import progress
from bucketsum_cli.tune.report.export import run_as_json
from bucketsum_lab.protocol.run_records import Run as SweepRun
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.results.measurements_table import MeasurementsTable


def test_status_lists_the_sweeps_that_run(stack: Stack, measurements: MeasurementsTable) -> None:
    """A sweep that has ended is not listed; a stack of an older version has none."""
    for name, status in (("a", RunStatus.RUNNING), ("b", RunStatus.SUCCEEDED)):
        measurements.record_run(SweepRun(name, status, f"2026-11-21T10:00:0{name}Z"))
    assert list(running_sweeps(stack)) == ["a"]
    assert list(running_sweeps(replace(stack, outputs={}))) == []


def sweep_check(run: Run) -> dict[str, Any]:
    """The result of the self-test's check of sweeps, after which everything is deleted."""
    checks = run("selftest", "--yes", "--json", "--only", "sweep").document["checks"]
    assert checks[-1]["outcome"] == "passed", checks
    result: dict[str, Any] = checks[0]
    return result


@pytest.mark.parametrize(("fails", "outcome"), [(False, "passed"), (True, "failed")])
def test_the_self_test_sweeps(
    run: Run,
    stack: Stack,
    state_machine: StateMachine,
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,  # noqa: FBT001 - a parameter of the test
    outcome: str,
) -> None:
    """A sweep whose samples fail fails the self-test; its items do not stay in either case."""
    monkeypatch.setattr(progress, "SETTLING_SECONDS", 0.0)
    state_machine.fails = lambda cell: fails and cell.setting.memory_mb == 128
    check = sweep_check(run)
    assert (check["outcome"], "PARTIAL" in check["detail"]) == (outcome, fails)
    measurements = stack.outputs["MeasurementsTableName"]
    assert stack.client("dynamodb").scan(TableName=measurements)["Count"] == 0


def test_times_have_the_format_of_all_documents() -> None:
    """UTC with milliseconds."""
    started = "2026-11-21T10:00:00.123456+00:00"
    document = run_as_json(SweepRun("id", RunStatus.RUNNING, started))
    assert (document["started_at"], document["ended_at"]) == ("2026-11-21T10:00:00.123Z", None)


@pytest.mark.usefixtures("measurements")
def test_names_of_runs_are_completed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest has the name last."""
    monkeypatch.setenv("_BUCKETSUM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "bucketsum tune show la")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().out.split() == ["plain,last"]

"""The sweep that `make demo` ends with."""

import json
from pathlib import Path

import pytest
from tests.cli.tune.state_machine import StateMachine

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.tune.registration import demonstrate_sweep
from bucketsum_cli.emulator.emulator_state import LocalProject

QUICK = Path(__file__).parents[3] / "events" / "sweep-quick.json"
SWEEP = json.loads(QUICK.read_text()) | {"memory_mb": [128, 512], "streams": [1], "runs": 2}
"""The quick sweep with fewer samples, which take most of the time."""


@pytest.fixture
def project(tmp_path: Path) -> LocalProject:
    """A folder with a sweep like the quick one that ships."""
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / QUICK.name).write_text(json.dumps(SWEEP))
    project = LocalProject.at(tmp_path)
    project.home.mkdir()
    return project


@pytest.mark.parametrize("as_json", [False, True])
def test_it_runs_the_quick_sweep_and_names_its_report(
    project: LocalProject,
    stack: Stack,
    state_machine: StateMachine,
    capsys: pytest.CaptureFixture[str],
    as_json: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A person ends with the table and the report's path; a program's stdout is not disturbed."""
    assert demonstrate_sweep(project, stack, as_json) is True
    printed = capsys.readouterr()
    report = project.home / "sweep.html"
    assert state_machine.inputs == [SWEEP]
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    if as_json:
        assert printed.out == ""
    else:
        assert "recommended: " in printed.out
        assert "tune apply" not in printed.out  # the stack is stopped then
    assert f"report: {report}" in printed.out + printed.err


def test_it_tells_where_something_was_not_measured(
    project: LocalProject, stack: Stack, state_machine: StateMachine
) -> None:
    """A demonstration that measured half is not a success."""
    state_machine.fails = lambda cell: cell.setting.memory_mb == 128
    assert demonstrate_sweep(project, stack, True) is False

"""`bucketsum tune run`: the plan, the question, the start, the progress, the end."""

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from tests.cli.conftest import Run
from tests.cli.deployed import NAME, deploy
from tests.cli.tune.conftest import Record
from tests.cli.tune.state_machine import MissingExecution, StateMachine
from tests.cli.tune.sweeps import a_grid, a_run

from bucketsum.prices import prices_in
from bucketsum_cli.commands.tune.run import run as run_command
from bucketsum_cli.tune import progress, sweeper
from bucketsum_lab.workloads import WORKLOADS

AXES = ("--memory", "512,1024", "--chunk", "256KiB,1MB", "--object-size", "20MB")


def test_help_has_every_value_of_the_workloads_own_options() -> None:
    """Each name that a parameter allows, and both ends of a range of numbers."""
    helps = {option.name: getattr(option, "help", "") for option in run_command.params}
    for workload in WORKLOADS.values():
        for parameter in workload.parameters:
            words = set(re.split(r"[\s.()]+", helps[parameter.name].replace(",", "")))
            allowed = parameter.allowed
            values = (allowed[0], allowed[-1]) if isinstance(allowed, range) else allowed
            assert {str(value) for value in values} <= words, parameter.name


def test_help_has_the_options_of_the_named_workload_alone(run: Run) -> None:
    """Forty options hide the ten that everybody needs."""
    assert "--block-bytes" not in run("tune", "run", "--help").out
    shown = run("tune", "run", "--workload", "records", "--help").out
    assert "--block-bytes" in shown
    assert "--destination" not in shown


def test_an_option_takes_the_names_and_the_numbers_of_its_parameter(
    run: Run, state_machine: StateMachine
) -> None:
    """Numbers are numbers in the input, also of a parameter whose default is a name."""
    options = "--workload unzip --object-size 100MB --mode tmp --archive-threads auto,4 --yes"
    run("tune", "run", *AXES, *options.split(), "--no-wait")
    assert state_machine.inputs[0]["archive_threads"] == ["auto", 4]


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_plan_price_and_time_come_first_and_no_starts_nothing(
    run: Run, state_machine: StateMachine, answer: str
) -> None:
    """The question follows cells, samples, seconds and dollars; no answer is a no, status 1."""
    ended = run("tune", "run", *AXES, answer=answer)
    assert (ended.status, ended.out, state_machine.inputs) == (1, "", [])
    assert "5 cells × 5 runs: 28 samples" in ended.err
    assert "deployed    256 MB, to compare with" in ended.err
    assert "takes       about" in ended.err
    assert "USD (Lambda in us-east-1 on arm64, prices of 2" in ended.err
    assert "not started" in ended.err


def test_yes_is_asked_for_and_starts_what_the_options_say(
    run: Run, state_machine: StateMachine
) -> None:
    """Options become the fields of the input that any other client would send."""
    run(
        "tune", "run", *AXES, "--runs", 5, "--strategy", "fastest", "--no-wait", answer="y\n"
    ).assert_done()
    assert state_machine.inputs == [
        {
            "memory_mb": [512, 1024],
            "chunk_bytes": [262144, 1_000_000],
            "object_bytes": [20_000_000],
            "runs": 5,
            "strategy": {"name": "fastest"},
        }
    ]


def test_the_end_is_the_table_and_the_recommendation(run: Run, state_machine: StateMachine) -> None:
    """A sweep that succeeded ends with its recommendation; every cell had its progress."""
    ended = run("tune", "run", *AXES, "--yes").assert_done()
    assert "512 MB Memory / 256 KiB Chunk Size" in ended.out
    assert "recommended: 256 MB, " in ended.out
    watched = [line for line in ended.err.splitlines() if "5 of 5" in line]
    assert len(watched) == 5
    assert state_machine.stopped is False


@pytest.mark.parametrize(
    ("failing", "status", "word"),
    [({512}, 1, "PARTIAL"), ({256, 512, 1024}, 2, "FAILED")],
)
def test_exit_status_says_whether_all_some_or_nothing_was_measured(
    run: Run, state_machine: StateMachine, failing: set[int], status: int, word: str
) -> None:
    """1 where something is missing, 2 where nothing was measured; the cause is shown."""
    state_machine.fails = lambda cell: cell.setting.memory_mb in failing
    ended = run("tune", "run", *AXES, "--yes")
    assert ended.status == status
    assert word in ended.out
    assert "failed with Sandbox.Timedout: it timed out" in ended.out


@pytest.mark.parametrize(
    ("question", "judges", "ending"),
    [
        (5, True, "STOPPED; `bucketsum tune show 2"),
        (5, False, "the clean-up is not confirmed yet"),
        (0, True, "it had not recorded anything yet"),
    ],
    ids=["in mid-run", "the stack does not answer", "before the first record"],
)
def test_ctrl_c_stops_the_execution_and_says_what_is_left(
    run: Run,
    state_machine: StateMachine,
    monkeypatch: pytest.MonkeyPatch,
    question: int,
    ending: str,
    *,
    judges: bool,
) -> None:
    """Nothing runs on; the error names the run with its samples so far, if there is one."""
    if not judges:
        monkeypatch.setattr(progress, "SETTLING_SECONDS", 0.0)
    state_machine.judges = judges
    questions = count()

    def interrupt() -> None:
        if next(questions) == question:
            raise KeyboardInterrupt

    state_machine.on_question = interrupt
    ended = run("tune", "run", *AXES, "--yes")
    assert ended.status == 130
    assert state_machine.stopped is True
    assert "removes the versions" in ended.err
    assert ending in ended.err


def test_describing_may_lag_behind_starting(run: Run, state_machine: StateMachine) -> None:
    """An execution that is not known yet is one that has just begun."""
    lag = iter([True, True])

    def not_yet() -> None:
        if next(lag, False):
            raise MissingExecution

    state_machine.on_question = not_yet
    assert run("tune", "run", *AXES, "--yes").status == 0


def test_an_execution_that_fails_before_it_records_tells_why(
    run: Run, state_machine: StateMachine
) -> None:
    """The cause that Step Functions knows reaches the person."""
    state_machine.refuses = "runs is 0"
    run("tune", "run", *AXES, "--yes").assert_refused("FAILED BadSweep: runs is 0")


@pytest.mark.parametrize("command", [["run", *AXES], ["list"]])
@mock_aws
def test_a_stack_without_sweeps_is_refused(run: Run, command: list[str]) -> None:
    """With Sweeps "no", the one error of `tune` names the parameter to deploy with."""
    deploy()
    run("tune", *command).assert_refused(f"stack {NAME} was deployed without sweeps", "Sweeps=yes")


def test_json_is_the_whole_run(run: Run, state_machine: StateMachine) -> None:
    """One document on stdout: run, cells with statistics, samples."""
    document = run("tune", "run", *AXES, "--yes", "--json").document
    assert document["run"]["status"] == "SUCCEEDED"
    assert document["run"]["input"] == state_machine.inputs[0]
    assert [cell["n"] for cell in document["cells"]] == [5] * 5
    assert len(document["samples"]) == 25


def test_not_waiting_prints_the_name_and_leaves_the_sweep_alone(
    run: Run, state_machine: StateMachine
) -> None:
    """The name is the execution's, so that every other tool finds it by it."""
    document = run("tune", "run", *AXES, "--yes", "--no-wait", "--json").document
    assert document["execution_arn"] == f"SweepStateMachineArn:{document['run_id']}"
    assert len(state_machine.inputs) == 1


def test_an_error_in_an_option_names_the_option_beside_a_file(
    run: Run, state_machine: StateMachine, tmp_path: Path
) -> None:
    """The file's fields keep their names; dollars are given per TB and sent per GB."""
    file = tmp_path / "sweep.json"
    file.write_text(json.dumps({"object_bytes": [0], "chunk_bytes": [65_536]}))
    run("tune", "run", file, "--memory", 1).assert_refused("object_bytes[0] is 0")
    file.write_text(json.dumps({"object_bytes": [1_000_000], "chunk_bytes": [65_536]}))
    run("tune", "run", file, "--memory", 1).assert_refused("--memory is 1, not a whole number")
    limit = ("--strategy", "fastest-below", "--usd-per-tb", "0.1")
    assert run("tune", "run", file, "--memory", 512, *limit, "--yes", "--no-wait").status == 0
    assert state_machine.inputs[0]["strategy"] == {"name": "fastest-below", "usd_per_gb": 0.0001}


def test_options_win_over_the_file(run: Run, state_machine: StateMachine, tmp_path: Path) -> None:
    """Two axes as options take the place of the file's pairs; what is not named stays."""
    file = tmp_path / "sweep.json"
    pairs = [{"memory_mb": 128, "chunk_bytes": 1_000_000}]
    file.write_text(json.dumps({"pairs": pairs, "object_bytes": [5_000_000], "runs": 2}))
    assert (
        run("tune", "run", file, "--memory", 256, "--chunk", "1MiB", "--yes", "--no-wait").status
        == 0
    )
    assert state_machine.inputs == [
        {"memory_mb": [256], "chunk_bytes": [1_048_576], "object_bytes": [5_000_000], "runs": 2}
    ]


def test_cells_that_cannot_run_are_named_before_the_start(
    run: Run, state_machine: StateMachine
) -> None:
    """A chunk that memory cannot hold is known without paying for it."""
    ended = run("tune", "run", *AXES, "--memory", 128, "--chunk", "50MB,1MB", "--dry-run")
    assert "not run     chunk_bytes is 50000000 and streams auto; 2 chunks do not fit" in ended.err
    assert state_machine.inputs == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a file such as events/sweep-quick.json"),
        (("none.json",), "none.json cannot be read: No such file"),
        (("--memory", "512", "--chunk", "1 parsec", "--object-size", "1MB"), "is not a valid size"),
        (("--confine", "foo"), "'foo' is not one of 'none', 'memory', 'lambda'."),
        (("--workload", "foo"), "is not one of " + ", ".join(map(repr, map(str, WORKLOADS)))),
        ((*AXES, "--weight", "0.5"), "need a --strategy"),
        ((*AXES, "--max-usd", "0.0000001"), "above the limit of 0.0000001 (--max-usd)"),
        (("--memory", "128"), "give either --object-size (sizes"),
        (("--memory", "128", "--object-size", "1MB", "--streams", "4"), "--chunk is missing"),
        (("--memory", "512", "--chunk", "1MB", "--key", "no/such.bin"), "no/such.bin', which is"),
    ],
)
@pytest.mark.usefixtures("state_machine", "sweep_bucket")
def test_what_cannot_run_is_refused_with_what_to_change(
    run: Run, arguments: tuple[Any, ...], message: str
) -> None:
    """Nothing is started that the planner would refuse, and the text names the field."""
    run("tune", "run", *arguments, "--yes").assert_refused(message)


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"runs": ' + b"9" * 5_000 + b"}", "cannot be read as JSON: Exceeds the limit"),
        (b'{"keys": ["\xff"]}', "cannot be read as JSON: 'utf-8' codec"),
        (b'{"keys": ["\\ud800"], "memory_mb": [512], "chunk_bytes": [262144]}', "keys has a"),
        (b'{"object_bytes": [1]}', "cannot run: memory_mb is missing"),
        (b'{"memory_mb": null, "object_bytes": [1]}', "memory_mb is null, not a list"),
        (b"[]", "is not a JSON object; see docs/reference/sweeps.md"),
        (b" " * 1_000_001, "is too large for the input of a sweep: more than 1,000,000 bytes"),
    ],
)
@pytest.mark.usefixtures("state_machine", "sweep_bucket")
def test_a_file_that_is_no_input_is_refused_in_a_sentence(
    run: Run, tmp_path: Path, content: bytes, reason: str
) -> None:
    """Deep, huge or broken files end with status 2 and the reason, never with a traceback."""
    file = tmp_path / "sweep.json"
    file.write_bytes(content)
    run("tune", "run", file, "--dry-run").assert_refused(reason)


def test_a_device_is_not_read(run: Run) -> None:
    """A device may never end, so only regular files are read."""
    run("tune", "run", "/dev/zero", "--dry-run").assert_refused("/dev/zero is not a regular file")


def test_a_plan_in_which_no_cell_can_run_is_not_started(
    run: Run, state_machine: StateMachine
) -> None:
    """Status 2, with the reasons in the plan; nouns agree with their numbers."""
    cell = ("--workload", "transfer", "--memory", 128, "--chunk", "100MB", "--runs", 1)
    ended = run("tune", "run", *cell, "--yes")
    assert (ended.status, state_machine.inputs) == (2, [])
    assert "1 cell × 1 run: 0 samples" in ended.err
    assert "no cell of this sweep can run; the plan gives the reasons" in ended.err


@pytest.mark.usefixtures("undrawn")
def test_an_unknown_region_is_named_in_plan_table_and_report(
    run: Run,
    state_machine: StateMachine,
    monkeypatch: pytest.MonkeyPatch,
    record: Record,
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
    assert shown in run("tune", "run", *AXES, "--memory", "512", "--dry-run").err

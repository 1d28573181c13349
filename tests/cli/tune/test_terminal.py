"""Sweeps on a terminal: bars that move, tables that fit, nothing cut."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import HOSTILE
from tests.cli.tune.conftest import Record
from tests.cli.tune.state_machine import StateMachine
from tests.cli.tune.sweeps import MIB, a_cell, a_grid, good_samples, seconds_in

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

AXES = ("--memory", "512,1024", "--chunk", "256KiB,1MB", "--object-size", "20MB", "--yes")


@pytest.mark.usefixtures("state_machine")
def test_a_terminal_sees_a_bar_for_the_sweep_and_for_each_cell(
    run: Run, terminal: Callable[[int], None]
) -> None:
    """Each bar ends full, with the cell's speed beside it."""
    terminal(120)
    ended = run("tune", "run", *AXES)
    seen = STYLE.sub("", ended.err)
    assert ended.status == 0
    assert re.search(r"all samples .*28 of 28", seen)
    assert len(set(re.findall(r"(\S+ MB / \S+ \S+ / 20.0 MB) .*5 of 5 +\S+ MB/s", seen))) == 5


def test_bars_that_do_not_fit_give_way(
    run: Run,
    state_machine: StateMachine,
    terminal: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a low terminal the cells at work stay in sight; those that are done go."""
    terminal(120)
    monkeypatch.setenv("LINES", "6")
    ended = run("tune", "run", *AXES)
    last = STYLE.sub("", ended.err).rsplit("all samples", 1)[1]
    assert "28 of 28" in last
    assert last.count("5 of 5") < 5
    assert state_machine.stopped is False


def test_a_narrow_terminal_shows_every_runs_seconds(
    run: Run, record: Record, terminal: Callable[[int], None]
) -> None:
    """Forty runs are folded over lines, and none is left out."""
    terminal(100)
    cell = a_cell(512, MIB)
    samples = good_samples(cell, 40)
    record([cell], samples)
    shown = STYLE.sub("", run("tune", "show", "last").out)
    assert len(re.findall(r"\b\d\.\d{3}(?= |\n)", shown)) >= len(samples)
    for sample in samples:
        assert f"{seconds_in(sample):.3f}" in shown


def test_80_columns_break_no_remark_and_keep_an_object_beside_its_numbers(
    run: Run, record: Record, terminal: Callable[[int], None]
) -> None:
    """The default terminal folds between remarks, never in a word or behind a sign."""
    terminal(80)
    record(*a_grid(memories=(512, 1769), chunks=(MIB,)))
    shown = STYLE.sub("", run("tune", "show", "last").out)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("100.0 MB ") for line in lines) == 2
    assert not [line for line in lines if line.endswith("≈")]
    assert "≈ fastest" in shown.partition("MB/s: from")[0]
    assert "recommended" in shown.partition("MB/s: from")[0]


def test_columns_agree_between_groups(
    run: Run, record: Record, terminal: Callable[[int], None]
) -> None:
    """Headings stand between the rows, and the numbers of all groups below each other."""
    cells, samples = a_grid(memories=(128, 1769), chunks=(MIB,))
    record(cells, samples)
    piped = run("tune", "show", "last").out
    terminal(120)
    for shown in (piped, STYLE.sub("", run("tune", "show", "last").out)):
        costs = [
            [*re.finditer(r" 0\.\d{3,}", line)][-1]
            for line in shown.splitlines()
            if line.startswith("100.0 MB")
        ]
        assert len({len(cost[0]) for cost in costs}) == 2  # or it would not show
        assert len({cost.end() for cost in costs}) == 1


def test_csv_on_a_terminal_cannot_act_on_it(
    run: Run, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person sees escapes; a program gets the key as it is, with colours that it names."""
    key = f"\x1b[31m{HOSTILE}"
    cell = a_cell(512, MIB, key=key)
    record([cell], good_samples(cell))
    assert key in run("tune", "export", "last", "--format", "csv").out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = run("tune", "export", "last", "--format", "csv").out
    assert HOSTILE not in shown
    assert shown.replace("\n", "").isprintable()


@pytest.mark.usefixtures("undrawn")
def test_report_and_export_name_the_file(run: Run, record: Record, tmp_path: Path) -> None:
    """A program gets the path of the file that was written; without a file, the document."""
    cells, samples = a_grid(memories=(512,), chunks=(MIB,))
    run_id = record(cells, samples).run_id
    page, table = tmp_path / "report.html", tmp_path / "samples.csv"
    assert run("tune", "report", "last", "-o", page).out.strip() == str(page)
    assert "<title>Hashing objects of 100 MB: 512 MB is best</title>" in page.read_text("utf-8")
    ended = run("tune", "report", "last", "-o", page, "--json")
    assert ended.document == {"run_id": run_id, "file": str(page)}
    ended = run("tune", "export", "last", "--format", "csv", "-o", table, "--json")
    assert ended.document == {"run_id": run_id, "format": "csv", "file": str(table)}
    assert run("tune", "export", "last", "--json").document["run"]["run_id"] == run_id
    assert run("tune", "export", "last", "-o", "-").document["run"]["run_id"] == run_id
    assert run("tune", "report", "last", "-o", "-").out.startswith("<!DOCTYPE html>")
    run("tune", "export", "last", "--format", "csv", "--json").assert_refused(
        "--json cannot be used with --format csv"
    )
    run("tune", "report", "last", "-o", "-", "--json").assert_refused("--json cannot be used with")

"""Sweeps that transfer data sets in the command: table, page and rows."""

import csv
import io
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.state_machine import StateMachine
from tests.cli.tune.sweeps import (
    MIB,
    a_cell,
    a_run,
    a_sample,
    failed_samples,
    good_samples,
    results,
)

from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.parameters import Statistic
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads.transfer import file_times
from bucketsum_lab.workloads.transfer.file_times import P99_FROM, FileTime

FILES: Final = 4
INPUT: Final = {
    "workload": "transfer", "object_bytes": [6_248_192], "memory_mb": [512, 1769],
    "pattern": ["serial", "limited:2"], "client": ["libcurl", "boto3"], "runs": 5,
}  # fmt: skip
RUN: Final = a_run(input=INPUT)


def cells_of(**fields: Any) -> list[CellRow]:  # noqa: ANN401 - any JSON
    """The planned cells of the input with *fields*."""
    return [cell.row for cell in plan_of(SweepInput.from_json(INPUT | fields)).cells]


def transferred(cell: CellRow, files: int = FILES) -> list[Sample]:
    """Five good samples; file n takes n tenths of a second."""
    times = [
        FileTime(1_562_048, 0.0, 0.001, 0.002 * number, 0.1 * number)
        for number in range(1, files + 1)
    ]
    own: dict[str, Statistic] = {
        "files": files,
        "threads": 2,
        "file_times": file_times.written(times),
    }
    return [replace(a_sample(cell, run, 1), own=own) for run in range(1, 6)]


def test_the_table_has_the_times_of_files(run: Run, record: Record) -> None:
    """The slowest is called the longest time: so few files have no 99th percentile."""
    cells = cells_of()
    record(cells, [sample for cell in cells for sample in transferred(cell)], RUN)
    shown = run("tune", "show", "last").out
    assert "file p50 ms" in shown
    assert shown.count("max 400.0") == len(cells)
    assert shown.count("250.0") == len(cells)
    assert "512 MB Memory / serial / libcurl / to tmp / cold / burst" in shown
    assert "Chunk Size" not in shown
    assert "recommended: nothing (transfers are measured to compare" in shown


def test_many_files_have_a_99th_percentile(run: Run, record: Record) -> None:
    """From a thousand times on."""
    cell = cells_of(memory_mb=[512], pattern=["serial"], client=["libcurl"])[0]
    record([cell], transferred(cell, P99_FROM // 5), RUN)
    shown = run("tune", "show", "last").out
    assert "p99 19,8" in shown
    assert "max" not in shown


def test_rows_are_those_of_fractos(run: Run, record: Record) -> None:
    """A line for each file of each run, and none for a sample that failed."""
    first, *others = cells_of()
    samples = [sample for cell in others for sample in transferred(cell)]
    record([first, *others], [*failed_samples(first, "no room"), *samples], RUN)
    text = run("tune", "export", "last", "--format", "rows").out
    lines = [*csv.DictReader(io.StringIO(text))]
    assert len(lines) == len(others) * 5 * FILES
    assert [line["took_ms"] for line in lines[:FILES]] == ["100.0", "200.0", "300.0", "400.0"]
    assert (lines[0]["file"], lines[0]["file_bytes"]) == ("1", "1562048")
    assert (lines[0]["pattern"], lines[0]["client"], lines[0]["run"]) == ("serial", "boto3", "1")
    samples_text = run("tune", "export", "last", "--format", "csv").out
    assert "file_times" in samples_text.splitlines()[0]
    assert "members" not in samples_text.splitlines()[0]


def test_other_workloads_have_no_rows(run: Run, record: Record) -> None:
    """The command says so."""
    cell = a_cell(512, MIB)
    record([cell], good_samples(cell))
    run("tune", "export", "last", "--format", "rows").assert_refused(
        "the workload hash records no parts of samples; use --format csv"
    )


@pytest.mark.usefixtures("state_machine")
def test_options_need_no_more_than_memory(run: Run, state_machine: StateMachine) -> None:
    """The plan leaves out a chunk size that nobody chose; patterns with a number are options."""
    ended = run(
        "tune", "run", "--workload", "transfer", "--memory", "512", "--pattern",
        "limited:8,staccato:5", "--client", "libcurl,aws-cli", "--client-start", "warm", "--yes",
    )  # fmt: skip
    [sweep_input] = state_machine.inputs
    assert sweep_input == {
        "workload": "transfer", "memory_mb": [512], "pattern": ["limited:8", "staccato:5"],
        "client": ["libcurl", "aws-cli"], "warm": ["warm"],
    }  # fmt: skip
    assert "chunk size" not in ended.err
    assert "  data sets    156.2 MB" in ended.err
    assert "  not run      client is aws-cli, a process for each file: none of them" in ended.err


@pytest.mark.parametrize("kept", [8, 1, 0])
def test_the_page_shows_the_cells_that_were_measured(kept: int) -> None:
    """Also if there is one, or none at all."""
    cells = cells_of()
    samples = [sample for cell in cells[:kept] for sample in transferred(cell)]
    samples += [sample for cell in cells[kept:] for sample in failed_samples(cell, "no room")]
    html = page_of(results(cells, samples, RUN))
    for title in ("Total time", "Spread of the files' times", "Time by size of the file"):
        assert title in html
    assert '<p class="sideways wide">' in html  # fifteen columns are too many for a desktop, too
    assert html.count("median 250 ms, 90 % within") == 3 * kept  # tooltip and twice in words
    if not kept:
        assert "No cell has a measurement." in html
        assert "No file has a time." in html

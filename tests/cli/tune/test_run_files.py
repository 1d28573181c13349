"""Files of runs that are not runs: each has a named error, and no id leaves the folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.run_files import RunFiles

RUN = {"run_id": "a", "status": "SUCCEEDED", "started_at": "2026-11-21T04:15:00Z"}
CELL = {
    "cell_id": "c", "memory_mb": 512, "chunk_bytes": 1, "streams": 1, "concurrency": 1,
    "object_bytes": 1, "key": "k",
}  # fmt: skip
SAMPLE = {"cell_id": "c", "run": 1, "invocation": 1, "status": "ok", "at": RUN["started_at"]}
WHOLE: dict[str, Any] = {"run": RUN, "cell#c": CELL, "sample#s": SAMPLE}


def lines(items: Mapping[str, Any]) -> str:
    """The file of a run with *items*."""
    return "".join(f"{json.dumps({**values, 'item': item})}\n" for item, values in items.items())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"item": \n', "Expecting value: line 1 column 10"),
        ("\n", "Expecting value"),
        ("[]\n", r"a line is \[\], but each of a run is a JSON object"),
        ("[" * 100_000 + "\n", "recursion"),
        ("{}\n", "'item' is missing"),
        ('{"item": 3}\n', "no attribute 'startswith'"),
        ('{"item": []}\n', "unhashable"),
        (lines({"run": {}}), "run_id is missing"),
        (lines({"run": {"run_id": "a"}}), "status is missing"),
        (lines({"run": {**RUN, "status": "done"}}), "status is 'done'"),
        (lines({"run": {**RUN, "samples": "9"}}), "samples is '9'"),
        (lines({"run": {**RUN, "machine": 9}}), "machine is 9"),
        (f"3\n{lines(WHOLE)}", "a line is 3, but"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str, reason: str) -> None:
    """By its path, with the reason and what to do, however it is read."""
    (tmp_path / "damaged.jsonl").write_text(text)
    files = RunFiles(tmp_path)
    pattern = rf"damaged\.jsonl .*{reason}.*; move it to another"
    for read in (lambda: files.run("damaged"), lambda: list(files.runs())):
        with pytest.raises(CannotDoError, match=pattern):
            read()


@pytest.mark.parametrize(
    ("kind", "part", "reason"),
    [
        ("run", {**RUN, "summary": '{"recommendation": 3}'}, "no attribute 'items'"),
        (
            "run",
            {**RUN, "summary": '{"recommendation": {"reason": "r", "setting": {}}}'},
            "setting is {}",
        ),
        ("run", {**RUN, "summary": '{"deployed": {"faster": 1}}'}, "is missing"),
        (
            "run",
            {**RUN, "deployed": '{"memory_mb": 512, "chunk_bytes": "x", "streams": 1}'},
            "chunk_bytes is",
        ),
        ("run", {**RUN, "machine": '{"cpu": 5}'}, "(is 5|is missing)"),
        ("cells", {}, "memory_mb' is missing"),
        ("cells", {**CELL, "key": None}, "key is missing"),
        ("cells", {**CELL, "n": 2}, "min_seconds is missing"),
        ("cells", {**CELL, "concurrency": True}, "concurrency is True"),
        ("cells", {**CELL, "memory_mb": "much"}, "memory_mb is .much."),
        ("cells", {**CELL, "chunk_bytes": 0.5}, "chunk_bytes is 0.5"),
        ("cells", {**CELL, "streams": 0}, "streams is 0"),
        ("cells", {**CELL, "workers": "many"}, "workers is .many."),
        ("samples", {}, "cell_id is missing"),
        ("samples", {**SAMPLE, "seconds": 1.5}, "size_bytes is missing"),
        ("samples", {**SAMPLE, "cold": 1, "billed_ms": 1}, "cold is 1"),
    ],
)
def test_a_damaged_part_of_a_file_is_named(
    tmp_path: Path, kind: str, part: dict[str, Any], reason: str
) -> None:
    """Before a command relies on it; statistics without a part are not "no statistics"."""
    name = "run" if kind == "run" else f"{kind[:-1]}#a"
    (tmp_path / "damaged.jsonl").write_text(lines({**WHOLE, name: part}))
    with pytest.raises(CannotDoError, match=rf"damaged\.jsonl .*{reason}"):
        getattr(RunFiles(tmp_path), kind)("damaged")


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    """The content that the tests above change is a run; counts of 0 are not statistics."""
    cell = {**CELL, "n": 0, "n_cold": 0}
    (tmp_path / "whole.jsonl").write_text(lines({**WHOLE, "cell#c": cell}))
    files = RunFiles(tmp_path)
    assert [run.run_id for run in files.runs()] == ["a"]
    assert [(cell.stats, cell.cold) for cell in files.cells("whole")] == [(None, None)]
    assert [sample.reading for sample in files.samples("whole")] == [None]


@pytest.mark.parametrize("run_id", ["../outside", "", "x" * 300, "a\0b", "\ud800", "ü" * 100])
def test_an_id_that_no_run_has_is_unknown(tmp_path: Path, run_id: str) -> None:
    """It is not taken for a path."""
    (tmp_path / "outside.jsonl").write_text("[]\n")
    files = RunFiles(tmp_path / "runs")
    assert files.run(run_id) is None
    assert files.cells(run_id) == []
    assert files.samples(run_id) == []


@pytest.mark.parametrize("half", ["{", '{"item": "run", "status": "SUCC', '{"item": "run"}'])
def test_the_last_line_of_each_item_counts(tmp_path: Path, half: str) -> None:
    """A line without an end is of a process that was killed; those before it are the run."""
    later = {"run": {**RUN, "status": "STOPPED"}}
    (tmp_path / "a.jsonl").write_text(lines(WHOLE) + lines(later) + half)
    (tmp_path / "killed-at-once.jsonl").write_text(half)
    files = RunFiles(tmp_path)
    assert [run.status for run in files.runs()] == ["STOPPED"]
    assert len(files.samples("a")) == 1

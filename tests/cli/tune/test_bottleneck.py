"""The bottleneck of a cell in `bucketsum tune show`, `compare`, the report and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.cli.tune.sweeps import MIB, a_cell, good_samples, results

from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.protocol.use import Use, UseCurve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.cli.conftest import Run

    from bucketsum_lab.protocol.run_records import CellRow
    from bucketsum_lab.protocol.run_records import Run as Recorded
    from bucketsum_lab.protocol.samples import Sample

    Record = Callable[[Sequence[CellRow], Sequence[Sample]], Recorded]

CELLS = [a_cell(memory_mb, MIB, 20_000_000) for memory_mb in (128, 1769)]
THROTTLED = UseCurve(2, 0.07, (Use(1.0, 0.05, 0.02, 0.07, throttled=0.9),) * 4)
BUSY = UseCurve(2, 1.0, (*[Use(1.0, 0.8, 0.1, 0.95, throttled=0.0)] * 3, Use(1.0, 0.1, 0.1, 0.1)))
SAMPLES = [
    replace(sample, use=curve)
    for cell, curve in zip(CELLS, (THROTTLED, BUSY), strict=True)
    for sample in good_samples(cell)
]


def test_show_names_the_bottleneck_of_each_cell(run: Run, record: Record) -> None:
    """The table has each cell's bottleneck with its share of time; JSON has the curves too."""
    record(CELLS, SAMPLES)
    text = run("tune", "show", "last").out
    assert "cpu share 100 %" in text
    assert "cpu 75 %" in text
    document = json.loads(run("tune", "show", "last", "--json").out)
    shown = [(cell["bottleneck"], cell["bottleneck_share"]) for cell in document["cells"]]
    assert shown == [("cpu share", 1.0), ("cpu", 0.75)]
    assert document["samples"][0]["use"]["throttled"] == [0.9] * 4


def test_compare_names_the_bottlenecks_of_both_runs(run: Run, record: Record) -> None:
    """A comparison has the bottleneck of each cell before and after."""
    name = record(CELLS, SAMPLES).run_id
    text = run("tune", "compare", name, name).out
    assert "bottleneck before" in text
    assert text.count("cpu share 100 %") == 2
    pair, _ = json.loads(run("tune", "compare", name, name, "--json").out)["cells"]
    assert pair["after"]["bottleneck"] == "cpu share"


def test_a_run_without_curves_has_no_column_for_bottlenecks(run: Run, record: Record) -> None:
    """A run that recorded no use is shown as before."""
    name = record(CELLS, [replace(sample, use=None) for sample in SAMPLES]).run_id
    assert "bottleneck" not in run("tune", "show", name).out
    assert "bottleneck" not in run("tune", "compare", name, name).out


def test_the_report_names_the_bottleneck() -> None:
    """The report's table has the bottleneck of each cell."""
    page = page_of(results(CELLS, SAMPLES))
    assert "cpu share 100 %" in page
    assert "cpu 75 %" in page

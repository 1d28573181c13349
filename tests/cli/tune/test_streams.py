"""Sweeps of streams in the command: tables, plots and applied parameters."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.sweeps import (
    HUNDRED_MB,
    MIB,
    a_cell,
    a_run,
    analysed,
    good_samples,
    results,
    seconds_in,
    unzip_grid,
)
from tests.support.sam_template import load_template
from tests.support.sweeps import changed, statistics

from bucketsum_cli.tune.plots.variants import COLUMNS_MAX, LINES_MAX, Variants
from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample


def streams_grid(
    counts: Sequence[int] = (1, 4), chunks: Sequence[int] = (MIB, 8 * MIB)
) -> tuple[list[CellRow], list[Sample]]:
    """Cells of 512 and 1,769 MB and their samples; more streams are faster."""
    cells = [
        a_cell(memory_mb, chunk_bytes, streams=streams)
        for memory_mb, chunk_bytes, streams in product((512, 1769), chunks, counts)
    ]
    samples = [
        changed(sample, seconds=seconds_in(sample) / int(cell.setting.streams))
        for cell in cells
        for sample in good_samples(cell)
    ]
    return cells, samples


def test_tables_tell_streams_where_there_is_more_than_one(run: Run, record: Record) -> None:
    """In the headings, in the recommendation, and in a column where two runs are compared."""
    record(*streams_grid())
    shown = run("tune", "show", "last").out
    assert "512 MB Memory / 1 MiB Chunk Size / 4 streams" in shown
    assert "512 MB Memory / 1 MiB Chunk Size / 1 stream\n" in shown
    assert " / 4 streams, the best balance" in shown
    heading, *rows = run("tune", "compare", "last", "last").out.splitlines()[1:]
    assert "streams" in heading.split()
    assert [row.split()[4] for row in rows] == ["1", "4"] * 4


@pytest.mark.parametrize("grid", [streams_grid(), unzip_grid()], ids=["hash", "unzip"])
def test_what_is_applied_are_parameters_of_the_template(
    grid: tuple[list[CellRow], list[Sample]],
) -> None:
    """`sam deploy` takes them."""
    summary = analysed(*grid)[0].summary or {}
    assert set(summary["recommendation"]["parameters"]) <= set(load_template()["Parameters"])


def test_the_page_tells_streams() -> None:
    """A column for each chunk size and number of streams, as long as there are few."""
    html = page_of(results(*streams_grid()))
    assert "MB/s by memory and chunk size × streams" in html
    assert "8 MiB chunks, 4 streams" in html
    assert "Streams=4" in html


def at_speed(cell: CellRow, mb_per_s: float) -> CellRow:
    """*cell*, measured with that speed."""
    return replace(cell, stats=statistics(1.0, mb_per_s=mb_per_s))


def test_many_numbers_of_streams_share_a_square() -> None:
    """Each square of the map shows the fastest and names it."""
    cells, samples = streams_grid(counts=(1, 2, 4, 8, 16))
    html = page_of(results(cells, samples, a_run()))
    assert "MB/s by memory and chunk size, fastest streams" in html
    assert html.count("MB/s, ") >= 4
    variants = Variants(cells, COLUMNS_MAX, ("streams",))
    fastest = variants.fastest([at_speed(cell, float(cell.setting.streams)) for cell in cells])
    assert {variants.folded_label_of(cell.setting) for cell in fastest} == {"× 16"}
    assert len(fastest) == 4


def test_more_variants_than_fit_are_folded() -> None:
    """Chunk sizes of archives first: of each square the fastest is shown, and which that is."""
    cells, _ = unzip_grid(memories=(512,))
    more = [
        at_speed(
            replace(cell, setting=replace(cell.setting, chunk_bytes=chunk_bytes)),
            float(chunk_bytes),
        )
        for cell in cells
        for chunk_bytes in (262_144, MIB)
    ]
    variants = Variants(more, COLUMNS_MAX)
    assert (len(variants.combinations), variants.title) == (6, "mode × inflate")
    assert variants.folded_title == ", fastest chunk size"
    assert {cell.setting.chunk_bytes for cell in variants.fastest(more)} == {MIB}
    assert {variants.folded_label_of(cell.setting) for cell in variants.fastest(more)} == {"1 MiB"}


def test_what_is_folded_first_leaves_first() -> None:
    """Up to as many as there is room for, each combination has its own."""
    few = [a_cell(512, chunk, streams=count) for chunk in (MIB, 8 * MIB) for count in (1, 2, 4, 8)]
    assert Variants(few, COLUMNS_MAX, ("streams",)).title == "chunk size × streams"
    assert len(Variants(few, COLUMNS_MAX).combinations) == COLUMNS_MAX
    lines = Variants(few, LINES_MAX)
    assert (lines.title, lines.folded_title) == ("streams", ", fastest chunk size")
    assert lines.labels == ["1 stream", "2 streams", "4 streams", "8 streams"]


def test_the_last_axis_is_never_folded() -> None:
    """A plot with too many lines is better than one with none."""
    cells = [a_cell(512, MIB * size, HUNDRED_MB) for size in range(1, 12)]
    assert len(Variants(cells, LINES_MAX).combinations) == 11

"""Sweeps that unzip in the command: archives, modes and their disk."""

import csv
import io

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.sweeps import MIB, UNZIP_INPUT, a_grid, a_run, results, seconds_in, unzip_grid
from tests.support.sweeps import changed

from bucketsum_cli.tune.plots.variants import COLUMNS_MAX, Variants
from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.protocol.run_records import Run as SweepRun


def an_unzip_run(run_id: str = "20261121T041500-abcdef", architecture: str = "arm64") -> SweepRun:
    """Of the workload unzip, for `record`."""
    return a_run(run_id, input=UNZIP_INPUT, architecture=architecture)


def test_the_table_tells_files_and_folders_of_each_archive(run: Run, record: Record) -> None:
    """As Bengtsson (2017) does; a group for each way, modes and engines in their own order."""
    record(*unzip_grid(memories=(1769,)), an_unzip_run())
    lines = run("tune", "show", "last").out.splitlines()
    assert any("files in folders" in line for line in lines)
    headings = [line.split(" / ")[2:] for line in lines if "Memory /" in line]
    assert headings == [
        [mode, engine] for mode in ("stream", "tmp", "discard") for engine in ("isal", "zlib")
    ]
    assert sum("165 in 129" in line for line in lines) == 6


def test_tables_of_sweeps_that_hash_say_nothing_of_archives(run: Run, record: Record) -> None:
    """Columns are there where they apply."""
    record(*a_grid(memories=(512,), chunks=(MIB,)))
    shown, compared = run("tune", "show", "last").out, run("tune", "compare", "last", "last").out
    assert "files in folders" not in shown
    assert "inflate" not in compared
    assert "streams" not in shown + compared


def test_architectures_are_compared_with_their_price(run: Run, record: Record) -> None:
    """Two runs of the same cells on two architectures: both changes, and what else differs."""
    cells, samples = unzip_grid(memories=(1769,), ways=[("stream", "isal")])
    record(cells, samples, an_unzip_run("20261121T041500-aa", "x86_64"))
    slower = [
        changed(old, seconds=seconds_in(old) * 1.1, billed_ms=int(seconds_in(old) * 1100))
        for old in samples
    ]
    record(cells, slower, an_unzip_run("20261121T051500-bb", "arm64"))
    ended = run("tune", "compare", "20261121T041500-aa", "last")
    assert "they differ in architecture: x86_64 before, arm64 after" in ended.out
    heading, row = ended.out.splitlines()[-2:]
    assert heading.split()[2:7] == ["size", "mode", "inflate", "object", "MB/s"]
    assert row.split()[4:6] == ["stream", "isal"]
    assert "-9.1 %" in row


def test_a_run_of_another_stack_is_looked_for_there(run: Run, record: Record) -> None:
    """Two stacks, one of each architecture, can be compared as well."""
    record(*a_grid(memories=(512,), chunks=(MIB,)))
    run("tune", "compare", "last", "last", "--after-stack", "other").assert_refused("other")
    assert run("tune", "compare", "last", "last", "--after-stack", "bucketsum").status == 0


def test_after_stack_does_not_go_with_local(run: Run) -> None:
    """The local emulator has one stack."""
    run("tune", "compare", "a", "b", "--after-stack", "x", "--local").assert_refused(
        "--after-stack cannot be used with --local"
    )


def test_export_has_the_way_of_every_sample(run: Run, record: Record) -> None:
    """Also of one that failed: the way is the cell's."""
    record(*unzip_grid(memories=(1769,)), an_unzip_run())
    lines = [*csv.DictReader(io.StringIO(run("tune", "export", "last", "--format", "csv").out))]
    assert {(line["mode"], line["inflate"]) for line in lines} == {
        (mode, engine) for mode in ("stream", "tmp", "discard") for engine in ("isal", "zlib")
    }
    assert {(line["members"], line["directories"]) for line in lines} == {("165", "129")}


@pytest.mark.usefixtures("undrawn")
def test_the_page_shows_every_way() -> None:
    """A column and a line for each, under the names of what varies; a column of the table."""
    cells, samples = unzip_grid()
    html = page_of(results(cells, samples, a_run(input=UNZIP_INPUT)))
    assert "MB/s by memory and mode × inflate" in html
    assert html.count("165 in 129") == len(cells)
    assert "ArchiveMode=stream" in html
    assert Variants(cells, COLUMNS_MAX).headings == [
        f"{mode}\n{engine}" for mode in ("stream", "tmp", "discard") for engine in ("isal", "zlib")
    ]

"""The plot of use over time: the median sample of each cell, second by second."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.tune.conftest import Record
from tests.cli.tune.sweeps import MIB, a_cell, good_samples, results

from bucketsum_cli.tune.plots.plot import Plot
from bucketsum_cli.tune.plots.use_over_time import ROWS_MAX, use_over_time
from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.use import Use, UseCurve

CELLS = [a_cell(memory_mb, MIB) for memory_mb in (128, 512, 1769)]
SECOND = Use(
    1.0, 0.25, 0.25, 0.5, throttled=0.75, received_bytes=30_000_000, sent_bytes=1000,
    read_bytes=4_000_000, written_bytes=8_000_000,
)  # fmt: skip


def with_use(cells: Sequence[CellRow], *uses: Use) -> list[Sample]:
    """The good samples of *cells*, each with the same *uses*."""
    curve = UseCurve(2, 0.5, uses)
    return [replace(sample, use=curve) for cell in cells for sample in good_samples(cell)]


def plot_of(cells: Sequence[CellRow], samples: Sequence[Sample]) -> Plot | None:
    """The plot of the only panel of a run."""
    shown = results(cells, samples)
    [panel] = shown.panels()
    return use_over_time(panel, shown)


def hints_of(cells: Sequence[CellRow], samples: Sequence[Sample]) -> dict[str, str]:
    """The lines of the plot, by their ids."""
    plot = plot_of(cells, samples)
    assert plot is not None
    assert plot.description.count(".") >= len(plot.hints)
    return plot.hints


def test_each_cell_has_its_cpu_throttling_network_and_disk() -> None:
    """CPU is that of programs and kernel, the network the busier direction, the disk both."""
    hints = hints_of(CELLS, with_use(CELLS, SECOND, replace(SECOND, user=0.75)))
    assert len(hints) == 4 * len(CELLS)
    assert [hints[f"use-1-{name}"] for name in ("CPU", "throttled", "network", "disk")] == [
        "512 MB, 1 MiB: CPU 0.75 s per second, 1 at most",
        "512 MB, 1 MiB: throttled 0.75 s per second, 0.75 at most",
        "512 MB, 1 MiB: network 30 MB/s, 30 at most",
        "512 MB, 1 MiB: disk 12 MB/s, 12 at most",
    ]


def test_less_than_two_seconds_are_left_out() -> None:
    """A cell that was too fast has no row, and a run of such cells has no plot."""
    short = with_use(CELLS[1:], SECOND, replace(SECOND, seconds=0.9))
    assert len(hints_of(CELLS, [*with_use(CELLS[:1], SECOND, SECOND), *short])) == 4
    assert plot_of(CELLS, short) is None
    assert plot_of(CELLS, [replace(sample, use=None) for sample in short]) is None


def test_the_end_of_a_sample_is_no_peak() -> None:
    """A last interval of some milliseconds has no rate."""
    end = replace(SECOND, seconds=0.01)
    hints = hints_of(CELLS, with_use(CELLS, SECOND, SECOND, end))
    assert hints["use-0-network"].endswith("network 30 MB/s, 30 at most")


def test_the_sample_nearest_to_the_median_is_drawn() -> None:
    """Other samples, which may be outliers, are not."""
    samples = with_use(CELLS, SECOND, SECOND)
    seconds = [sample.reading.seconds for sample in samples[:5] if sample.reading]
    middle = seconds.index(sorted(seconds)[2])
    busy = UseCurve(2, 0.5, (replace(SECOND, user=0.5),) * 2)
    samples[middle] = replace(samples[middle], use=busy)
    assert "CPU 0.75 s" in hints_of(CELLS, samples)["use-0-CPU"]


def test_what_the_system_does_not_tell_has_no_line() -> None:
    """Unknown is not zero; a run that tells nothing has no plot."""
    unknown = replace(SECOND, throttled=None, read_bytes=None, written_bytes=None)
    hints = hints_of(CELLS, with_use(CELLS, unknown, unknown))
    assert {name.rpartition("-")[2] for name in hints} == {"CPU", "network"}
    assert plot_of(CELLS, with_use(CELLS, Use(1.0), Use(1.0))) is None


def test_of_many_cells_the_fastest_are_shown_and_the_caption_says_so() -> None:
    """A page has no room for hundreds of rows."""
    cells = [a_cell(memory_mb, MIB) for memory_mb in range(128, 128 + 40 * (ROWS_MAX + 2), 40)]
    plot = plot_of(cells, with_use(cells, SECOND, SECOND))
    assert plot is not None
    assert len(plot.hints) == 4 * ROWS_MAX
    assert f"{ROWS_MAX} fastest" in plot.caption


@pytest.mark.usefixtures("undrawn")
def test_the_report_has_the_plot_of_a_single_cell_too(
    run: Run, record: Record, tmp_path: Path
) -> None:
    """The other plots need two cells; a course in time needs one."""
    name = record(CELLS[:1], with_use(CELLS[:1], SECOND, SECOND)).run_id
    page = tmp_path / "page.html"
    assert run("tune", "report", name, "-o", page).status == 0
    html = page.read_text("utf-8")
    assert html.count("<figure") == html.count('id="p0-use"') == 1
    assert "Use over time" in html
    assert "<figure" not in page_of(results(CELLS[:1], good_samples(CELLS[0])))

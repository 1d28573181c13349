"""Plots of the workload ``transfer``: total times, spread of the files' times, time by size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bucketsum.measure import BYTES_PER_MB
from bucketsum_cli.tune.formatting import memory_text, seconds_text
from bucketsum_cli.tune.plots.cost_frontier import cost_frontier
from bucketsum_cli.tune.plots.memory_curve import memory_curve
from bucketsum_cli.tune.plots.plot import Plot, Plots, new_axes, new_figure
from bucketsum_cli.tune.plots.theme import DOT, FRONTIER, HIGHLIGHT, LINES
from bucketsum_cli.tune.plots.variants import Variants, cell_labels
from bucketsum_cli.tune.results import Panel, Results, measured, median_sample
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads.transfer.file_times import FileTime, read
from bucketsum_lab.workloads.transfer.workload import TransferStatistics

_ROW_INCHES: Final = 0.24
_SCATTERS_MAX: Final = 6
_SCATTER_COLUMNS: Final = 2
_SCATTER_INCHES: Final = 1.75
_FOLDED: Final = ("network", "warm", "destination", "client")
"""Left out of the fields in this order: what matters most is the pattern."""

_TOTAL_CAPTION: Final = (
    "Bars are medians of the warm runs. Lines extend from the fastest to the slowest warm run."
)
_SPREAD_CAPTION: Final = (
    "All files of all good runs: from the fastest to the slowest; the thick part begins at "
    "the median, the dot, and ends at the 90th percentile."
)
_SIZE_CAPTION: Final = (
    "A dot for each file in the run whose total is nearest to the median. If there are more "
    "than six variants, only the fastest value of some parameters is shown."
)
_CLOSE: Final = 100
"""Above this ratio of the ends, an axis has no room for 2 and 5 between the powers of ten."""


def total_times(panel: Panel, _results: Results) -> Plot:
    """A bar for each cell: the median of its totals; lines from the fastest to the slowest."""
    points = measured(panel.cells)
    labels = cell_labels(panel.cells)
    figure, axes = _rows(labels[cell.cell_id] for cell, _ in points)
    hints = {}
    for row, (cell, stats) in enumerate(points):
        gid = f"total-{row}"
        axes.barh([row], [stats.p50_seconds], height=0.62, color=LINES[0], gid=gid)
        axes.hlines([row], stats.min_seconds, stats.max_seconds, color=HIGHLIGHT, linewidth=1.6)
        low, middle, high = map(
            seconds_text, (stats.min_seconds, stats.p50_seconds, stats.max_seconds)
        )
        hints[gid] = (
            f"{labels[cell.cell_id]}: {middle} s, {low} to {high} s over {stats.n} warm samples"
        )
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds for all files")
    description = " ".join(f"{text}." for text in hints.values()) or "No cell has a measurement."
    return Plot("Total time", _TOTAL_CAPTION, description, figure, hints)


def file_spread(panel: Panel, _results: Results) -> Plot:
    """A line for each cell: its fastest and slowest file, the median and the 90th percentile."""
    cells = [(cell, own) for cell in panel.cells if (own := TransferStatistics.of(cell))]
    labels = cell_labels(panel.cells)
    figure, axes = _rows(labels[cell.cell_id] for cell, _ in cells)
    hints = {}
    for row, (cell, own) in enumerate(cells):
        low, middle, most, high = (
            own.file_min_ms, own.file_p50_ms, own.file_p90_ms, own.file_max_ms
        )  # fmt: skip
        gid = f"spread-{row}"
        axes.hlines([row], low, high, color=DOT, linewidth=1.6)
        axes.hlines([row], middle, most, color=FRONTIER, linewidth=5)
        axes.plot([middle], [row], "o", color=HIGHLIGHT, markersize=5, gid=gid, zorder=3)
        hints[gid] = (
            f"{labels[cell.cell_id]}: median {middle:,.0f} ms, 90 % within {most:,.0f} ms, "
            f"{low:,.0f} to {high:,.0f} ms"
        )
    if cells:
        _milliseconds(axes, "x")
    axes.set_xlabel("ms for a file")
    description = " ".join(f"{text}." for text in hints.values()) or "No cell has a measurement."
    return Plot("Spread of the files' times", _SPREAD_CAPTION, description, figure, hints)


def time_by_size(panel: Panel, results: Results) -> Plot:
    """A panel for each of the fastest variants: a dot for each file of its median run."""
    variants = Variants(panel.cells, _SCATTERS_MAX, _FOLDED)
    fastest: dict[tuple[object, ...], tuple[CellRow, CellStatistics]] = {}
    for cell, stats in measured(panel.cells):
        combination = variants.combination_of(cell.setting)
        if combination not in fastest or stats.p50_seconds < fastest[combination][1].p50_seconds:
            fastest[combination] = cell, stats
    shown = [
        (cell, times)
        for cell, stats in fastest.values()
        if (times := _median_run(results.samples.get(cell.cell_id, ()), stats))
    ]
    rows = max(1, math.ceil(len(shown) / _SCATTER_COLUMNS))
    figure = new_figure(0.5 + _SCATTER_INCHES * rows)
    fields = figure.subplots(rows, _SCATTER_COLUMNS, sharex=True, sharey=True, squeeze=False)
    flat = [axes for line in fields for axes in line]
    for axes, (cell, times) in zip(flat, shown, strict=False):
        axes.plot(
            [time.size_bytes / BYTES_PER_MB for time in times],
            [time.milliseconds for time in times],
            ".", color=FRONTIER, markersize=3.5, alpha=0.7,
        )  # fmt: skip
        axes.set_title(_field_title(cell, variants), fontsize=7.5)
        axes.grid()
    for axes in flat[len(shown) :]:
        axes.set_visible(False)
    if shown:
        _milliseconds(flat[0], "y")
    figure.supxlabel("MB of the file", fontsize=9)
    figure.supylabel("ms", fontsize=9)
    description = " ".join(
        f"{_field_title(cell, variants)}: {len(times)} files, "
        f"{min(time.milliseconds for time in times):,.0f} to "
        f"{max(time.milliseconds for time in times):,.0f} ms."
        for cell, times in shown
    )
    return Plot(
        "Time by size of the file", _SIZE_CAPTION, description or "No file has a time.", figure
    )


def _field_title(cell: CellRow, variants: Variants) -> str:
    """Title of a cell's axes: the values of the parameters that vary, then memory."""
    label, folded = variants.label_of(cell.setting), variants.folded_label_of(cell.setting)
    return ", ".join(filter(None, [label, folded, memory_text(cell.setting.memory_mb)]))


def _median_run(samples: Sequence[Sample], stats: CellStatistics) -> Sequence[FileTime]:
    """The files of the warm sample whose total is nearest to the median."""
    sample = median_sample((sample for sample in samples if "file_times" in sample.own), stats)
    return read(str(sample.own["file_times"])) if sample else ()


def _rows(given: Iterable[str]) -> tuple[Figure, Axes]:
    """A figure with a row for each of the labels *given*, the first at the top."""
    labels = [*given]
    figure, axes = new_axes(0.9 + _ROW_INCHES * max(len(labels), 2))
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    return figure, axes


def _milliseconds(axes: Axes, which: str) -> None:
    """A logarithmic axis with plain numbers."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _CLOSE * low else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _index: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


PLOTS: Final[Plots] = {
    "transfer-total": total_times,
    "transfer-spread": file_spread,
    "transfer-size": time_by_size,
    "memory": memory_curve,
    "cost": cost_frontier,
}

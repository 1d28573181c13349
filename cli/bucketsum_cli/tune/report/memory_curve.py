"""MB/s against memory, with the spread of the samples: a line per variant."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import NullLocator

from bucketsum_cli.tune.formatting import memory_text, speed_text
from bucketsum_cli.tune.report.plot import Plot, hint_of, new_figure
from bucketsum_cli.tune.report.theme import GRID, SCALE
from bucketsum_cli.tune.report.variants import LINES_MAX, Variants
from bucketsum_cli.tune.results import is_measured, speed_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from bucketsum.sweep.measurements_table import CellRow
    from bucketsum_cli.tune.results import Panel, Results

_MARKERS: Final = "osD^vP"
_LINE_STYLES: Final = ("-", "--", ":", "-.")
_LEGEND_LETTERS: Final = 56
_APART: Final = 0.025
"""Horizontal shift between lines, as a fraction of memory, so that bars do not overlap."""


def memory_curve(name: str, panel: Panel, results: Results) -> Plot:
    """Marks are medians; bars extend from the slowest to the fastest warm sample."""
    variants = Variants(panel.cells, LINES_MAX)
    measured = tuple(filter(is_measured, variants.fastest(panel.cells)))
    figure = new_figure(3.5)
    axes = figure.subplots()
    lines = [
        (combination, label)
        for combination, label in zip(variants.combinations, variants.labels, strict=True)
        if any(variants.combination_of(cell.setting) == combination for cell in measured)
    ]
    hints = {}
    for number, ((combination, label), marker, line) in enumerate(
        zip(lines, cycle(_MARKERS), cycle(_LINE_STYLES), strict=False)
    ):
        cells = [cell for cell in measured if variants.combination_of(cell.setting) == combination]
        shift = 1 + _APART * (number - (len(lines) - 1) / 2)
        colour = SCALE[round((len(SCALE) - 1) * number / max(len(lines) - 1, 1))]
        xs = [cell.memory_mb * shift for cell in cells]
        speeds = [cell.mb_per_s or 0.0 for cell in cells]
        axes.plot(xs, speeds, line, color=colour, linewidth=1.4)
        axes.vlines(xs, *_spread(cells), color=colour, linewidth=2.4, alpha=0.55)
        for x, speed, cell in zip(xs, speeds, cells, strict=True):
            gid = f"point-{panel.cells.index(cell)}"
            axes.plot([x], [speed], marker, color=colour, markersize=5.5, gid=gid, clip_on=False)
            hints[gid] = f"{hint_of(cell, results.labels)}; {_spread_text(cell)}"
        axes.plot([], [], line, marker=marker, color=colour, label=label)
    _finish(axes, sorted({cell.memory_mb for cell in measured}))
    if lines:
        figure.legend(
            loc="outside lower center",
            ncols=_legend_columns([label for _, label in lines]),
            title=variants.title + variants.folded_title,
            frameon=False,
            fontsize=9,
        )
    return Plot(name, "MB/s against memory", _description(measured), figure, hints)


def _legend_columns(labels: Sequence[str]) -> int:
    """The number of labels that fit next to each other."""
    return max(1, min(4, _LEGEND_LETTERS // (max(map(len, labels)) + 4)))


def _finish(axes: Axes, memories: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(memories, map(str, memories))
    axes.xaxis.set_minor_locator(NullLocator())
    if len(memories) > 6:  # noqa: PLR2004 - as many as stand beside each other
        axes.tick_params(axis="x", rotation=45)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("memory (MB)")
    axes.set_ylabel("MB/s")
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)


def _spread(cells: Sequence[CellRow]) -> tuple[list[float], list[float]]:
    return (
        [speed_at(cell, cell.max_seconds) or 0.0 for cell in cells],
        [speed_at(cell, cell.min_seconds) or 0.0 for cell in cells],
    )


def _spread_text(cell: CellRow) -> str:
    slowest, fastest = speed_at(cell, cell.max_seconds), speed_at(cell, cell.min_seconds)
    return f"{speed_text(slowest)} to {speed_text(fastest)} MB/s over {cell.n} warm samples"


def _description(cells: Sequence[CellRow]) -> str:
    if not cells:
        return "No cell has a measurement."
    sentences = []
    for memory_mb in sorted({cell.memory_mb for cell in cells}):
        speeds = [cell.mb_per_s or 0.0 for cell in cells if cell.memory_mb == memory_mb]
        slowest, fastest = speed_text(min(speeds)), speed_text(max(speeds))
        speed_range = slowest if slowest == fastest else f"{slowest} to {fastest}"
        sentences.append(f"{memory_text(memory_mb)}: {speed_range} MB/s.")
    return " ".join(sentences)

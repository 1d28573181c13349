"""MB/s against memory, with the spread of the samples: a line per variant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from bucketsum.measure import mb_per_s
from bucketsum_cli.terminal.formatting import speed_text
from bucketsum_cli.tune.formatting import memory_text
from bucketsum_cli.tune.plots.plot import Plot, hint_of, label_ends, line_styles, new_axes
from bucketsum_cli.tune.plots.variants import LINES_MAX, Variants
from bucketsum_cli.tune.results import Panel, Results, measured
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics

_CAPTION: Final = "Marks are medians. Bars extend from the slowest to the fastest warm run."
_APART: Final = 0.025
"""Horizontal shift between lines, as a fraction of memory, so that bars do not overlap."""


def memory_curve(panel: Panel, results: Results) -> Plot:
    """Marks are medians; bars extend from the slowest to the fastest warm sample."""
    variants = Variants(panel.cells, LINES_MAX)
    fastest = measured(variants.fastest(panel.cells))
    figure, axes = new_axes(3.5)
    lines = {
        label: points
        for label in variants.labels
        if (points := [point for point in fastest if variants.label_of(point[0].setting) == label])
    }
    hints, ends = {}, []
    for number, ((label, points), (colour, marker, dashes)) in enumerate(
        zip(lines.items(), line_styles(len(lines)), strict=True)
    ):
        shift = 1 + _APART * (number - (len(lines) - 1) / 2)
        xs = [cell.setting.memory_mb * shift for cell, _ in points]
        speeds = [stats.mb_per_s for _, stats in points]
        axes.plot(xs, speeds, dashes, color=colour, linewidth=1.4)
        extremes = zip(*starmap(_extremes, points), strict=True)
        axes.vlines(xs, *extremes, color=colour, linewidth=2.4, alpha=0.55)
        for x, speed, (cell, stats) in zip(xs, speeds, points, strict=True):
            gid = f"point-{panel.cells.index(cell)}"
            axes.plot([x], [speed], marker, color=colour, markersize=5.5, gid=gid, clip_on=False)
            low, high = map(speed_text, _extremes(cell, stats))
            spread = f"{low} to {high} MB/s over {stats.n} warm samples"
            hints[gid] = f"{hint_of(cell, results)}; {spread}"
        ends.append((xs[-1], speeds[-1], label, colour))
    _finish(axes, sorted({cell.setting.memory_mb for cell, _ in fastest}))
    label_ends(axes, ends)
    title = f"MB/s against memory, by {variants.title}{variants.folded_title}"
    return Plot(title, _CAPTION, _description(fastest), figure, hints)


def _finish(axes: Axes, memories: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(memories, map(str, memories))
    axes.xaxis.set_minor_locator(NullLocator())
    if len(memories) > 6:  # noqa: PLR2004 - as many as stand beside each other
        axes.tick_params(axis="x", rotation=45)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("memory (MB)")
    axes.set_ylabel("MB/s")
    axes.grid(axis="y")


def _extremes(cell: CellRow, stats: CellStatistics) -> tuple[float, float]:
    """MB/s of the slowest and of the fastest warm sample."""
    size_bytes = cell.object_bytes
    return mb_per_s(size_bytes, stats.max_seconds), mb_per_s(size_bytes, stats.min_seconds)


def _description(points: Sequence[tuple[CellRow, CellStatistics]]) -> str:
    if not points:
        return "No cell has a measurement."
    sentences = []
    for memory_mb in sorted({cell.setting.memory_mb for cell, _ in points}):
        speeds = [stats.mb_per_s for cell, stats in points if cell.setting.memory_mb == memory_mb]
        slowest, fastest = speed_text(min(speeds)), speed_text(max(speeds))
        speed_range = slowest if slowest == fastest else f"{slowest} to {fastest}"
        sentences.append(f"{memory_text(memory_mb)}: {speed_range} MB/s.")
    return " ".join(sentences)

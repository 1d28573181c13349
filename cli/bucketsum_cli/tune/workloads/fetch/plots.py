"""Time of downloading and of processing: two bars for each cell."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from bucketsum_cli.tune.formatting import memory_text
from bucketsum_cli.tune.plots.cost_frontier import cost_frontier
from bucketsum_cli.tune.plots.memory_curve import memory_curve
from bucketsum_cli.tune.plots.plot import Plot, Plots, hint_of, new_axes
from bucketsum_cli.tune.plots.theme import FRONTIER, HIGHLIGHT, INK, LINES
from bucketsum_cli.tune.plots.variants import Variants
from bucketsum_cli.tune.results import Panel, Results, measured
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics
from bucketsum_lab.workloads.fetch.workload import FetchStatistics

_CAPTION: Final = (
    "Bars are medians. If everything is fetched first, the wall time is the sum of both bars; if "
    "both overlap completely, it is the longer bar."
)
_BAR_HEIGHT = 0.34
_FETCHING = LINES[3]
_INCHES_PER_CELL = 0.38


def stage_times(panel: Panel, results: Results) -> Plot:
    """Bars: medians of fetching and working. Lines: the wall time, and those of ideal overlap."""
    cells = measured(panel.cells)
    figure, axes = new_axes(1.6 + _INCHES_PER_CELL * len(cells))
    hints = {}
    for place, (cell, stats) in enumerate(cells):
        _draw(axes, place, cell)
        gid = f"wall-{place}"
        wall = [stats.p50_seconds] * 2
        axes.plot(wall, [place - 0.42, place + 0.42], color=HIGHLIGHT, linewidth=2.4, gid=gid)
        hints[gid] = f"{hint_of(cell, results)}; {_text(cell, stats)}"
    axes.plot([], [], color=HIGHLIGHT, linewidth=2.4, label="wall time")
    axes.plot([], [], "|", color=INK, markersize=10, label="max(D, P) and D + P")
    variants = Variants(panel.cells, len(panel.cells))
    names = [
        f"{memory_text(cell.setting.memory_mb)}, {variants.label_of(cell.setting)}"
        for cell, _ in cells
    ]
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelsize=8)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds")
    axes.grid(axis="x")
    bars = [Patch(color=_FETCHING, label="fetching"), Patch(color=FRONTIER, label="working")]
    handles = [*bars, *axes.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=9)
    described = [
        f"{name}: {_text(cell, stats)}." for name, (cell, stats) in zip(names, cells, strict=True)
    ]
    text = " ".join(described) or "No cell has a measurement."
    return Plot("Time of fetching and working", _CAPTION, text, figure, hints)


def _draw(axes: Axes, place: int, cell: CellRow) -> None:
    """The bars, and the marks of the models."""
    own = FetchStatistics.of(cell)
    if own is None:
        return
    fetching, working = _seconds(own.fetch_ms), _seconds(own.work_ms)
    if fetching is not None:
        axes.barh(place - _BAR_HEIGHT / 2, fetching, _BAR_HEIGHT, color=_FETCHING)
    if working is not None:
        axes.barh(place + _BAR_HEIGHT / 2, working, _BAR_HEIGHT, color=FRONTIER)
    models = [_seconds(own.max_ms), _seconds(own.sum_ms)]
    marks = [seconds for seconds in models if seconds is not None]
    axes.plot(marks, [place] * len(marks), "|", color=INK, markersize=10)


def _text(cell: CellRow, stats: CellStatistics) -> str:
    """``2.10 s; fetching 1.50 s, working 1.90 s``."""
    own = FetchStatistics.of(cell)
    sides = {"fetching": _seconds(own.fetch_ms), "working": _seconds(own.work_ms)} if own else {}
    texts = [f"{name} {value:.2f} s" for name, value in sides.items() if value is not None]
    return f"{stats.p50_seconds:.2f} s; {', '.join(texts)}"


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


PLOTS: Final[Plots] = {"stages": stage_times, "memory": memory_curve, "cost": cost_frontier}

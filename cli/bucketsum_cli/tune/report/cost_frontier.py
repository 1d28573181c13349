"""What a GB costs against how fast it goes, and the cells that nothing beats in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.ticker import FuncFormatter, MaxNLocator

from bucketsum_cli.tune.formatting import speed_text, usd_text
from bucketsum_cli.tune.report.plot import COLOURS, FAINT, HIGHLIGHT, INK, Plot, hint_of, new_figure
from bucketsum_cli.tune.report.ways import Ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from bucketsum.sweep.measurements_table import CellRow
    from bucketsum_cli.tune.results import Panel, Results

_NAME_WIDTH, _NAME_HEIGHT = 0.5, 0.15  # of the fastest, of the dearest
_AT_BOTTOM: Final = 0.2  # of the dearest
_FAR_RIGHT: Final = 0.8  # of the fastest: a centred label would leave the plot


def cost_frontier(name: str, panel: Panel, results: Results) -> Plot:
    """Right is faster, down is cheaper; the line joins what nothing beats in both."""
    cells = [cell for cell in panel.cells if cell.mb_per_s and cell.usd_per_gb]
    frontier = sorted((cell for cell in cells if cell.pareto), key=_speed)
    figure = new_figure(3.6)
    axes = figure.subplots()
    hints = {}
    for cell in cells:
        gid = f"point-{panel.cells.index(cell)}"
        colour = COLOURS(0.15) if cell.pareto else "#a8a8a8"
        axes.plot([_speed(cell)], [_cost(cell)], "o", color=colour, markersize=6, gid=gid, zorder=3)
        hints[gid] = hint_of(cell, results.naming)
        if results.is_recommended(cell):
            _mark(axes, cell)
    axes.plot(
        [*map(_speed, frontier)],
        [*map(_cost, frontier)],
        color=COLOURS(0.15),
        linewidth=1.2,
        gid="frontier",
        label="nothing is both faster and cheaper",
    )
    _label(axes, frontier, Ways(panel.cells, len(panel.cells)), max(map(_cost, cells), default=0.0))
    _finish(axes)
    if cells:
        figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=9)
    said = _description(frontier, cells, results)
    return Plot(name, "Cost per GB against speed", said, figure, hints)


def _speed(cell: CellRow) -> float:
    return cell.mb_per_s or 0.0


def _cost(cell: CellRow) -> float:
    return cell.usd_per_gb or 0.0


def _mark(axes: Axes, cell: CellRow) -> None:
    axes.plot(
        [_speed(cell)],
        [_cost(cell)],
        "*",
        color=HIGHLIGHT,
        markeredgecolor="white",
        markersize=17,
        zorder=4,
        gid="recommended",
        label="recommended",
        linestyle="none",
    )


def _label(axes: Axes, frontier: Sequence[CellRow], ways: Ways, dearest: float) -> None:
    """Name the frontier's ends and what lies apart between them; all are in the table."""
    fastest = max(map(_speed, frontier), default=0.0)
    named: list[CellRow] = []
    for cell in [*frontier[-1:], *frontier[:-1]]:
        if any(_is_near(cell, one, fastest, dearest) for one in named):
            continue
        far_right = _speed(cell) > _FAR_RIGHT * fastest
        at_bottom = _cost(cell) < _AT_BOTTOM * dearest
        axes.annotate(
            f"{cell.memory_mb} MB, {ways.label(cell.setting)}",
            (_speed(cell), _cost(cell)),
            xytext=(0, _offset_points(len(named), at_bottom=at_bottom)),
            textcoords="offset points",
            ha="right" if far_right else "center",
            fontsize=8,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6},
        )
        named.append(cell)


def _is_near(cell: CellRow, other: CellRow, fastest: float, dearest: float) -> bool:
    """Whether their names would lie on each other."""
    return (
        abs(_speed(cell) - _speed(other)) < _NAME_WIDTH * fastest
        and abs(_cost(cell) - _cost(other)) < _NAME_HEIGHT * dearest
    )


def _offset_points(place: int, *, at_bottom: bool) -> int:
    """Above and below in turns; at two heights above where the axis' own labels are below."""
    if at_bottom:
        return 20 if place % 2 else 9
    return -14 if place % 2 else 9


def _finish(axes: Axes) -> None:
    axes.margins(0.18)
    axes.autoscale_view()
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda usd, _place: f"{usd:.8f}".rstrip("0").rstrip("."))
    )
    axes.set_xlabel("MB/s (more is faster)")
    axes.set_ylabel("USD per GB (less is cheaper)")
    axes.grid(color="#e3e3e3")
    axes.set_axisbelow(True)
    axes.tick_params(color=FAINT)


def _description(frontier: Sequence[CellRow], cells: Sequence[CellRow], results: Results) -> str:
    if not cells:
        return "No cell has a cost."
    name = results.naming.sentence
    said = [
        f"{name(cell.setting)}: {speed_text(cell.mb_per_s)} MB/s for {usd_text(cell.usd_per_gb)} "
        "USD per GB."
        for cell in frontier
    ]
    said += [f"Recommended: {name(one.setting)}." for one in cells if results.is_recommended(one)]
    return "On the frontier, from the slowest: " + " ".join(said)

"""Cost per TB against MB/s, and the Pareto frontier of the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import FuncFormatter, MaxNLocator

from bucketsum_cli.terminal.formatting import speed_text, usd_text
from bucketsum_cli.tune.plots.plot import LABEL_BOX, Plot, hint_of, new_axes
from bucketsum_cli.tune.plots.theme import DOT, FAINT, FRONTIER, HIGHLIGHT, INK, PAPER
from bucketsum_cli.tune.plots.variants import cell_labels
from bucketsum_cli.tune.results import Panel, Results, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bucketsum_lab.protocol.run_records import CellRow, CellStatistics

    _Point = tuple[CellRow, CellStatistics]

_CAPTION: Final = (
    "Each dot is one setting. The line joins the settings for which no other setting "
    "is both faster and cheaper; the star is the recommended setting."
)
_LABEL_WIDTH, _LABEL_HEIGHT = 0.5, 0.15  # of the highest speed, of the highest cost
_AT_BOTTOM: Final = 0.2  # of the highest cost
_FAR_RIGHT: Final = 0.8  # of the highest speed: a centred label would leave the plot


def cost_frontier(panel: Panel, results: Results) -> Plot:
    """Right is faster, down is cheaper; the line is the Pareto frontier."""
    cells = measured(panel.cells)
    frontier = sorted((point for point in cells if point[1].pareto), key=_speed)
    figure, axes = new_axes(3.6)
    hints = {}
    for point in cells:
        cell, stats = point
        gid = f"point-{panel.cells.index(cell)}"
        colour = FRONTIER if stats.pareto else DOT
        axes.plot(
            [stats.mb_per_s], [_cost(point)], "o", color=colour, markersize=6, gid=gid,
            zorder=3, clip_on=False,
        )  # fmt: skip
        hints[gid] = hint_of(cell, results)
        if results.is_recommended(cell):
            axes.plot(
                [stats.mb_per_s], [_cost(point)], "*", color=HIGHLIGHT, markeredgecolor=PAPER,
                markersize=17, zorder=4, gid="recommended", label="recommended", linestyle="none",
            )  # fmt: skip
    axes.plot(
        [*map(_speed, frontier)], [*map(_cost, frontier)], color=FRONTIER, linewidth=1.2,
        gid="frontier", label="no other setting is both faster and cheaper",
    )  # fmt: skip
    _label(axes, frontier, cell_labels(panel.cells), max(map(_cost, cells), default=0.0))
    _finish(axes)
    if cells:
        figure.legend(loc="outside lower center", ncols=1, fontsize=9)
    description = _description(frontier, cells, results)
    return Plot("Cost per TB against speed", _CAPTION, description, figure, hints)


def _speed(point: _Point) -> float:
    return point[1].mb_per_s


def _cost(point: _Point) -> float:
    """USD per TB; the page leaves the plot out if they are not known."""
    assert point[1].usd_per_tb is not None  # noqa: S101 - see the docstring
    return point[1].usd_per_tb


def _label(
    axes: Axes, frontier: Sequence[_Point], labels: Mapping[str, str], highest_cost: float
) -> None:
    """Label the ends of the frontier and the points between that are far enough apart."""
    highest_speed = max(map(_speed, frontier), default=0.0)
    labelled: list[_Point] = []
    for point in [*frontier[-1:], *frontier[:-1]]:
        if any(_is_near(point, other, highest_speed, highest_cost) for other in labelled):
            continue
        far_right = _speed(point) > _FAR_RIGHT * highest_speed
        # alternately above and below; near the axis, above at two heights
        offsets = (9, 20) if _cost(point) < _AT_BOTTOM * highest_cost else (9, -14)
        axes.annotate(
            labels[point[0].cell_id], (_speed(point), _cost(point)),
            xytext=(0, offsets[len(labelled) % 2]), textcoords="offset points",
            ha="right" if far_right else "center", fontsize=8, color=INK, bbox=LABEL_BOX,
        )  # fmt: skip
        labelled.append(point)


def _is_near(point: _Point, other: _Point, highest_speed: float, highest_cost: float) -> bool:
    """Whether their labels would overlap."""
    return (
        abs(_speed(point) - _speed(other)) < _LABEL_WIDTH * highest_speed
        and abs(_cost(point) - _cost(other)) < _LABEL_HEIGHT * highest_cost
    )


def _finish(axes: Axes) -> None:
    axes.margins(0.18)
    axes.autoscale_view()
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda usd, _index: f"{usd:.4g}"))
    axes.set_xlabel("MB/s (higher is faster)")
    axes.set_ylabel("USD per TB (lower is cheaper)")
    axes.grid()
    axes.tick_params(color=FAINT)


def _description(frontier: Sequence[_Point], cells: Sequence[_Point], results: Results) -> str:
    if not cells:
        return "No cell has a cost."
    name = results.labels.sentence
    sentences = [
        f"{name(cell.setting)}: {speed_text(stats.mb_per_s)} MB/s for {usd_text(stats.usd_per_tb)} "
        "USD per TB."
        for cell, stats in frontier
    ]
    sentences += [
        f"Recommended: {name(cell.setting)}." for cell, _ in cells if results.is_recommended(cell)
    ]
    return "On the frontier, slowest first: " + " ".join(sentences)

"""Heat map of MB/s: memory × the other varying parameters."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from bucketsum_cli.terminal.formatting import MISSING, speed_text
from bucketsum_cli.tune.formatting import memory_text
from bucketsum_cli.tune.plots.plot import COLOURS, Plot, hint_of, new_axes
from bucketsum_cli.tune.plots.theme import EMPTY, FAINT, HATCH, HIGHLIGHT, ON_DARK, ON_LIGHT, PAPER
from bucketsum_cli.tune.plots.variants import COLUMNS_MAX, Variants
from bucketsum_cli.tune.results import Panel, Results, measured
from bucketsum_lab.protocol.run_records import CellRow

_CAPTION: Final = (
    "Each square's number is MB/s at the median of the warm runs; where several settings share a "
    "square, it is that of the fastest. A colour means the same speed in all heat maps of this "
    "page. The outlined square is the recommended setting."
)
_ROW_INCHES: Final = 0.4
_FRAME_INCHES: Final = 1.25
_LINE_INCHES: Final = 0.15
_WIDE_COLUMNS_MAX: Final = 5  # more columns have smaller headings
_SMALL_POINTS: Final = 7.5
_LIGHT_FROM: Final = 0.5  # from this point of the scale on, text must be dark


def heat_map(panel: Panel, results: Results) -> Plot:
    """Every cell of *panel* with its MB/s."""
    speeds = [stats.mb_per_s for _, stats in measured(results.cells)]
    low, high = min(speeds, default=0.0), max(speeds, default=1.0)
    scale = Normalize(low if low < high else 0.0, high)  # equal in all heat maps of the page
    first = (results.workload.folded_first,) if results.workload else ()
    memories = sorted({cell.setting.memory_mb for cell in panel.cells})
    variants = Variants(panel.cells, COLUMNS_MAX, first)
    labels = variants.headings
    lines = max(label.count("\n") + 1 for label in labels)
    height = _FRAME_INCHES + _ROW_INCHES * len(memories) + _LINE_INCHES * lines
    figure, axes = new_axes(height)
    _empty_grid(axes, memories, labels)
    axes.set_xlabel(variants.title)
    hints = {}

    def corner_of(cell: CellRow) -> tuple[int, int]:
        column = variants.combinations.index(variants.combination_of(cell.setting))
        return column, memories.index(cell.setting.memory_mb)

    for number, cell in enumerate(variants.fastest(panel.cells)):
        folded = variants.folded_label_of(cell.setting)
        gid = f"cell-{number}"
        _draw_cell(axes, cell, corner_of(cell), folded, scale).set_gid(gid)
        hints[gid] = hint_of(cell, results)
    for cell in filter(results.is_recommended, panel.cells):
        axes.add_patch(
            Rectangle(corner_of(cell), 1, 1, fill=False, edgecolor=HIGHLIGHT, linewidth=3, zorder=3)
        ).set_clip_on(False)
    bar = figure.colorbar(
        ScalarMappable(scale, COLOURS.resampled(32)), ax=axes, location="bottom", aspect=40
    )
    bar.set_label("MB/s")
    bar.outline.set_visible(False)
    title = f"MB/s by memory and {variants.title}{variants.folded_title}"
    return Plot(title, _CAPTION, _description(panel, results), figure, hints)


def _empty_grid(axes: Axes, memories: list[int], labels: list[str]) -> None:
    axes.set_xlim(0, len(labels))
    axes.set_ylim(len(memories), 0)
    axes.set_xticks([column + 0.5 for column in range(len(labels))], labels)
    if len(labels) > _WIDE_COLUMNS_MAX:
        axes.tick_params(axis="x", labelsize=_SMALL_POINTS)
    axes.set_yticks([row + 0.5 for row in range(len(memories))], map(memory_text, memories))
    axes.set_ylabel("memory")
    axes.tick_params(length=0)
    axes.xaxis.set_label_position("top")
    axes.xaxis.tick_top()
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.add_patch(Rectangle((0, 0), len(labels), len(memories), facecolor=EMPTY, edgecolor="none"))


def _draw_cell(
    axes: Axes, cell: CellRow, corner: tuple[int, int], folded: str, scale: Normalize
) -> Rectangle:
    """Draw the square of a cell, with *folded*, its label of the parameters that share a column."""
    colour: Any
    stats = cell.stats
    if stats is None:
        colour, ink, text = PAPER, FAINT, _why_unmeasured(cell)
    else:
        part = float(scale(stats.mb_per_s))
        colour, ink = COLOURS(part), ON_LIGHT if part > _LIGHT_FROM else ON_DARK
        text = "\n".join(filter(None, [speed_text(stats.mb_per_s), folded]))
    patch = Rectangle(corner, 1, 1, facecolor=colour, edgecolor=PAPER, linewidth=1.5)
    if stats is None:
        patch.set(hatch="////", edgecolor=HATCH)
    axes.add_patch(patch)
    label = axes.text(corner[0] + 0.5, corner[1] + 0.5, text, color=ink, ha="center", va="center")
    if stats is None:
        label.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 1.5})
    return patch


def _why_unmeasured(cell: CellRow) -> str:
    if cell.failed or cell.cause:
        return "failed"
    return "cold only" if cell.cold else MISSING


def _description(panel: Panel, results: Results) -> str:
    by_speed = sorted(measured(panel.cells), key=lambda point: point[1].mb_per_s)
    if not by_speed:
        return "No cell has a measurement."
    name = results.labels.sentence
    sentences = [
        f"{end}: {speed_text(stats.mb_per_s)} MB/s with {name(cell.setting)}."
        for end, (cell, stats) in (("Fastest", by_speed[-1]), ("Slowest", by_speed[0]))
    ]
    failed = len(panel.cells) - len(by_speed)
    if failed:
        sentences.append(f"{failed} of {len(panel.cells)} cells have no measurement.")
    sentences += [
        f"Outlined because recommended: {name(cell.setting)}."
        for cell in panel.cells
        if results.is_recommended(cell)
    ]
    return " ".join(sentences)

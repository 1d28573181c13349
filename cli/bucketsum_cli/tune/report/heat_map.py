"""Memory × chunk size, coloured by MB/s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from matplotlib.cm import ScalarMappable
from matplotlib.patches import Rectangle

from bucketsum_cli.tune.report.plot import (
    COLOURS,
    FAINT,
    HIGHLIGHT,
    INK,
    Plot,
    hint_of,
    new_figure,
    setting_text,
)
from bucketsum_cli.tune.results import is_measured
from bucketsum_cli.tune.texts import MISSING, chunk_text, memory_text, speed_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from bucketsum.sweep.measurements import CellRow
    from bucketsum_cli.tune.results import Panel, Results

_ROW_INCHES: Final = 0.4
_FRAME_INCHES: Final = 1.4
_LIGHT_FROM: Final = 0.5  # above this part of the scale, ink must be dark


def heat_map(name: str, panel: Panel, results: Results, scale: Normalize) -> Plot:
    """Every cell of *panel* with its MB/s; *scale* is the page's, so that colours compare."""
    memories = sorted({cell.memory_mb for cell in panel.cells})
    chunks = sorted({cell.chunk_bytes for cell in panel.cells})
    figure = new_figure(_FRAME_INCHES + _ROW_INCHES * len(memories))
    axes = figure.subplots()
    _empty_grid(axes, memories, chunks)
    hints = {}
    for number, cell in enumerate(panel.cells):
        corner = chunks.index(cell.chunk_bytes), memories.index(cell.memory_mb)
        _draw_cell(axes, corner, cell, scale, f"cell-{number}")
        hints[f"cell-{number}"] = hint_of(cell)
        if results.is_recommended(cell):
            _outline(axes, corner)
    bar = figure.colorbar(
        ScalarMappable(scale, COLOURS.resampled(32)), ax=axes, location="bottom", aspect=40
    )
    bar.set_label("MB/s")
    bar.outline.set_visible(False)
    return Plot(name, "MB/s by memory and chunk size", _description(panel, results), figure, hints)


def _empty_grid(axes: Axes, memories: list[int], chunks: list[int]) -> None:
    axes.set_xlim(0, len(chunks))
    axes.set_ylim(len(memories), 0)
    axes.set_xticks([place + 0.5 for place in range(len(chunks))], map(chunk_text, chunks))
    axes.set_yticks([place + 0.5 for place in range(len(memories))], map(memory_text, memories))
    axes.set_xlabel("chunk size")
    axes.set_ylabel("memory")
    axes.tick_params(length=0)
    axes.xaxis.set_label_position("top")
    axes.xaxis.tick_top()
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.add_patch(
        Rectangle((0, 0), len(chunks), len(memories), facecolor="#f1f1f1", edgecolor="none")
    )


def _draw_cell(
    axes: Axes, corner: tuple[int, int], cell: CellRow, scale: Normalize, gid: str
) -> None:
    colour: Any
    if cell.mb_per_s is None:
        colour, ink, text = "white", FAINT, _why_unmeasured(cell)
    else:
        part = float(scale(cell.mb_per_s))
        colour, ink = COLOURS(part), INK if part > _LIGHT_FROM else "white"
        text = speed_text(cell.mb_per_s)
    square = Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5)
    if not is_measured(cell):
        square.set(hatch="////", edgecolor="#d0d0d0")
    square.set_gid(gid)
    axes.add_patch(square)
    label = axes.text(corner[0] + 0.5, corner[1] + 0.5, text, color=ink, ha="center", va="center")
    if not is_measured(cell):
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.5})


def _why_unmeasured(cell: CellRow) -> str:
    if cell.failed or cell.cause:
        return "failed"
    return "cold only" if cell.n_cold else MISSING


def _outline(axes: Axes, corner: tuple[int, int]) -> None:
    axes.add_patch(
        Rectangle(corner, 1, 1, fill=False, edgecolor=HIGHLIGHT, linewidth=3, zorder=3)
    ).set_clip_on(False)


def _description(panel: Panel, results: Results) -> str:
    measured = sorted(filter(is_measured, panel.cells), key=lambda cell: cell.mb_per_s or 0.0)
    if not measured:
        return "No cell has a measurement."
    slowest, fastest = measured[0], measured[-1]
    said = [
        f"Fastest: {speed_text(fastest.mb_per_s)} MB/s with {setting_text(fastest)}.",
        f"Slowest: {speed_text(slowest.mb_per_s)} MB/s with {setting_text(slowest)}.",
    ]
    failed = len(panel.cells) - len(measured)
    if failed:
        said.append(f"{failed} of {len(panel.cells)} cells have no measurement.")
    said += [
        f"Outlined, because recommended: {setting_text(cell)}."
        for cell in panel.cells
        if results.is_recommended(cell)
    ]
    return " ".join(said)

"""Common parts of the report's plots, and their conversion to SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, Final, TypeAlias
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bucketsum_cli.terminal.formatting import speed_text, usd_text
from bucketsum_cli.terminal.output import printable
from bucketsum_cli.tune.plots.theme import GRID, INK, LINES, PAPER, themed
from bucketsum_cli.tune.results import Panel, Results
from bucketsum_lab.protocol.run_records import CellRow

COLOURS: Final = mpl.colormaps["cividis"]
"""Looks alike with and without colour blindness, and prints in grey."""

LABEL_BOX: Final = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
"""Behind a label, so that lines do not cross it."""

_LABEL_PART: Final = 0.06
"""Height of a label, as a part of the axes'."""

_WIDTH_INCHES: Final = 4.6  # some 360 pixels: readable on a phone without enlarging

_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}"

_STYLE: Final[dict[Any, Any]] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and enlarged
    "svg.hashsalt": "bucketsum",  # the same run is the same page, byte for byte
    "text.parse_math": False,  # a "$" is a dollar
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    **{f"{name}.color": INK for name in ("text", "xtick", "ytick")},
    **{f"axes.{name}color": INK for name in ("edge", "label")},
    "grid.color": GRID,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def style() -> AbstractContextManager[None]:
    """The style of the figures, independent of a person's own settings."""
    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    return mpl.rc_context(defaults | _STYLE)


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of one panel.

    Attributes:
        caption: The text under it.
        description: Its content in words, for people who cannot see it.
        hints: Tooltips by the id of the part.
    """

    title: str
    caption: str
    description: str
    figure: Figure
    hints: dict[str, str] = field(default_factory=dict)

    def svg(self, name: str) -> ET.Element:
        """The plot as an ``<svg>`` element, which scales with the page.

        All ids begin with *name*, so that they are unique in the page. Colours of the theme become
        CSS variables.
        """
        drawn = io.BytesIO()
        self.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        root = ET.fromstring(drawn.getvalue())  # noqa: S314 - what matplotlib has just written
        _drop(root, ("metadata", "style"))
        for element in root.iter():
            _adapt(element, name)
            hint = self.hints.get(element.get("id", "").removeprefix(f"{name}-"))
            if hint is not None:
                _insert(element, "title", hint)
        for size in ("width", "height"):
            del root.attrib[size]
        _insert(root, "desc", self.description, f"{name}-desc")
        _insert(root, "title", self.title, f"{name}-title")
        root.attrib |= {
            "role": "img",
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-desc",
        }
        return root


Plots: TypeAlias = "Mapping[str, Callable[[Panel, Results], Plot | None]]"
"""The plots of a panel by name, in their order in the report; None if it has no such cells."""


def _drop(root: ET.Element, names: tuple[str, ...]) -> None:
    """Remove elements without a use in HTML; a style would apply to the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in names:
                parent.remove(child)


def _adapt(element: ET.Element, name: str) -> None:
    """Remove namespaces, which HTML does not know; make ids unique and colours variable."""
    element.tag = element.tag.removeprefix(_SVG)
    for attribute, value in list(element.attrib.items()):
        adapted = value
        if attribute == "id":
            adapted = f"{name}-{value}"
        elif value.startswith("#") and attribute == f"{_XLINK}href":
            adapted = f"#{name}-{value[1:]}"
        elif "url(#" in value:
            adapted = value.replace("url(#", f"url(#{name}-")
        del element.attrib[attribute]
        if attribute in ("style", "fill", "stroke"):
            adapted = themed(adapted)
        element.set(attribute.removeprefix(_XLINK), adapted)


def _insert(parent: ET.Element, tag: str, text: str, element_id: str | None = None) -> None:
    child = ET.Element(tag, {"id": element_id} if element_id else {})
    child.text = printable(text)
    parent.insert(0, child)


def new_figure(height_inches: float) -> Figure:
    """A figure as wide as a phone."""
    return Figure(figsize=(_WIDTH_INCHES, height_inches), layout="constrained")


def new_axes(height_inches: float) -> tuple[Figure, Axes]:
    """A figure with one plot."""
    figure = new_figure(height_inches)
    return figure, figure.subplots()


def line_styles(count: int) -> Iterator[tuple[str, str, str]]:
    """Colour, marker and dashes of each of *count* lines."""
    styles = zip(cycle(LINES), cycle("osD^vPX"), cycle(("-", "--", ":", "-.")), strict=False)
    return islice(styles, count)


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Label each line where it ends, right of the axes, in its colour."""
    low, high = axes.get_ylim()
    apart = (high - low) * _LABEL_PART
    ordered = sorted(ends, key=lambda end: end[1])
    heights: list[float] = []
    for _, y, _, _ in ordered:
        heights.append(max(y, heights[-1] + apart) if heights else y)
    limit = high
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], limit)
        limit = heights[number] - apart
    for (x, y, text, colour), height in zip(ordered, heights, strict=True):
        axes.annotate(
            text, (x, y), (1.05, height), textcoords=axes.get_yaxis_transform(), va="center",
            fontsize=8, color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkB": 4},
        )  # fmt: skip


def hint_of(cell: CellRow, results: Results) -> str:
    """The setting, speed and cost of *cell*, in one line."""
    setting = results.labels.sentence(cell.setting)
    stats = cell.stats
    if stats is None:
        return f"{setting}: no measurement ({cell.cause or 'no warm sample'})"
    return f"{setting}: {speed_text(stats.mb_per_s)} MB/s, {usd_text(stats.usd_per_tb)} USD per TB"

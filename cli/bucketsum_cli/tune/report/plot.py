"""Common parts of the report's plots, which show no text from outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from bucketsum_cli.tune.formatting import speed_text, usd_text
from bucketsum_cli.tune.report.svg import svg_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree import ElementTree as ET

    from matplotlib.colors import Normalize

    from bucketsum.sweep.records import CellRow
    from bucketsum_cli.tune.labels import SettingLabels
    from bucketsum_cli.tune.results import Panel, Results

COLOURS: Final = mpl.colormaps["cividis"]
"""Looks alike with and without colour blindness, and prints in grey."""

_WIDTH_INCHES: Final = 4.6  # some 360 pixels: readable on a phone without enlarging


@dataclass(frozen=True, slots=True)
class PlotKind:
    """A plot that workloads name in `Workload.plots`.

    Attributes:
        draw: Draws the panel as a plot with this name; the scale of colours is the page's.
        caption: The text under it.
    """

    draw: Callable[[str, Panel, Results, Normalize], Plot]
    caption: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of one panel.

    Attributes:
        name: Prefix of every id in it.
        title: Its heading.
        description: Its content in words, for people who cannot see it.
        figure: The drawing.
        hints: Tooltips by the id of the part.
    """

    name: str
    title: str
    description: str
    figure: Figure
    hints: dict[str, str] = field(default_factory=dict)

    def svg(self) -> ET.Element:
        """The plot as an element of a page."""
        return svg_of(self.figure, self.name, self.title, self.description, self.hints)


def new_figure(height_inches: float) -> Figure:
    """A figure as wide as a phone."""
    return Figure(figsize=(_WIDTH_INCHES, height_inches), layout="constrained")


def hint_of(cell: CellRow, labels: SettingLabels) -> str:
    """The setting, speed and cost of *cell*, in one line."""
    setting = labels.sentence(cell.setting)
    stats = cell.stats
    if stats is None:
        return f"{setting}: no measurement ({cell.cause or 'no warm sample'})"
    return f"{setting}: {speed_text(stats.mb_per_s)} MB/s, {usd_text(stats.usd_per_gb)} USD per GB"

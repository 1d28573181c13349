"""Use of CPU, network and disk each second: two axes for the median sample of each cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, cycle
from math import isnan, nan
from textwrap import fill
from typing import Final, Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from bucketsum.measure import BYTES_PER_MB
from bucketsum_cli.tune.plots.plot import Plot, new_figure
from bucketsum_cli.tune.plots.theme import LINES
from bucketsum_cli.tune.plots.variants import cell_labels
from bucketsum_cli.tune.results import Panel, Results, bottleneck_text, measured, median_sample
from bucketsum_lab.protocol.run_records import CellStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.use import Use

ROWS_MAX: Final = 24
"""More cells than a page has room for; the fastest are shown."""

_SECONDS_MIN: Final = 2.0
"""A shorter sample has no course."""

_INTERVAL_SECONDS_MIN: Final = 0.2
"""The rate of a shorter interval, the last, says little."""

_CAPTION: Final = (
    "The run nearest to the median of each cell, with its preparations, second by second. CPU "
    "seconds are those of programs and kernel; a throttled process has used up its CPU share. "
    "Network: the busier direction. Disk: read and written. Runs of less than two seconds are "
    "left out."
)
_CAPTION_OF_MANY: Final = f" Only the {ROWS_MAX} fastest cells are shown."

_ROW_INCHES: Final = 0.95
_FRAME_INCHES: Final = 0.75
_LABEL_CHARACTERS: Final = 74


class _Quantity(NamedTuple):
    """A quantity, drawn as a line for each cell, on the left or the right axes."""

    name: str
    unit: str
    field: int
    total: Callable[[Use], float | None]
    colour: str
    dashes: Literal["-", "--"]


_QUANTITIES: Final = (
    _Quantity("CPU", "s per second", 0, lambda use: use.cpu, LINES[0], "-"),
    _Quantity("throttled", "s per second", 0, lambda use: use.throttled, LINES[1], "--"),
    _Quantity("network", "MB/s", 1, lambda use: _mb(use.network_bytes), LINES[2], "-"),
    _Quantity("disk", "MB/s", 1, lambda use: _mb(use.disk_bytes), LINES[3], "--"),
)


def use_over_time(panel: Panel, results: Results) -> Plot | None:
    """A row for each cell; None if all samples of *panel* are shorter than two seconds."""
    curves = [
        (cell, stats.mb_per_s, uses)
        for cell, stats in measured(panel.cells)
        if (uses := _course(results.samples.get(cell.cell_id, ()), stats))
    ]
    if not curves:
        return None
    slowest = sorted((speed for _, speed, _ in curves), reverse=True)[:ROWS_MAX][-1]
    shown = [(cell, uses) for cell, speed, uses in curves if speed >= slowest][:ROWS_MAX]
    labels = cell_labels(panel.cells)
    figure = new_figure(_FRAME_INCHES + _ROW_INCHES * len(shown))
    rows = figure.subplots(len(shown), 2, sharex=True, sharey="col", squeeze=False)
    hints, names = {}, set[str]()
    for number, (fields, (cell, uses)) in enumerate(zip(rows, shown, strict=True)):
        title = f"{labels[cell.cell_id]}: {bottleneck_text(cell)}"
        fields[0].set_title(fill(title, _LABEL_CHARACTERS), loc="left", fontsize=8)
        for quantity in _QUANTITIES:
            gid = f"use-{number}-{quantity.name}"
            if text := _draw(fields[quantity.field], quantity, uses, gid):
                hints[gid] = f"{labels[cell.cell_id]}: {text}"
                names.add(quantity.name)
    for axes in rows[-1]:
        axes.set_xlabel("seconds", fontsize=8)
    for axes, unit in zip(rows.flat, cycle(("s per second", "MB/s")), strict=False):
        axes.set_ylabel(unit, fontsize=7.5)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.tick_params(labelsize=7.5)
        axes.grid(axis="y")
    figure.legend(
        handles=[
            Line2D([], [], color=quantity.colour, linestyle=quantity.dashes, label=quantity.name)
            for quantity in _QUANTITIES
            if quantity.name in names
        ],
        loc="outside upper center", ncols=len(_QUANTITIES), fontsize=8, handlelength=2.4,
    )  # fmt: skip
    caption = _CAPTION + _CAPTION_OF_MANY * (len(curves) > len(shown))
    description = " ".join(f"{hint}." for hint in hints.values())
    return Plot("Use over time", caption, description, figure, hints)


def _course(samples: Sequence[Sample], stats: CellStatistics) -> Sequence[Use]:
    """Intervals of the median sample, without short intervals; empty if the sample is short."""
    sample = median_sample((sample for sample in samples if sample.use), stats)
    uses = sample.use.uses if sample and sample.use else ()
    is_told = any(quantity.total(use) is not None for quantity in _QUANTITIES for use in uses)
    if not is_told or sum(use.seconds for use in uses) < _SECONDS_MIN:
        return ()
    return [use for use in uses if use.seconds >= _INTERVAL_SECONDS_MIN]


def _draw(axes: Axes, quantity: _Quantity, uses: Sequence[Use], gid: str) -> str:
    """Draw a line and return its numbers in words; empty if they are unknown."""
    totals = [quantity.total(use) for use in uses]
    known = [total for total in totals if total is not None]
    if not known:
        return ""
    rates = [
        nan if total is None else total / use.seconds
        for total, use in zip(totals, uses, strict=True)
    ]
    edges = [0.0, *accumulate(use.seconds for use in uses)]
    axes.stairs(
        rates, edges, baseline=None, color=quantity.colour, linestyle=quantity.dashes,
        linewidth=1.6, gid=gid, clip_on=False,
    )  # fmt: skip
    mean = sum(known) / edges[-1]
    highest = max(rate for rate in rates if not isnan(rate))
    return f"{quantity.name} {mean:.3g} {quantity.unit}, {highest:.3g} at most"


def _mb(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else size_bytes / BYTES_PER_MB

"""Plots of records: seconds and dollars against reads, and seconds against objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from bucketsum_cli.terminal.formatting import count_text, usd_text
from bucketsum_cli.tune.formatting import memory_text, seconds_text
from bucketsum_cli.tune.plots.plot import LABEL_BOX, Plot, Plots, line_styles, new_axes
from bucketsum_cli.tune.plots.theme import HIGHLIGHT, PAPER
from bucketsum_cli.tune.results import Panel, Results
from bucketsum_cli.tune.workloads.records.read_costs import (
    Crossover,
    Line,
    equal_prices,
    equal_times,
    measured_crossovers,
    read_usd,
)
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.workloads.records.layouts import IN_PARTITIONS
from bucketsum_lab.workloads.records.workload import RecordsStatistics

_LEGEND_LETTERS: Final = 44


def measured_lines(
    cells: Sequence[CellRow], value_of: Callable[[CellRow], float | None], name: str
) -> Mapping[str, Line]:
    """The measured points of each setting against its parameter *name*."""
    has_memory = len({cell.setting.memory_mb for cell in cells}) > 1
    lines = defaultdict[str, list[tuple[int, float]]](list)
    for cell in cells:
        value = value_of(cell)
        if value is not None:
            label = line_label(cell, name, has_memory=has_memory)
            lines[label].append((int(cell.setting.own[name]), value))
    return {label: tuple(sorted(points)) for label, points in lines.items()}


def wall_seconds(cell: CellRow) -> float | None:
    """Build, index and fetch together; None without a warm run."""
    own = RecordsStatistics.of(cell)
    return own.total_seconds if own and cell.stats else None


def line_label(cell: CellRow, name: str, *, has_memory: bool) -> str:
    """The setting of *cell* in words, without its parameter *name*."""
    memory = [memory_text(cell.setting.memory_mb)] * has_memory
    texts = (
        parameter.label.format(value)
        for parameter, value in cell.setting.variant
        if parameter.name != name
    )
    own = RecordsStatistics.of(cell)
    server = [own.database_server] if own and own.database_server else []
    return ", ".join([*memory, *texts, *server])


def finish_logarithmic(axes: Axes, name: str, unit: str) -> None:
    """Make both axes logarithmic, with plain numbers; *name* and *unit* are their labels."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.08, 0.12)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _index: f"{count:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _index: _plain(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(name)
    axes.set_ylabel(unit)
    axes.grid()


def _plain(value: float) -> str:
    """A power of ten without an exponent."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.9f}".rstrip("0")


def add_legend(figure: Figure, labels: Collection[str]) -> None:
    """The legend under the axes, in two columns if they fit."""
    if labels:
        columns = 2 if 2 * max(map(len, labels)) <= _LEGEND_LETTERS else 1
        figure.legend(loc="outside lower center", ncols=columns, fontsize=8)


_CAPTION: Final = (
    "Small marks are medians of the warm runs: the time to build the layout, if that is the "
    "reader's part, to load its index and to fetch all records. Filled diamonds are where the "
    "lowest measured line changes, interpolated between measured points. Hollow diamonds are "
    "arithmetic: the reads whose latencies, or prices, together reach those of the whole object, "
    "from the latency and bandwidth measured in this run."
)


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    unit: str
    text: Callable[[float], str]
    value: Callable[[CellRow], float | None]
    by_arithmetic: Callable[[Sequence[CellRow]], list[Crossover]]


_SECONDS: Final = _Kind("Seconds against reads", "seconds", seconds_text, wall_seconds, equal_times)
_USD: Final = _Kind("US dollars against reads", "US dollars", usd_text, read_usd, equal_prices)


def _plot(kind: _Kind, panel: Panel, _results: Results) -> Plot:
    lines = measured_lines(panel.cells, kind.value, "reads")
    measured, arithmetic = measured_crossovers(lines), kind.by_arithmetic(panel.cells)
    figure, axes = new_axes(5.0)
    hints = {}
    for number, ((label, points), (colour, marker, dashes)) in enumerate(
        zip(lines.items(), line_styles(len(lines)), strict=True)
    ):
        axes.plot(*zip(*points, strict=True), dashes, color=colour, linewidth=1.3)
        for reads, value in points:
            gid = f"point-{number}-{reads}"
            axes.plot([reads], [value], marker, color=colour, markersize=5, gid=gid)
            hints[gid] = f"{label}: {count_text(reads, 'read')}, {kind.text(value)} {kind.unit}"
        axes.plot([], [], dashes, marker=marker, color=colour, markersize=5, label=label)
    _mark(axes, measured, "measured crossover", filled=True)
    _mark(axes, arithmetic, "crossover by arithmetic", filled=False)
    finish_logarithmic(axes, "reads", kind.unit)
    add_legend(figure, lines)
    return Plot(kind.title, _CAPTION, _description(measured, arithmetic, kind), figure, hints)


def _mark(axes: Axes, crossovers: Sequence[Crossover], label: str, *, filled: bool) -> None:
    for crossover in crossovers:
        axes.plot(
            [crossover.reads], [crossover.value], "D", markersize=8, zorder=4, linestyle="none",
            markeredgecolor=HIGHLIGHT, markerfacecolor=HIGHLIGHT if filled else PAPER,
        )  # fmt: skip
        axes.annotate(
            f"{crossover.reads:,.0f}", (crossover.reads, crossover.value),
            xytext=(8, -10) if filled else (-8, 4), textcoords="offset points",
            ha="left" if filled else "right", fontsize=8, zorder=6,
            bbox=LABEL_BOX,
        )  # fmt: skip
    if crossovers:
        axes.plot(
            [], [], "D", markersize=7, linestyle="none", label=label,
            markeredgecolor=HIGHLIGHT, markerfacecolor=HIGHLIGHT if filled else PAPER,
        )  # fmt: skip


def _description(
    measured: Sequence[Crossover], arithmetic: Sequence[Crossover], kind: _Kind
) -> str:
    sentences = [
        f"{source}: {crossover.before} below {count_text(round(crossover.reads), 'read')}, "
        f"{crossover.after} above ({kind.text(crossover.value)} {kind.unit})."
        for source, crossovers in (("Measured", measured), ("By arithmetic", arithmetic))
        for crossover in crossovers
    ]
    return " ".join(sentences) or "No layout crosses another."


seconds_against_reads: Final = partial(_plot, _SECONDS)
"""Build, index and fetch together."""

usd_against_reads: Final = partial(_plot, _USD)
"""Lambda's time and requests."""


_OBJECTS_CAPTION: Final = (
    "All records are in so many objects, each with as many records, plus or minus one. Solid "
    "lines with filled marks are wall time, dotted lines with hollow marks the CPU time of the "
    "process, both with the index. If a partition has more than 1,000 objects, as many exist and "
    "the rest is scaled; of single ranges, at most 1,000 are read."
)


def seconds_against_objects(panel: Panel, _results: Results) -> Plot | None:
    """Wall and CPU time; None if no cell of *panel* has partitions."""
    cells = [cell for cell in panel.cells if cell.setting.own["layout"] in IN_PARTITIONS]
    if not cells:
        return None
    wall = measured_lines(cells, wall_seconds, "objects")
    cpu = measured_lines(cells, _cpu_seconds, "objects")
    figure, axes = new_axes(5.0)
    hints, sentences = {}, []
    styles = line_styles(len(wall))
    for number, (label, (colour, marker, dashes)) in enumerate(zip(wall, styles, strict=True)):
        axes.plot(*zip(*wall[label], strict=True), "-", color=colour, linewidth=1.3)
        axes.plot(*zip(*cpu[label], strict=True), ":", color=colour, linewidth=1.3)
        axes.plot([], [], dashes, marker=marker, color=colour, markersize=5, label=label)
        for (objects, seconds), (_, cpu_seconds) in zip(wall[label], cpu[label], strict=True):
            gid = f"point-{number}-{objects}"
            text = (
                f"{label}: {count_text(objects, 'object')}, {seconds_text(seconds)} seconds, "
                f"{seconds_text(cpu_seconds)} seconds of CPU time"
            )
            axes.plot([objects], [seconds], marker, color=colour, markersize=5, gid=gid)
            axes.plot(
                [objects], [cpu_seconds], marker, color=colour, markersize=5, fillstyle="none"
            )
            hints[gid] = text
            sentences.append(f"{text}.")
    finish_logarithmic(axes, "objects", "seconds")
    add_legend(figure, wall)
    description = " ".join(sentences) or "No cell was measured."
    return Plot("Seconds against objects", _OBJECTS_CAPTION, description, figure, hints)


def _cpu_seconds(cell: CellRow) -> float | None:
    own = RecordsStatistics.of(cell)
    if own is None or cell.stats is None:
        return None
    return own.build_cpu_seconds + own.index_cpu_seconds + own.fetch_cpu_seconds


PLOTS: Final[Plots] = {
    "reads": seconds_against_reads,
    "reads-cost": usd_against_reads,
    "objects": seconds_against_objects,
}

"""Seconds against the number of objects that the records are partitioned into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.formatting import count_text, seconds_text
from bucketsum_cli.tune.plots.plot import Plot, line_styles, new_axes
from bucketsum_cli.tune.workloads.records.lines import (
    add_legend,
    finish_logarithmic,
    measured_lines,
    wall_seconds,
)
from bucketsum_lab.workloads.records.layouts import IN_PARTITIONS
from bucketsum_lab.workloads.records.workload import RecordsStatistics

if TYPE_CHECKING:
    from bucketsum_cli.tune.results import Panel, Results
    from bucketsum_lab.protocol.run_records import CellRow

_TITLE: Final = "Seconds against objects"
_CAPTION: Final = (
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
    return Plot(_TITLE, _CAPTION, " ".join(sentences) or "No cell was measured.", figure, hints)


def _cpu_seconds(cell: CellRow) -> float | None:
    own = RecordsStatistics.of(cell)
    if own is None or cell.stats is None:
        return None
    return own.build_cpu_seconds + own.index_cpu_seconds + own.fetch_cpu_seconds

"""The registry of plots: those of all workloads, then those of one workload each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.report.cost_frontier import cost_frontier
from bucketsum_cli.tune.report.heat_map import heat_map
from bucketsum_cli.tune.report.memory_curve import memory_curve
from bucketsum_cli.tune.report.plot import PlotKind
from bucketsum_cli.tune.report.reads_curve import seconds_against_reads, usd_against_reads
from bucketsum_cli.tune.report.stage_times import stage_times
from bucketsum_cli.tune.report.transfer_plots import TRANSFER_PLOTS

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAT_MAP_CAPTION: Final = (
    "Each square's number is MB/s at the median of the warm runs; where several settings share a "
    "square, it is that of the fastest. A colour means the same speed in all heat maps of this "
    "page. The outlined square is the recommended setting."
)
_MEMORY_CAPTION: Final = "Marks are medians. Bars extend from the slowest to the fastest warm run."
_COST_CAPTION: Final = (
    "Each dot is one setting. The line joins the settings for which no other setting "
    "is both faster and cheaper; the star is the recommended setting."
)
_STAGES_CAPTION: Final = (
    "Bars are medians. If everything is fetched first, the wall time is the sum of both bars; if "
    "both overlap completely, it is the longer bar."
)
_READS_CAPTION: Final = (
    "Small marks are medians of the warm runs: the time to build the layout, if that is the "
    "reader's part, to load its index and to fetch all records. Filled diamonds are where the "
    "lowest measured line changes, interpolated between measured points. Hollow diamonds are "
    "arithmetic: the reads whose latencies, or prices, together reach those of the whole object, "
    "from the latency and bandwidth measured in this run."
)

PLOTS: Final[Mapping[str, PlotKind]] = {
    "heat": PlotKind(heat_map, _HEAT_MAP_CAPTION),
    "memory": PlotKind(memory_curve, _MEMORY_CAPTION),
    "stages": PlotKind(stage_times, _STAGES_CAPTION),
    "cost": PlotKind(cost_frontier, _COST_CAPTION),
    **TRANSFER_PLOTS,
    "reads": PlotKind(seconds_against_reads, _READS_CAPTION),
    "reads-cost": PlotKind(usd_against_reads, _READS_CAPTION),
}
"""Plots by the names that `Workload.plots` has."""

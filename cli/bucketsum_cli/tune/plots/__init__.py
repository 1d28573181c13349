"""Plots of a run; imports the plotting library."""

from __future__ import annotations

from typing import Final

from bucketsum_cli.tune.plots.cost_frontier import cost_frontier
from bucketsum_cli.tune.plots.heat_map import heat_map
from bucketsum_cli.tune.plots.memory_curve import memory_curve
from bucketsum_cli.tune.plots.plot import Plots

PLOTS: Final[Plots] = {"heat": heat_map, "memory": memory_curve, "cost": cost_frontier}
"""Those of a workload without plots of its own."""

"""Lines of a plot on logarithmic scales: a line per setting, over one of its parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import FuncFormatter, NullFormatter

from bucketsum_cli.terminal.formatting import memory_text
from bucketsum_lab.workloads.records.workload import RecordsStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bucketsum_cli.tune.workloads.records.read_costs import Line
    from bucketsum_lab.protocol.run_records import CellRow

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

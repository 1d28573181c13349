"""The view of a workload: its own columns and rows, as the command shows and exports them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bucketsum_cli.terminal.formatting import MISSING

if TYPE_CHECKING:
    from bucketsum_lab.protocol.run_records import CellRow, WorkloadStatistics
    from bucketsum_lab.protocol.samples import Sample

Statistics = TypeVar("Statistics", bound="WorkloadStatistics")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table of a run, on the terminal and in the report.

    Attributes:
        name: Its name, different from those of all other columns.
        is_number: Whether it is aligned to the right.
        in_report: Whether only the report has room for it.
        is_minor: Whether a narrow terminal leaves it out.
        meaning: Its explanation in the report; empty for none.
    """

    name: str
    title: str
    text: Callable[[CellRow], str]
    is_number: bool = True
    in_report: bool = False
    is_minor: bool = False
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadView:
    """The view of a workload; the defaults are for a workload without columns of its own.

    Attributes:
        columns: Its own columns in the table of a run.
        row_names: Columns of the rows that each of its samples has, in ``export --format rows``.
        rows: The rows of a sample by `row_names`: one for each file, as an example.
        plots: Module with the `PLOTS` of its report; only a report imports it.
        programs: Function that lets its probe use what Lambda does not have; empty for none.
    """

    columns: tuple[TableColumn, ...] = ()
    row_names: tuple[str, ...] = ()
    rows: Callable[[Sample], Iterable[Mapping[str, object]]] = lambda _sample: ()
    plots: str = "bucketsum_cli.tune.plots"
    programs: str = ""


def text_of(
    kind: type[Statistics], text: Callable[[Statistics], str | None]
) -> Callable[[CellRow], str]:
    """Return a function: cell → *text* of its statistics of *kind*; a dash if there are none."""

    def of_cell(cell: CellRow) -> str:
        own = kind.of(cell)
        return (text(own) if own else None) or MISSING

    return of_cell

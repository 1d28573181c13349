"""The view of a workload: its own columns and rows, as the command shows and exports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bucketsum_cli.tune.formatting import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bucketsum.sweep.records import CellRow
    from bucketsum.sweep.samples import Sample


@dataclass(frozen=True, slots=True)
class OwnColumn:
    """A column of the workloads whose `columns` name it.

    Attributes:
        name: Its name in `Workload.columns`.
        title: Its heading.
        text: The text of a cell.
        is_number: Whether it is aligned to the right.
        in_report: Whether only the report has room for it.
        meaning: Its explanation in the report; empty for none.
    """

    name: str
    title: str
    text: Callable[[CellRow], str]
    is_number: bool = True
    in_report: bool = False
    meaning: str = ""


class WorkloadView:
    """The view of a workload; the defaults are for a workload without columns of its own."""

    columns: ClassVar[tuple[OwnColumn, ...]] = ()
    """One for each name in `Workload.columns`."""
    row_names: ClassVar[tuple[str, ...]] = ()
    """Columns of the rows that each of its samples has, in ``export --format rows``."""

    def rows(self, sample: Sample) -> Iterable[Mapping[str, object]]:  # noqa: ARG002 - a default
        """The rows of *sample* by `row_names`: one for each file, as an example."""
        return ()


def statistic(name: str, form: str) -> Callable[[CellRow], str]:
    """The text of a workload's statistic of a cell in the format *form*, such as ``{:,.1f} ms``."""

    def text(cell: CellRow) -> str:
        return form.format(cell.own[name]) if name in cell.own else MISSING

    return text

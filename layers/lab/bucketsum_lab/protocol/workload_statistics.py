"""The statistics of a cell that only its workload has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bucketsum.table.codec import from_values, names_of

if TYPE_CHECKING:
    from typing import Self


class _Cell(Protocol):
    """A `CellRow`, which has a field of this module's type."""

    @property
    def own(self) -> WorkloadStatistics | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadStatistics:
    """A workload's own statistics of a cell: a number or a text in each field."""

    @classmethod
    def of(cls, cell: _Cell) -> Self | None:
        """Those of *cell*; None without a good sample, and for another workload."""
        return cell.own if isinstance(cell.own, cls) else None

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Those among *values* by name; None if there are none.

        Raises:
            ValueError: Some are missing, or are of another type.
        """
        return None if values.keys().isdisjoint(names_of(cls)) else from_values(cls, values)

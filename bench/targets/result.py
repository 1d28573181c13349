"""A measured value beside what was promised of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: The measured value.
        unit: Its unit.
        promised: The most that it may be.
        detail: Spread and circumstances.
    """

    what: str
    value: float
    unit: str
    promised: float
    detail: str

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return self.value <= self.promised

    def as_json(self) -> dict[str, Any]:
        """The same for a machine."""
        return {**asdict(self), "kept": self.kept}

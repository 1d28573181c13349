"""A measured value and its target."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the table.

    Attributes:
        name: The measured quantity.
        value: The measured value.
        unit: Unit of value and target.
        target: The highest allowed value.
        detail: Spread and circumstances.
    """

    name: str
    value: float
    unit: str
    target: float
    detail: str

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.target

    def as_json(self) -> dict[str, Any]:
        """All fields, and ``met``."""
        return {**asdict(self), "met": self.met}

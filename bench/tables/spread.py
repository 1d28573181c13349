"""Median and range of several measurements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Self


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, smallest and largest value."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The spread of *values*.

        Raises:
            statistics.StatisticsError: There is no value.
        """
        ordered = sorted(values)
        return cls(median(ordered), *ordered[:1], *ordered[-1:])

    def text(self, decimals: int) -> str:
        """As ``1.49 (1.47-1.52)``; without the range if all values are equal."""
        if self.low == self.high:
            return f"{self.median:.{decimals}f}"
        return f"{self.median:.{decimals}f} ({self.low:.{decimals}f}-{self.high:.{decimals}f})"


def spread_of(values: Iterable[float | None]) -> Spread | None:
    """The spread of those *values* that are known; None if none is."""
    known = [value for value in values if value is not None]
    return Spread.of(known) if known else None

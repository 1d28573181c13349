"""A table of values and spreads, shown on a terminal or in a document."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any, Self, TypeAlias

from bucketsum_cli.terminal import output
from bucketsum_cli.terminal.columns import Column as ShownColumn
from bucketsum_cli.terminal.tables import print_table


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


@dataclass(frozen=True, slots=True)
class SpreadColumn:
    """A column; it is aligned to the right if all its values are numbers or spreads.

    *text* formats a value that is not None.
    """

    title: str
    text: Callable[[Any], str] = str

    def shown(self, value: Any) -> str:  # noqa: ANN401 - any type that `text` takes
        """*value* as text; None is empty."""
        return "" if value is None else self.text(value)


def numbers(*titles: str, decimals: int) -> tuple[SpreadColumn, ...]:
    """Columns of numbers or spreads."""

    def text(value: float | Spread) -> str:
        return value.text(decimals) if isinstance(value, Spread) else f"{value:.{decimals}f}"

    return tuple(SpreadColumn(title, text) for title in titles)


def dollars(*titles: str) -> tuple[SpreadColumn, ...]:
    """Columns of US dollars with three digits."""
    return tuple(
        SpreadColumn(title, lambda usd: f"{usd:.2f}" if usd >= 1 else f"{usd:.3g}")
        for title in titles
    )


Columns: TypeAlias = "tuple[SpreadColumn | str, ...]"
"""A column that is only a title shows values as they are."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of values, with one per column in each row; None if a value is not known.

    Its name is that of its marker in a document; title and remark are printed above it.
    """

    name: str
    columns: Columns
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    remark: str = ""

    def cells(self) -> list[list[str]]:
        """All rows as text."""
        return [
            [column.shown(value) for column, value in zip(self._columns, row, strict=True)]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """The table for a document, below its title and remark if it has them."""
        ruler = ["--:" if self._is_numeric(index) else "---" for index in range(len(self.columns))]
        lines = [[column.title for column in self._columns], ruler, *self.cells()]
        heading = [f"**{self.title}**"] * bool(self.title) + [self.remark] * bool(self.remark)
        if heading:
            heading.append("")
        escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        return "\n".join([*heading, *(f"| {' | '.join(line)} |" for line in escaped)])

    def show(self) -> None:
        """Print it below its title or name; a table without rows prints nothing."""
        cells = self.cells()
        if not cells:
            return
        output.say("")
        output.say(self.title or self.name, "bold")
        if self.remark:
            output.say(self.remark)
        numeric = [*map(self._is_numeric, range(len(self.columns)))]
        columns = [
            ShownColumn(column.title, right=is_numeric, shrinks=not is_numeric)
            for column, is_numeric in zip(self._columns, numeric, strict=True)
        ]
        print_table(columns, cells)

    @property
    def _columns(self) -> list[SpreadColumn]:
        return [SpreadColumn(c) if isinstance(c, str) else c for c in self.columns]

    def _is_numeric(self, index: int) -> bool:
        values = [row[index] for row in self.rows if row[index] is not None]
        return all(
            isinstance(value, (int, float, Spread)) and not isinstance(value, bool)
            for value in values
        )


def show(tables: Iterable[Table], **origin: object) -> None:
    """Print *tables* and below them their *origin*."""
    for table in tables:
        table.show()
    output.say("")
    for name, value in origin.items():
        output.say(f"{name}: {'; '.join(value) if isinstance(value, tuple) else value}")

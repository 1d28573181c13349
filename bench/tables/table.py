"""A table of values, shown on a terminal, in a document or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from bench.tables.spread import Spread
from bucketsum_cli.terminal import output, tables


@dataclass(frozen=True, slots=True)
class SpreadColumn:
    """A column; it is aligned to the right if all its values are numbers or spreads.

    Its name is the key in JSON, with the unit; *text* formats a value that is not None.
    """

    title: str
    name: str
    text: Callable[[Any], str] = str

    def shown(self, value: Any) -> str:  # noqa: ANN401 - any type that `text` takes
        """*value* as text; None is empty."""
        return "" if value is None else self.text(value)


def numbers(*titles: str, decimals: int) -> tuple[SpreadColumn, ...]:
    """Columns of numbers or spreads, named by their titles."""

    def text(value: float | Spread) -> str:
        return value.text(decimals) if isinstance(value, Spread) else f"{value:.{decimals}f}"

    return tuple(SpreadColumn(title, title, text) for title in titles)


def dollars(title: str, name: str) -> SpreadColumn:
    """A column of US dollars with three digits."""
    return SpreadColumn(title, name, lambda usd: f"{usd:.2f}" if usd >= 1 else f"{usd:.3g}")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of values, with one per column in each row; None if a value is not known.

    Its name is that of its marker in a document; title and remark are printed above it.
    """

    name: str
    columns: tuple[SpreadColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    remark: str = ""

    def cells(self) -> list[list[str]]:
        """All rows as text."""
        return [
            [column.shown(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """The table for a document, below its title and remark if it has them."""
        ruler = ["--:" if self._is_numeric(index) else "---" for index in range(len(self.columns))]
        lines = [[column.title for column in self.columns], ruler, *self.cells()]
        heading = [f"**{self.title}**"] * bool(self.title) + [self.remark] * bool(self.remark)
        if heading:
            heading.append("")
        escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        return "\n".join([*heading, *(f"| {' | '.join(line)} |" for line in escaped)])

    def as_json(self) -> list[dict[str, Any]]:
        """One object per row, with unformatted values."""
        names = [column.name for column in self.columns]
        return [
            dict(zip(names, (_plain(value) for value in row), strict=True)) for row in self.rows
        ]

    def show(self) -> None:
        """Print it below its title or name; a table without rows prints nothing."""
        cells = self.cells()
        if not cells:
            return
        output.say("")
        output.say(self.title or self.name, "bold")
        if self.remark:
            output.say(self.remark)
        columns = [
            tables.Column(
                column.title, right=self._is_numeric(index), shrinks=not self._is_numeric(index)
            )
            for index, column in enumerate(self.columns)
        ]
        tables.print_table(columns, cells)

    def _is_numeric(self, index: int) -> bool:
        values = [row[index] for row in self.rows if row[index] is not None]
        return all(
            isinstance(value, (int, float, Spread)) and not isinstance(value, bool)
            for value in values
        )


def show(tables: Iterable[Table], *, as_json: bool, **origin: object) -> None:
    """Print *tables* and below them their *origin*, or both as one JSON document."""
    if as_json:
        named = {table.title or table.name: table.as_json() for table in tables}
        output.print_json(origin | named)
        return
    for table in tables:
        table.show()
    output.say("")
    for name, value in origin.items():
        output.say(f"{name}: {'; '.join(value) if isinstance(value, tuple) else value}")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a table
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value

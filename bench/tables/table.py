"""Tables once, shown three ways: to people, in documents, to machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bucketsum_cli import output

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Head:
    """A column.

    Attributes:
        title: Its heading, for people.
        name: Its name, for machines; with the unit.
        text: How its values are shown.
    """

    title: str
    name: str
    text: Callable[[Any], str] = str

    def shown(self, value: Any) -> str:  # noqa: ANN401 - whatever `text` takes
        """*value* for people; nothing where there is none."""
        return "" if value is None else self.text(value)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of values.

    Attributes:
        name: What the marker in the document calls it.
        heads: The columns; all but the first are numbers or short texts.
        rows: As many values each as there are columns.
    """

    name: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Any, ...], ...]

    def cells(self) -> list[list[str]]:
        """The rows for people."""
        return [
            [head.shown(value) for head, value in zip(self.heads, row, strict=True)]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """The table for a document."""
        lines = [[head.title for head in self.heads], ["---"] * len(self.heads), *self.cells()]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def as_json(self) -> list[dict[str, Any]]:
        """The rows for a machine: values as they are."""
        names = [head.name for head in self.heads]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def show(self) -> None:
        """Print it; nothing where it has no rows."""
        cells = self.cells()
        columns = [
            output.Column(head.title, max(len(head.title), *(len(row[number]) for row in cells)))
            for number, head in enumerate(self.heads)
            if cells
        ]
        output.print_table(columns, cells)


def written_between(document: str, name: str, text: str) -> str:
    """*document* with *text* between the markers ``<!-- bench NAME -->``.

    Raises:
        ValueError: It does not have each marker once, in order.
    """
    begin, end = f"<!-- bench {name} -->", f"<!-- /bench {name} -->"
    before, found, rest = document.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end) or begin in rest or end in after:
        raise ValueError(f"the document must have {begin} and after it {end}, once each")
    return f"{before}{begin}\n{text}\n{end}{after}"

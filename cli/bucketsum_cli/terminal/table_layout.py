"""Widths of a table's columns, and the lines of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len, chop_cells

from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.screen import folded, styled, width_of

_PIPE_PADDING: Final = 80  # one long key does not widen all lines of a pipe
_NARROWEST: Final = 10
GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table with their widths.

    Attributes:
        widths: The characters of each.
        available: The characters of a line of the terminal; None in a pipe, where nothing is
            folded.
    """

    columns: Sequence[Column]
    widths: Sequence[int]
    available: int | None

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        least: Sequence[int] = (),
    ) -> Layout:
        """Measure *rows*; a column is narrower than *least* only if necessary."""
        available = width_of()
        needed = [
            max((cell_len(row[index].text) for row in rows), default=0)
            for index in range(len(columns))
        ]
        needed = [max(pair) for pair in zip_longest(needed, least, fillvalue=0)]
        if available is None:
            needed = [min(width, _PIPE_PADDING) for width in needed]
        titles = [len(column.title) for column in columns]
        widths = [max(pair) for pair in zip(needed, titles, strict=True)]
        if available is not None:
            room = available - len(GAP) * (len(columns) - 1)
            if sum(widths) > room:  # headings are folded first
                words = [max(map(len, (*column.title.split(), ""))) for column in columns]
                widths = [max(pair) for pair in zip(needed, words, strict=True)]
            widths = _shrunk(columns, widths, room)
        return cls(columns, widths, available)

    @property
    def has_room(self) -> bool:
        """Whether all columns fit, of which some may be narrower than their texts."""
        needed = sum(self.widths) + len(GAP) * (len(self.widths) - 1)
        return self.available is None or needed <= self.available

    def heading(self) -> Iterator[str]:
        """The lines of the titles."""
        return self._row([Cell(column.title, "bold") for column in self.columns])

    def lines(self, rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
        """The lines of *rows*."""
        for cells in rows:
            above = {index for index, cell in enumerate(cells) if self._is_above(index, cell)}
            if not above:
                yield from self._row(cells)
                continue
            above.add(0)
            yield from self._above([cells[index] for index in sorted(above)])
            rest = [Cell("") if index in above else cell for index, cell in enumerate(cells)]
            if any(cell.text for cell in rest):
                yield from self._row(rest)

    def _is_above(self, index: int, cell: Cell) -> bool:
        """Whether *cell* gets a line above its row: it is too wide, and must not be cut."""
        if not self.available or not (index == 0 or self.columns[index].shrinks):
            return False
        words = [cell.text] if index == 0 else cell.text.split(" ")
        return max(map(cell_len, words)) > self.widths[index]

    def _above(self, cells: Sequence[Cell]) -> Iterator[str]:
        """The line of *cells*; if it is too long, lines for each cell."""
        available = self.available or 0
        if cell_len(GAP.join(cell.text for cell in cells)) <= available:
            yield GAP.join(styled(cell.text, cell.style) for cell in cells)
            return
        for cell in cells:
            is_key = cell is cells[0]  # its blanks stay
            parts = (chop_cells if is_key else folded)(cell.text, available)
            yield from (styled(part, cell.style) for part in parts)

    def _row(self, cells: Sequence[Cell]) -> Iterator[str]:
        parts = [
            folded(cell.text, width) if self.available else [cell.text]
            for cell, width in zip(cells, self.widths, strict=True)
        ]
        for texts in zip_longest(*parts, fillvalue=""):
            yield GAP.join(map(_aligned, self.columns, self.widths, cells, texts)).rstrip()


def _aligned(column: Column, width: int, cell: Cell, text: str) -> str:
    padding = " " * (width - cell_len(text))
    shown = styled(text, cell.style)
    return padding + shown if column.right else shown + padding


def _shrunk(columns: Sequence[Column], widths: list[int], room: int) -> list[int]:
    """Narrow the first column, then the widest columns, until all fit into *room*."""
    least = [min(len(columns[0].title), _NARROWEST), *[_NARROWEST] * (len(columns) - 1)]
    while sum(widths) > room:
        wide = [
            index
            for index, column in enumerate(columns)
            if column.shrinks and widths[index] > least[index]
        ]
        if not wide:
            break
        widths[0 if wide[0] == 0 else max(wide, key=widths.__getitem__)] -= 1
    return widths

"""Tables of the commands, on a terminal and in a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile, zip_longest
from typing import Final

from rich.cells import cell_len, chop_cells

from bucketsum_cli.terminal.output import printable
from bucketsum_cli.terminal.screen import folded, styled, width_of, write, write_line

_PIPE_PADDING: Final = 80  # one long key does not widen all lines of a pipe
_ROWS_AT_A_TIME: Final = 500  # the widths of more are not known before the first is shown
_NARROWEST: Final = 10
_GAP: Final = "  "
_LEAST_CUT: Final = 4  # a shorter common folder is not worth a line that names it
_LIKE_ESCAPE: Final = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])")
"""A backslash of a key that would look like the beginning of an escape of `printable`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as wide as its widest text.

    Attributes:
        right: Whether it is aligned to the right, as numbers are.
        shrinks: Whether it gets narrower on a narrow terminal. What does not fit then is folded at
            words. A text in the first column, or a word, that does not fit is never cut: it stands
            above the rest of the row.
    """

    title: str
    right: bool = False
    shrinks: bool = False


KEY: Final = Column("key", shrinks=True)
SIZE: Final = Column("size", right=True)
SHA1: Final = Column("SHA-1")
SPEED: Final = Column("MB/s", right=True)
VERSION: Final = Column("version", shrinks=True)
MOMENT: Final = Column("recorded (UTC)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a style, for example ``bold red``."""

    text: str
    style: str = ""


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
            room = available - len(_GAP) * (len(columns) - 1)
            if sum(widths) > room:  # headings are folded first
                words = [max(map(len, (*column.title.split(), ""))) for column in columns]
                widths = [max(pair) for pair in zip(needed, words, strict=True)]
            widths = _shrunk(columns, widths, room)
        return cls(columns, widths, available)

    @property
    def has_room(self) -> bool:
        """Whether all columns fit, of which some may be narrower than their texts."""
        needed = sum(self.widths) + len(_GAP) * (len(self.widths) - 1)
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
        if cell_len(_GAP.join(cell.text for cell in cells)) <= available:
            yield _GAP.join(styled(cell.text, cell.style) for cell in cells)
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
            yield _GAP.join(map(_aligned, self.columns, self.widths, cells, texts)).rstrip()


def _aligned(column: Column, width: int, cell: Cell, text: str) -> str:
    padding = " " * (width - cell_len(text))
    shown = styled(text, cell.style)
    return padding + shown if column.right else shown + padding


def print_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | Cell]],
    *,
    heading: bool = True,
    as_list: bool = False,
) -> bool:
    """Show *rows* as they come; returns whether there were any.

    In a pipe everything is complete, and a row is a line. If *as_list*, a terminal without room for
    all columns gets a line for each value.
    """
    rows = iter(rows)
    if as_list:
        first = [*islice(rows, _ROWS_AT_A_TIME)]
        rows = chain(first, rows)
        if first and not Layout.of(columns, cells_of(first)).has_room:
            _print_list(columns, rows)
            return True
    layout = None
    while piece := cells_of(islice(rows, _ROWS_AT_A_TIME)):
        is_first = layout is None
        folder = _common_folder(Layout.of(columns, piece), piece)
        if folder:
            write_line(f"… = {folder}", "dim")
            piece = [
                [replace(row[0], text=f"…{row[0].text[len(folder) :]}"), *row[1:]] for row in piece
            ]
        layout = Layout.of(columns, piece, layout.widths if layout else ())
        lines = chain(layout.heading() if heading and is_first else (), layout.lines(piece))
        if not write("".join(f"{line}\n" for line in lines)):
            break
    return layout is not None


def _print_list(columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]]) -> None:
    """Show each value of *rows* that is not empty behind its column's title."""
    width = max(len(column.title) for column in columns) + len(_GAP)
    for number, row in enumerate(rows, 1):
        is_read = write_line(f"row {number:,}", "bold")
        for column, cell in zip(columns, cells_of([row])[0], strict=True):
            if cell.text:
                write_line(f"{column.title:<{width}}{cell.text}", indent=width)
        if not is_read:
            break


def cells_of(rows: Iterable[Sequence[str | Cell]]) -> list[list[Cell]]:
    """The cells of *rows*, printable."""
    return [[_cell(cell) for cell in row] for row in rows]


def _cell(cell: str | Cell) -> Cell:
    if isinstance(cell, str):
        cell = Cell(cell)
    return replace(cell, text=printable(_LIKE_ESCAPE.sub(r"\\\\", cell.text)))


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


def _common_folder(layout: Layout, rows: Sequence[Sequence[Cell]]) -> str:
    """The folder that all keys have in common if more of them fit without it; else empty."""
    keys = [row[0].text for row in rows]
    pairs = zip(min(keys), max(keys), strict=False)
    shared = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    folder = shared.rpartition("/")[0]
    is_short = len(folder) < _LEAST_CUT or folder.endswith(":/")  # of s3://, the folder is s3:/
    if layout.available is None or len(keys) == 1 or is_short:
        return ""
    room = layout.widths[0]
    longer = sum(cell_len(key) > room for key in keys)
    longer_without = sum(cell_len(key) - cell_len(folder) + 1 > room for key in keys)
    return folder if longer_without < longer else ""

"""Tables of the commands, on a terminal and in a pipe."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import click
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from bucketsum_cli.terminal.output import answers, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

SHA1_WIDTH: Final = 40

_PIPE_PADDING: Final = 80  # one long key does not widen all lines of a pipe
_ROWS_AT_A_TIME: Final = 500  # rich lays out whole tables, so long ones are laid out in pieces
NARROWEST: Final = 10
GAP: Final = 2
_LIKE_ESCAPE: Final = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])")
"""A backslash of a key that would look like the beginning of an escape of `printable`."""

_LINES: Final = 2  # maximum lines of a key in a table


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        width: Characters on a terminal; 0, for keys, is all that the other columns leave.
        right: Whether it is aligned to the right, as numbers are.
        folds: Whether it gets narrower on a narrow terminal.
    """

    title: str
    width: int = 0
    right: bool = False
    folds: bool = False


KEY: Final = Column("key")
SIZE: Final = Column("size", 8, right=True)
SHA1: Final = Column("SHA-1", SHA1_WIDTH)
SPEED: Final = Column("MB/s", 7, right=True)
VERSION: Final = Column("version", 32, folds=True)
MOMENT: Final = Column("recorded (UTC)", 19)


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a style of rich, for example ``yellow``."""

    text: str
    style: str


def print_table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, heading: bool = True
) -> bool:
    """Show *rows* as they come; returns whether there were any.

    On a terminal long texts are folded, and very long keys lose their middle; digests are always
    complete. In a pipe everything is complete, and a row is a line.
    """
    console = answers()
    show = _show_on_terminal if console.is_terminal else _show_in_pipe
    rows = iter(rows)
    any_shown = False
    while piece := list(islice(rows, _ROWS_AT_A_TIME)):
        show(console, columns, piece, heading=heading and not any_shown)
        any_shown = True
    return any_shown


def _show_in_pipe(
    _: Console, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, heading: bool
) -> None:
    lines = [[column.title for column in columns]] if heading else []
    lines += [[_as_text(cell).plain for cell in row] for row in rows]
    widths = [min(max(map(cell_len, texts)), _PIPE_PADDING) for texts in zip(*lines, strict=True)]
    for line in lines:
        texts = [
            " " * (width - cell_len(text)) + text
            if column.right
            else text + " " * (width - cell_len(text))
            for text, column, width in zip(line, columns, widths, strict=True)
        ]
        click.echo((" " * GAP).join(texts).rstrip())


def _show_on_terminal(
    console: Console,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | Cell]],
    *,
    heading: bool,
) -> None:
    widths = _widths(console, columns)
    table = _table(columns, widths, heading=heading)
    for row in rows:
        table.add_row(
            *(
                _as_text(cell, None if column.width else width * _LINES)
                for cell, column, width in zip(row, columns, widths, strict=True)
            )
        )
    console.print(table)


def table_of(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, heading: bool
) -> Table:
    """A table in which every column has exactly its width; longer texts are folded."""
    table = _table(columns, [column.width for column in columns], heading=heading)
    for row in rows:
        table.add_row(*map(_as_text, row))
    return table


def _table(columns: Sequence[Column], widths: Sequence[int], *, heading: bool) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=heading)
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(column.title, "bold"),
            width=width,
            justify="right" if column.right else "left",
            overflow="fold",
        )
    return table


def _widths(console: Console, columns: Sequence[Column]) -> list[int]:
    """Compute the width of each column; *console* is widened if they do not fit.

    The terminal then breaks the lines itself: rich would cut a digest to make them fit.
    """
    firm = sum(column.width for column in columns if not column.folds)
    left = console.width - firm - GAP * (len(columns) - 1)
    widths = {
        column: max(min(column.width, left // 2), NARROWEST) if column.folds else column.width
        for column in columns
    }
    left -= sum(width for column, width in widths.items() if column.folds)
    left = max(left, NARROWEST)
    console.width = max(console.width, sum(widths.values()) + left + GAP * (len(columns) - 1))
    return [widths[column] or left for column in columns]


def _as_text(cell: str | Cell, maximum: int | None = None) -> Text:
    text = cell.text if isinstance(cell, Cell) else cell
    text = printable(_LIKE_ESCAPE.sub(r"\\\\", text))
    if maximum is not None:
        text = _shortened(text, maximum)
    return Text(text, cell.style if isinstance(cell, Cell) else "")


def _shortened(text: str, length: int) -> str:
    """Shorten *text* in its middle, usually folders that all keys have in common."""
    if len(text) <= length:
        return text
    tail = length * 2 // 3
    return f"{text[: length - tail - 1]}…{text[-tail:]}"

"""Tables of the commands, on a terminal and in a pipe."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final, TypeAlias, TypeVar

from rich.cells import cell_len

from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.output import printable
from bucketsum_cli.terminal.screen import write, write_line
from bucketsum_cli.terminal.table_layout import GAP, Layout

T = TypeVar("T")

RowTexts: TypeAlias = Mapping[Column, Callable[[T], str | Cell]]
"""The columns of a table, each with the function that gives its text for an item."""

_ROWS_AT_A_TIME: Final = 500  # the widths of more are not known before the first is shown
_LEAST_CUT: Final = 4  # a shorter common folder is not worth a line that names it
_LIKE_ESCAPE: Final = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])")
"""A backslash of a key that would look like the beginning of an escape of `printable`."""


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


def print_items(texts: RowTexts[T], items: Iterable[T]) -> bool:
    """Show a row for each of *items*, as `print_table` does."""
    return print_table([*texts], ([text(item) for text in texts.values()] for item in items))


def _print_list(columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]]) -> None:
    """Show each value of *rows* that is not empty behind its column's title."""
    width = max(len(column.title) for column in columns) + len(GAP)
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


def _common_folder(layout: Layout, rows: Sequence[Sequence[Cell]]) -> str:
    """The folder that all keys have in common if more of them fit without it; else empty."""
    keys = [row[0].text for row in rows]
    folder = os.path.commonprefix(keys).rpartition("/")[0]  # noqa: RUF071 - cut at a slash
    is_short = len(folder) < _LEAST_CUT or folder.endswith(":/")  # of s3://, the folder is s3:/
    if layout.available is None or len(keys) == 1 or is_short:
        return ""
    room = layout.widths[0]
    longer = sum(cell_len(key) > room for key in keys)
    longer_without = sum(cell_len(key) - cell_len(folder) + 1 > room for key in keys)
    return folder if longer_without < longer else ""

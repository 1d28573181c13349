"""What goes to the terminal: tables, JSON, numbers.

Keys are chosen by whoever may write to the bucket. Everything that is shown passes `printable`
and is never read as markup, so no key can colour, move or clear anything on a terminal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHA1_WIDTH: Final = 40

_PIPE_WIDTH: Final = 100_000  # behind a pipe nothing is folded: a row stays a line
_ROWS_AT_A_TIME: Final = 500  # rich lays out whole tables; long answers are laid out in pieces
NARROWEST: Final = 10
GAP: Final = 2
_LINES: Final = 2  # more for a key, and a table becomes a text


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Its heading.
        width: Characters it gets on a terminal; 0, a key's, is all that the others leave.
        right: Whether it is aligned to the right, as numbers are.
        folds: Whether it gets less where a terminal is narrow.
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
    """A text with a style of rich's, as ``yellow``."""

    text: str
    style: str


def printable(text: str) -> str:
    r"""*text* with all that a terminal would act on, or not show, as ``\x1b`` or ``\u202e``."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def answers() -> Console:
    """Where a command's answer goes: stdout."""
    return _console(stderr=False)


def notes() -> Console:
    """Where progress, remarks and errors go: stderr."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def say(text: str, style: str = "") -> None:
    """Show one line of the answer."""
    answers().print(Text(printable(text), style), soft_wrap=True)


def note(text: str) -> None:
    """Show one line that is not part of the answer."""
    notes().print(Text(printable(text)), soft_wrap=True)


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether *yes* was given, or a person answers *question* with yes.

    The question goes to stderr alone: click's own writes a blank to stdout, where there may be
    JSON. The end of the input is a no.
    """
    if yes:
        return True
    click.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = click.get_text_stream("stdin").readline()
    if not answer.endswith("\n"):  # nobody typed the end of the line
        click.echo("\nno answer; use --yes to skip the question", err=True)
    return answer.strip().lower() in ("y", "yes")


def progress(*columns: ProgressColumn, passing: bool = False) -> Progress:
    """Live progress on stderr: what is done, a bar, *columns*, the time it took.

    *passing* is for what a person need only see while it lasts: nothing of it stays.
    """
    console = notes()
    return Progress(
        TextColumn("{task.description:>8}"),
        BarColumn(20),
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=passing,
        disable=passing and not console.is_terminal,
    )


def print_json(document: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """The one JSON document of a command's answer; ASCII, so a terminal is safe from it too."""
    click.echo(json.dumps(document, indent=2))


def print_json_array(items: Iterable[Any]) -> None:
    """The same for an array, item by item: the first is shown before the last is known."""
    lead = "[\n"
    for item in items:
        click.echo(f"{lead}{json.dumps(item)}", nl=False)
        lead = ",\n"
    click.echo("[]" if lead == "[\n" else "\n]")


def print_table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, heading: bool = True
) -> bool:
    """Show *rows* as they come; returns whether there were any.

    On a terminal long texts are folded, and very long keys lose their middle; digests are always
    whole. Behind a pipe everything is, and a row is a line.
    """
    console = answers()
    widths = _widths(console, columns) if console.is_terminal else [None] * len(columns)
    rows = iter(rows)
    any_shown = False
    while piece := list(islice(rows, _ROWS_AT_A_TIME)):
        table = _table(columns, widths, heading=heading and not any_shown)
        for row in piece:
            table.add_row(*map(_as_text, row, columns, widths))
        console.print(table)
        any_shown = True
    return any_shown


def _table(columns: Sequence[Column], widths: Sequence[int | None], *, heading: bool) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=heading)
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(column.title, "bold"),
            width=width,
            justify="right" if column.right else "left",
            overflow="fold",
        )
    return table


def _widths(console: Console, columns: Sequence[Column]) -> list[int | None]:
    """What each column gets; *console* is widened where it cannot hold them.

    The terminal then breaks the lines itself: rich would cut into a digest to make them fit.
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


def _as_text(cell: str | Cell, column: Column, width: int | None) -> Text:
    text = printable(cell.text if isinstance(cell, Cell) else cell)
    if width is not None and not column.width:
        text = _shortened(text, width * _LINES)
    return Text(text, cell.style if isinstance(cell, Cell) else "")


def _shortened(text: str, length: int) -> str:
    """*text* without its middle, where folders that all keys have in common are."""
    if len(text) <= length:
        return text
    tail = length * 2 // 3
    return f"{text[: length - tail - 1]}…{text[-tail:]}"


def size_text(size_bytes: int) -> str:
    """*size_bytes* with three or four digits and a unit of 1,000s."""
    if size_bytes < 1000:  # noqa: PLR2004 - the step between units
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.95:  # noqa: PLR2004 - from here on it would be shown as 1000.0
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} PB"


def speed_text(mb_per_s: float | None) -> str:
    """MB/s with one decimal; nothing where nothing was measured."""
    return "" if mb_per_s is None else f"{mb_per_s:.1f}"


def moment_text(moment: str) -> str:
    """An ISO 8601 moment in UTC, to the second."""
    return moment[:19].replace("T", " ")

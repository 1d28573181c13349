"""Lines on a terminal or in a pipe: their width, their colours, and how they are written."""

from __future__ import annotations

import os
import re
import sys
from typing import Final, TextIO

import click
from rich.cells import cell_len, chop_cells

_USUAL_WIDTH: Final = 80
_WITHOUT_COLOURS: Final = ("dumb", "unknown")
_WIDEST_LABEL: Final = 24
_WORD: Final = re.compile(r" *(?:≈ )?[^ ]+(?: %(?= |$))?")  # a sign stays with its word
_LABEL: Final = re.compile(r" *(\S+ {2,})?")


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether *stream*, by default stdout, is a terminal; FORCE_COLOR says that it is."""
    return bool(os.environ.get("FORCE_COLOR")) or (stream or sys.stdout).isatty()


def width_of(stream: TextIO | None = None) -> int | None:
    """Characters per line of *stream*, by default stdout; None (no limit) in a pipe."""
    stream = stream or sys.stdout
    if not is_terminal(stream):
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """*text* in a *style* such as ``bold red`` if *stream*, by default stdout, shows colours."""
    if "NO_COLOR" in os.environ or os.environ.get("TERM") in _WITHOUT_COLOURS:
        return text
    if not style or not is_terminal(stream):
        return text
    words = set(style.split())
    colour = "".join(words - {"bold", "dim"})
    return click.style(
        text, fg=colour or None, bold="bold" in words or None, dim="dim" in words or None
    )


def write(text: str | bytes, *, to_stderr: bool = False) -> bool:
    """Write *text*; returns whether anybody still reads.

    A pipe that the reader has closed, as `head` does, is not a failure: the command may end early,
    and what it still writes is dropped.
    """
    stream: TextIO | None = sys.stderr if to_stderr else sys.stdout
    if stream is None:  # closed, as by `2>&-`: click would write to the other one
        return False
    try:
        click.echo(text, nl=False, file=stream, color=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True


def write_line(
    text: str, style: str = "", *, indent: int | None = None, to_stderr: bool = False
) -> bool:
    """Write *text* and the end of the line, on a terminal in *style* and folded at words.

    What is folded has *indent*, by default that of the text behind a label.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    width = width_of(stream)
    before = _indent(text) if indent is None else " " * indent
    lines = [text] if width is None else folded(text, width, before, breaks=False)
    shown = "".join(f"{styled(line, style, stream)}\n" for line in lines)
    return write(shown, to_stderr=to_stderr)


def _indent(text: str) -> str:
    """Spaces that align further lines with the text of ``started  2026-11-20 10:00:00 UTC``."""
    label = _LABEL.match(text)
    return " " * min(cell_len(label[0]), _WIDEST_LABEL) if label else ""


def folded(text: str, width: int, indent: str = "", *, breaks: bool = True) -> list[str]:
    """*text* in lines of at most *width*, folded at spaces; *breaks* also cuts long words."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for word in _WORD.findall(text):
        if cell_len(lines[-1] + word) <= width or not lines[-1].strip():
            lines[-1] += word
        else:
            word = word.lstrip()  # noqa: PLW2901 - the blanks before it end the line
            lines.append(indent[: max(0, width - cell_len(word))] + word)
    if not breaks:
        return lines
    return [piece for line in lines for piece in chop_cells(line, width)]

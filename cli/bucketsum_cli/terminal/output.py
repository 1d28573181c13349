"""Output of the commands: lines, JSON, and the request for confirmation.

Anyone who can write to the bucket chooses keys. All text passes `printable` and is never read as
markup, so no key can colour, move or clear anything on a terminal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.output_files import STDOUT, output_file
from bucketsum_cli.terminal.screen import write, write_line

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.progress import Progress

_Item = TypeVar("_Item")


def printable(text: str) -> str:
    r"""Escape characters that a terminal would act on or not show, as ``\x1b`` or ``\u202e``."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )


def notes() -> Console:
    """Return the console for spinners and progress: stderr."""
    from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def say(text: str, style: str = "", *, indent: int | None = None) -> None:
    """Show a line of the result, folded below its label, or with *indent*."""
    write_line(printable(text), style, indent=indent)


def note(text: str, style: str = "") -> None:
    """Show a line that is not part of the result."""
    write_line(printable(text), style, to_stderr=True)


@contextlib.contextmanager
def note_after(seconds: float, text: str) -> Iterator[None]:
    """Show the note *text* if the block takes longer than *seconds*."""
    timer = threading.Timer(seconds, note, [text])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def confirm(question: str, refusal: str, *, yes: bool) -> None:
    """Ask *question* unless *yes*; after a "no", show the note *refusal* and end the command.

    The question goes to stderr alone: click's own writes a blank to stdout, where there may be
    JSON. The end of the input is a no.

    Raises:
        SystemExit: The answer was no.
    """
    if yes:
        return
    write(f"{question} [y/N]: ", to_stderr=True)
    answer = click.get_text_stream("stdin").readline()
    if not answer.endswith("\n"):  # nobody typed the end of the line
        note("")
        note("no answer; use --yes to skip the question")
    if answer.strip().lower() not in ("y", "yes"):
        note(refusal)
        raise SystemExit(ANSWER_IS_NO)


def progress(text: str = "", *, in_bytes: bool = False, passing: bool = False) -> Progress:
    """Make live progress on stderr: description, a bar, *text*, elapsed time.

    *text* is a format of the task. With *in_bytes*, size and speed precede it. If *passing*,
    nothing stays at the end.
    """
    from rich import progress as bars  # noqa: PLC0415 - as `notes`

    console = notes()
    speed = (bars.DownloadColumn(), bars.TransferSpeedColumn()) if in_bytes else ()
    return bars.Progress(
        bars.TextColumn("{task.description:>8}"),
        bars.BarColumn(20),
        *speed,
        bars.TextColumn(text, markup=False),  # a key may look like markup
        bars.TimeElapsedColumn(),
        console=console,
        transient=passing,
        disable=passing and not console.is_terminal,
    )


def with_bar(items: Iterable[_Item], task: str, total: int | None = None) -> Iterator[_Item]:
    """Yield *items*; a bar counts them, and disappears at the end."""
    with progress("{task.completed:,.0f}", passing=True) as shown:
        yield from shown.track(items, total=total, description=task)


def print_json(document: object) -> None:
    """Show the JSON document of a command's result."""
    write(f"{json_text(document)}\n")


def print_json_array(items: Iterable[object]) -> None:
    """Show a JSON array item by item: the first is shown before the last is known."""
    lead = "[\n"
    for item in items:
        if not write(f"{lead}{json_text(item, indent=None)}"):
            return
        lead = ",\n"
    write("[]\n" if lead == "[\n" else "\n]\n")


def write_text(file: Path, text: str) -> None:
    """Write *text* to *file* as UTF-8, with its line ends as they are; see `output_file`."""
    if file == STDOUT:
        print_text(text)
        return
    with output_file(file) as written:
        written.write(text.encode())


def print_text(text: str) -> bool:
    """Write *text* as UTF-8, or show it on a terminal with escapes for control characters.

    Returns whether anybody still reads.
    """
    if sys.stdout.isatty():
        return write("\n".join(map(printable, text.replace("\r\n", "\n").split("\n"))))
    return write(text.encode())  # whatever the locale's encoding is: an escape is another name

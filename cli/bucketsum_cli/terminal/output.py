"""Output of the commands: lines, JSON, and the request for confirmation.

Anyone who can write to the bucket chooses keys. All text passes `printable` and is never read as
markup, so no key can colour, move or clear anything on a terminal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.output_files import STDOUT, output_file
from bucketsum_cli.terminal.screen import write, write_line


def printable(text: str) -> str:
    r"""Escape characters that a terminal would act on or not show, as ``\x1b`` or ``\u202e``."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )


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


def append_line(file: Path, line: str) -> None:
    """Add *line* to the end of a *file* that is kept; makes it, and its folder.

    Raises:
        CannotDoError: It cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")
    except OSError as error:
        raise CannotDoError(f"{file} cannot be written: {error.strerror or error}") from error


def print_text(text: str) -> bool:
    """Write *text* as UTF-8, or show it on a terminal with escapes for control characters.

    Returns whether anybody still reads.
    """
    if sys.stdout.isatty():
        return write("\n".join(map(printable, text.replace("\r\n", "\n").split("\n"))))
    return write(text.encode())  # whatever the locale's encoding is: an escape is another name

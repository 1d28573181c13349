"""Output of the commands: lines and JSON.

Anyone who can write to the bucket chooses keys. All text passes `printable` and is never read as
markup, so no key can colour, move or clear anything on a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from bucketsum_cli.terminal.documents import json_text
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


def print_text(text: str) -> bool:
    """Write *text* as UTF-8, or show it on a terminal with escapes for control characters.

    Returns whether anybody still reads.
    """
    if sys.stdout.isatty():
        return write("\n".join(map(printable, text.replace("\r\n", "\n").split("\n"))))
    return write(text.encode())  # whatever the locale's encoding is: an escape is another name

"""Lines of `sha1sum` (GNU coreutils): a SHA-1 and a name, also as ``--tag`` prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TextIO

from bucketsum.algorithms import SHA1
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note

_DIGITS: Final = f"[0-9A-Fa-f]{{{SHA1.hex_digits}}}"
_LINE: Final = re.compile(
    rf"(?P<escaped>\\?)(?:(?P<sha1>{_DIGITS}) [ *](?P<name>.+)"
    rf"|{SHA1.label} \((?P<tagged>.+)\) = (?P<tag>{_DIGITS}))"
)
_HERE: Final = "./"
"""The current folder: `sha1sum ./a` prints it, and `a` is meant."""
_BYTE_ORDER_MARK: Final = "\ufeff"
_UTF_16: Final = ("\udcff\udcfe", "\udcfe\udcff")
"""The byte-order marks of UTF-16, read as UTF-8."""
_SHOWN_CHARACTERS: Final = 80
_ESCAPES: Final = {"\\": r"\\", "\n": r"\n", "\r": r"\r"}
_ESCAPED: Final = re.compile(r"\\[\\nr]")
_CHARACTERS: Final = {text: character for character, text in _ESCAPES.items()}


def sums_line(sha1: str, name: str) -> str:
    """Return the line of *name*; if it has a line break, as escapes after a first backslash."""
    escaped = name = f"{_HERE}{name}" if name.startswith(_HERE) else name
    for character, text in _ESCAPES.items():  # the backslash is the first
        escaped = escaped.replace(character, text)
    return f"{'' if escaped == name else chr(92)}{sha1}  {escaped}\n"


def sums_in(stream: TextIO) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-1 of each line of *stream*; one leading ``./`` is no part of a name.

    Everything else is: ``a/./b`` is not the key ``a/b``.

    Blank lines and comments are left out, as `sha1sum --check` does.

    Raises:
        CannotDoError: A line is not sha1sum's; the message has its number.
    """
    if stream.isatty():
        note("reads lines of `sha1sum` from the terminal; Ctrl-D ends them")
    for number, ended in enumerate(stream, 1):
        line = ended.removeprefix(_BYTE_ORDER_MARK).rstrip("\n")
        if line.startswith(_UTF_16):
            raise CannotDoError("the list is UTF-16; write it as UTF-8")
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise CannotDoError(
                f"line {number} is not a SHA-1 and a name, as `sha1sum` prints them: "
                f"{line[:_SHOWN_CHARACTERS]}"
            )
        name = match["name"] or match["tagged"]
        if match["escaped"]:
            name = _ESCAPED.sub(lambda escape: _CHARACTERS[escape[0]], name)
        yield name.removeprefix(_HERE), (match["sha1"] or match["tag"]).lower()

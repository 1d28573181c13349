"""Lines of `sha1sum` (GNU coreutils): a SHA-1, two characters, and a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from bucketsum_cli.terminal.errors import CannotDoError

_LINE: Final = re.compile(r"(\\?)([0-9A-Fa-f]{40}) [ *](.+)")
_ESCAPES: Final = {"\\": r"\\", "\n": r"\n", "\r": r"\r"}
_ESCAPED: Final = re.compile(r"\\[\\nr]")
_CHARACTERS: Final = {text: character for character, text in _ESCAPES.items()}


def sums_line(sha1: str, name: str) -> str:
    """Return the line of *name*; a line break in it is escaped, after a backslash."""
    escaped = name
    for character, text in _ESCAPES.items():  # the backslash is the first
        escaped = escaped.replace(character, text)
    return f"{'' if escaped == name else chr(92)}{sha1}  {escaped}\n"


def sums_in(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-1 of each of *lines*; a leading ``./`` is no part of a name.

    Raises:
        CannotDoError: A line is not sha1sum's; the message has its number.
    """
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line.rstrip("\n"))
        if match is None:
            raise CannotDoError(
                f"line {number} is not a SHA-1 and a name, as `sha1sum` prints them"
            )
        escaped, sha1, name = match.groups()
        if escaped:
            name = _ESCAPED.sub(lambda escape: _CHARACTERS[escape[0]], name)
        yield name.removeprefix("./"), sha1.lower()

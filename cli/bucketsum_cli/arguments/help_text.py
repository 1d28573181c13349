"""Help texts on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

_UNBROKEN: Final = "\u2011"
"""The non-breaking hyphen, at which no line ends."""


class HelpText(click.HelpFormatter):
    """Help folded at spaces only: folded at a hyphen, ``--dry-run`` would not be found."""

    def write(self, string: str) -> None:
        """Write *string* with hyphens that can be copied."""
        super().write(string.replace(_UNBROKEN, "-"))

    def write_text(self, text: str) -> None:
        """Write a paragraph, folded at spaces."""
        super().write_text(text.replace("-", _UNBROKEN))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write terms with their meanings, folded at spaces."""
        unbroken = [(term, meaning.replace("-", _UNBROKEN)) for term, meaning in rows]
        super().write_dl(unbroken, col_max, col_spacing)

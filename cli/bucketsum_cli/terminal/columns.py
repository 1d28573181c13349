"""Columns and cells of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as wide as its widest text.

    Attributes:
        right: Whether it is aligned to the right, as numbers are.
        shrinks: Whether it gets narrower on a narrow terminal. What does not fit then is folded at
            words. A text in the first column, or a word, that does not fit is never cut: it stands
            above the rest of the row.
    """

    title: str
    right: bool = False
    shrinks: bool = False


KEY: Final = Column("key", shrinks=True)
SIZE: Final = Column("size", right=True)
SHA1: Final = Column("SHA-1")
SPEED: Final = Column("MB/s", right=True)
VERSION: Final = Column("version", shrinks=True)
MOMENT: Final = Column("recorded (UTC)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a style, for example ``bold red``."""

    text: str
    style: str = ""

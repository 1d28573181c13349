"""Colours of the plots: drawn in light mode, shown as the CSS variables of html/style.css."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

INK: Final = "#1a1a1a"
FAINT: Final = "#6b6b6b"
PAPER: Final = "#ffffff"
GRID: Final = "#e3e3e3"
EMPTY: Final = "#f1f1f1"
HATCH: Final = "#d0d0d0"
DOT: Final = "#a8a8a8"
FRONTIER: Final = "#2d406d"
HIGHLIGHT: Final = "#b83b00"

LINES: Final = (
    "#0060a8", "#a8327e", "#00734d", "#7a5f00", "#5b3fb5", "#00707f", "#4a4a4b",
)  # fmt: skip
"""Colours of lines and their labels; neighbours differ for every kind of colour blindness."""

ON_LIGHT: Final = "#1a1a1b"
ON_DARK: Final = "#fefefe"
"""Texts in squares whose colour is equal in both modes."""

_VARIABLES: Final[Mapping[str, str]] = {
    INK: "--ink",
    FAINT: "--faint",
    PAPER: "--paper",
    GRID: "--grid",
    EMPTY: "--empty",
    HATCH: "--hatch",
    DOT: "--dot",
    FRONTIER: "--frontier",
    HIGHLIGHT: "--highlight",
    **{colour: f"--line-{number}" for number, colour in enumerate(LINES)},
}

_COLOUR: Final = re.compile(r"(?:(?<=: )|^)#[0-9a-f]{6}\b")


def themed(style: str) -> str:
    """CSS declarations, or a single colour, with variables instead of the theme's colours."""
    return _COLOUR.sub(
        lambda match: f"var({_VARIABLES[match[0]]})" if match[0] in _VARIABLES else match[0], style
    )

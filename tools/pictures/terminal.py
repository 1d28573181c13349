"""docs/pictures/session.svg: lines of a terminal, with their colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from tools.pictures.drawing import MONOSPACE, WIDTH, drawing
from tools.pictures.session import COLUMNS

_MARGIN: Final = 14
_LINE: Final = 25
_COLUMN: Final = (WIDTH - 2 * _MARGIN) / COLUMNS
_PROMPT: Final = "$ "
_CODE: Final = re.compile(r"\x1b\[(\d+)m")
_CLASSES: Final = {"0": "", "1": "bold", "31": "bad", "32": "good"}
"""ANSI code → its class; 0 ends all others."""

_STYLE: Final = f"""\
text {{ font-family: {MONOSPACE}; font-size: 17px; white-space: pre; fill: var(--ink) }}
rect {{ fill: var(--panel); stroke: var(--note) }}
.bold, .typed {{ font-weight: 600 }} .good {{ fill: var(--good) }} .bad {{ fill: var(--bad) }}
.typed {{ fill: var(--own) }}"""


def terminal(lines: Sequence[str]) -> str:
    """Return the picture of *lines*."""
    height = 2 * _MARGIN + _LINE * len(lines)
    return drawing(
        "bucketsum find and bucketsum check on a terminal",
        " / ".join(_CODE.sub("", line) for line in lines if line),
        height,
        _STYLE,
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *(_text(number, line) for number, line in enumerate(lines) if line),
    )


def _text(number: int, line: str) -> str:
    """Return a line; its length is set, so that columns are aligned in every font."""
    spans = [("typed", line)] if line.startswith(_PROMPT) else _spans(line)
    parts = (
        f'<tspan class="{names}">{escape(text)}</tspan>' if names else escape(text)
        for names, text in spans
    )
    length = len(_CODE.sub("", line)) * _COLUMN
    y = _MARGIN + _LINE * number + 18
    return f'<text x="{_MARGIN}" y="{y}" textLength="{length:.1f}">{"".join(parts)}</text>'


def _spans(line: str) -> Iterator[tuple[str, str]]:
    """Yield each piece of *line* with its classes."""
    classes: list[str] = []
    texts = _CODE.split(line)
    for text, code in zip(texts[::2], ["0", *texts[1::2]], strict=True):
        classes = [*classes, _CLASSES[code]] if _CLASSES[code] else []
        if text:
            yield " ".join(classes), text

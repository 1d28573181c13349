"""docs/how.svg: the five parts of the path of an object."""

from __future__ import annotations

from typing import Final

from bench.pictures.drawing import SANS, drawing

_DESCRIPTION: Final = (
    "A bucket reports each new object to a queue. A Lambda function reads the object and writes "
    "its SHA-1 to a table. The command reads the table. A message that retrying cannot fix goes "
    "to the dead-letter queue, which triggers an alarm."
)
_HEIGHT: Final = 110
_BOXES: Final = (
    (10, 20, 180, "", "Bucket", "a new object"),
    (230, 20, 180, "", "Queue", "a message"),
    (450, 20, 180, ' class="own"', "Function", "reads, hashes"),
    (450, 250, 180, "", "Table", "SHA-1 and key"),
    (10, 250, 240, "", "Dead-letter queue", "reason, and an alarm"),
)
"""Left, top, width, class, name, and what is in it."""

_ARROWS: Final = (
    ("M190 75H222", "M230 75l-14-7v14z"),
    ("M410 75H442", "M450 75l-14-7v14z"),
    ("M560 130V242", "M560 250l-7-14h14z"),
    ("M500 130V190H130V242", "M130 250l-7-14h14z"),
    ("M450 330H392", "M384 330l14-7v14z"),
)
"""Line and tip."""

_LABELS: Final = (
    (300, 180, "what retrying cannot fix"),
    (330, 322, "find, check"),
    (330, 346, "ls, show"),
)
_STYLE: Final = f"""\
text {{ font-family: {SANS}; text-anchor: middle; fill: var(--ink) }}
.name {{ font-size: 22px; font-weight: 600 }} .what {{ font-size: 19px; fill: var(--note) }}
rect {{ fill: var(--panel); stroke: var(--note); stroke-width: 1.5 }}
.own {{ fill: var(--own-panel); stroke: var(--own) }}
path {{ fill: none; stroke: var(--note); stroke-width: 2.5 }}
.tip {{ fill: var(--note); stroke: none }}"""


def boxes() -> str:
    """Draw the boxes, their arrows and labels."""
    return drawing(
        "How bucketsum works",
        _DESCRIPTION,
        380,
        _STYLE,
        *(_box(*box) for box in _BOXES),
        *(f'<path d="{line}"/><path class="tip" d="{tip}"/>' for line, tip in _ARROWS),
        *(f'<text x="{x}" y="{y}" class="what">{text}</text>' for x, y, text in _LABELS),
    )


def _box(x: int, y: int, width: int, kind: str, name: str, content: str) -> str:
    middle = x + width // 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{_HEIGHT}" rx="8"{kind}/>'
        f'<text x="{middle}" y="{y + 50}" class="name">{name}</text>'
        f'<text x="{middle}" y="{y + 78}" class="what">{content}</text>'
    )

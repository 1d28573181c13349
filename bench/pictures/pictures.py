"""Every picture, by its file, and README, which shows them with their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Final

from bench.cost.measured import measured_in
from bench.pictures.boxes import boxes
from bench.pictures.cost import chart
from bench.pictures.session import session
from bench.pictures.sweep import sweep
from bench.pictures.terminal import terminal
from bench.tables.document import written_between

_ROOT: Final = Path(__file__).parents[2]
_TEXTS: Final = re.compile(r"<title>(.*)</title>\n<desc>(.*)</desc>")

PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "cost": lambda: chart(measured_in()),
    "how": boxes,
    "session": lambda: terminal(session()),
    "sweep": sweep,
}
"""Name of each file in docs/ → its drawing."""


def pictures() -> dict[Path, str]:
    """Return each picture as it has to be, and README.

    Raises:
        ValueError: README lacks a picture's markers.
    """
    drawn = {name: draw() for name, draw in PICTURES.items()}
    readme = _ROOT / "README.md"
    text = readme.read_text("utf-8")
    for name, picture in drawn.items():
        text = written_between(text, f"picture-{name}", _shown(name, picture))
    files = {_ROOT / "docs" / f"{name}.svg": picture for name, picture in drawn.items()}
    return {**files, readme: text}


def _shown(name: str, picture: str) -> str:
    """Return the Markdown that shows *picture*, with its title and its text."""
    [(title, text)] = _TEXTS.findall(picture)
    return f"![{unescape(title)}: {' '.join(unescape(text).split())}](docs/{name}.svg)"

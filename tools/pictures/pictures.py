"""The pictures of the documents, and the pages that show them with alternative texts."""

import os
import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Final

from bench.cost.measured import measured_in
from bench.tables.document import written_between

from tools.pictures.cost import chart
from tools.pictures.session import session, terminal
from tools.pictures.sweep import sweep

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "docs" / "pictures"
_TEXTS: Final = re.compile(r"<title>(.*)</title>\n<desc>(.*)</desc>")

PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "cost": lambda: chart(measured_in()),
    "how": lambda: (_FOLDER / "how.svg").read_text("utf-8"),
    "paths": lambda: (_FOLDER / "paths.svg").read_text("utf-8"),
    "session": lambda: terminal(session()),
    "sweep": sweep,
}
"""Name of each file in docs/pictures/ → its drawing; the source of two is their file."""

_PAGES: Final = {
    "cost": "docs/explanation/cost.md",
    "paths": "docs/explanation/architecture.md",
    "sweep": "docs/how-to/choose-settings.md",
}
"""The page that shows a picture, if README does not."""


def pictures() -> dict[Path, str]:
    """Return the new content of each picture, and of the pages that show them.

    Raises:
        ValueError: A page lacks the markers of a picture.
    """
    files: dict[Path, str] = {}
    for name, draw in PICTURES.items():
        file = _FOLDER / f"{name}.svg"
        page = _ROOT / _PAGES.get(name, "README.md")
        files[file] = draw()
        text = files.get(page) or page.read_text("utf-8")
        shown = _shown(files[file], Path(os.path.relpath(file, page.parent)))
        files[page] = written_between(text, f"picture-{name}", shown)
    return files


def _shown(picture: str, path: Path) -> str:
    """Return the Markdown that shows *picture*, with its title and description as the text."""
    [(title, text)] = _TEXTS.findall(picture)
    return f"![{unescape(title)}: {' '.join(unescape(text).split())}]({path})"

# ruff: noqa: INP001 - Sphinx reads it by its path
"""The site of the documents, which `make docs` builds: the same Markdown, with search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).parents[1]
_SECTION: Final = re.compile(r"^\*\*(.+)\*\*$\n+((?:- .*\n(?:  .*\n)*)+)", re.MULTILINE)
_LINK: Final = re.compile(r"^- \[.*?\]\((?P<page>.*?)\.md\)", re.MULTILINE)

project: Final = "bucketsum"
html_title: Final = "bucketsum"
html_theme: Final = "furo"
extensions: Final = ["myst_parser", "sphinx_copybutton"]
root_doc: Final = "README"
include_patterns: Final = ["*.md", "docs/**", "bench/measured/*.md", "events/README.md"]
exclude_patterns: Final = [".*", "dist", "layers", "tests", "cli", "src"]
myst_heading_anchors: Final = 4
myst_links_external_new_tab: Final = False
copybutton_exclude: Final = ".linenos, .gp, .go"
copybutton_prompt_text: Final = "$ "
pygments_style: Final = "a11y-high-contrast-light"
pygments_dark_style: Final = "a11y-high-contrast-dark"
html_static_path: Final = ["site.css"]
html_css_files: Final = ["site.css"]
html_theme_options: Final[dict[str, Any]] = {"top_of_page_buttons": []}
suppress_warnings: Final = ["toc.not_included"]  # two pages are reached by links


def _contents() -> str:
    """Return a table of contents for each section of docs/README.md."""
    listed = (_ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    return "".join(
        "\n```{toctree}\n:hidden:\n:caption: "
        + name
        + "\n\n"
        + "\n".join(_pages(links))
        + "\n```\n"
        for name, links in _SECTION.findall(listed)
    )


def _pages(links: str) -> list[str]:
    pages = (match["page"] for match in _LINK.finditer(links))
    return [
        page.removeprefix("../") if page.startswith("../") else f"docs/{page}" for page in pages
    ]


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is installed for `make docs` alone
    """Add the contents to the pages that list others, as Sphinx reads them."""

    def add_contents(_app: object, name: str, source: list[str]) -> None:
        if name == "README":
            source[0] += _contents()
        elif name == "docs/decisions/README":
            source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
        elif name == "docs/measurements":
            source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n/bench/measured/*\n```\n"

    app.connect("source-read", add_contents)

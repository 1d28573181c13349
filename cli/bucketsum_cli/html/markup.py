"""HTML built from elements, never from strings: no text from outside becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Final
from xml.etree import ElementTree as ET

from bucketsum_cli.terminal.output import printable

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
"""With this policy a browser runs no script in the page and fetches nothing for it."""

_COMMAND: Final = re.compile(r"""`(bucketsum (?:[^`'"]|'[^']*'|"[^"]*")+)`""")
"""A command between backticks; those of a key are between quotes."""

_COLUMNS_OF_A_DESKTOP: Final = 12
"""Columns that fit into 1,280 pixels."""


def element(tag: str, *children: ET.Element | str, **attributes: str) -> ET.Element:
    """``<tag>`` with *children* in order; ``class_`` is class, ``aria_label`` aria-label."""
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    parent = ET.Element(tag, {names[name]: printable(text) for name, text in attributes.items()})
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            parent.append(child)
            last = child
        elif last is None:
            parent.text = (parent.text or "") + printable(child)
        else:
            last.tail = (last.tail or "") + printable(child)
    return parent


def definitions(terms: Mapping[str, str], class_: str) -> ET.Element:
    """``<dl>`` with the pairs of *terms*; see `coded`."""
    pairs = (
        element("div", element("dt", term), element("dd", *coded(terms[term]))) for term in terms
    )
    return element("dl", *pairs, class_=class_)


def coded(text: str) -> Iterator[ET.Element | str]:
    """Yield *text* with its commands as ``<code>``; all else stays as it is."""
    for number, part in enumerate(_COMMAND.split(text)):
        yield element("code", part) if number % 2 else part


def table(
    name: str, class_: str, columns: Iterable[tuple[str, str]], bodies: Iterable[ET.Element]
) -> ET.Element:
    """A table in a scrolling frame, of *columns*' titles and classes, and rows in *bodies*.

    A note says that it scrolls, on a phone, or if the table is wide.
    """
    titles = [element("th", title, scope="col", class_=kind) for title, kind in columns]
    table = element("table", element("thead", element("tr", *titles)), *bodies, class_=class_)
    note = element("p", "The table has more columns: scroll it sideways.")
    note.set("class", "sideways wide" if len(titles) > _COLUMNS_OF_A_DESKTOP else "sideways")
    frame = element("div", table, class_="scrolling", role="region", aria_label=name, tabindex="0")
    return element("div", note, frame)


def document(title: str, *body: ET.Element) -> str:
    """A complete page that needs no other file."""
    style = element("style")
    style.text = resources.files(__package__).joinpath("style.css").read_text("utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        ET.Element("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("title", title),
        style,
    )
    html = element("html", head, element("body", *body), lang="en")
    return "<!DOCTYPE html>\n" + ET.tostring(html, encoding="unicode", method="html") + "\n"

"""A figure of matplotlib's → SVG that can stand in an HTML page beside others."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl

from bucketsum_cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure

_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}"

_STYLE: Final[dict[Any, Any]] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and enlarged
    "svg.hashsalt": "bucketsum",  # the same run is the same page, byte for byte
    "text.parse_math": False,  # a "$" is a dollar
}


def style() -> AbstractContextManager[None]:
    """Where figures are made and written: in our style, whatever a person's own settings are."""
    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    return mpl.rc_context(defaults | _STYLE)


def svg_of(
    figure: Figure, name: str, title: str, description: str, hints: Mapping[str, str]
) -> ET.Element:
    """*figure* as an ``<svg>`` element.

    It scales with the page, has *title* and *description* for those who do not see it, and each
    part whose id is in *hints* shows that text when it is pointed at. All ids begin with *name*,
    so that figures of one page do not take each other's.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(drawn.getvalue())  # noqa: S314 - what matplotlib has just written
    _drop(root, ("metadata", "style"))
    for element in root.iter():
        _make_own(element, name)
        hint = hints.get(element.get("id", "").removeprefix(f"{name}-"))
        if hint is not None:
            _insert(element, "title", hint)
    for size in ("width", "height"):
        del root.attrib[size]
    _insert(root, "desc", description, f"{name}-desc")
    _insert(root, "title", title, f"{name}-title")
    root.attrib |= {
        "role": "img",
        "aria-labelledby": f"{name}-title",
        "aria-describedby": f"{name}-desc",
    }
    return root


def _drop(root: ET.Element, names: tuple[str, ...]) -> None:
    """Without what says nothing in HTML; a style there would hold for the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in names:
                parent.remove(child)


def _make_own(element: ET.Element, name: str) -> None:
    """Let *element* stand in HTML, which knows SVG's names without their namespace."""
    element.tag = element.tag.removeprefix(_SVG)
    for attribute, value in list(element.attrib.items()):
        own = value
        if attribute == "id":
            own = f"{name}-{value}"
        elif value.startswith("#") and attribute == f"{_XLINK}href":
            own = f"#{name}-{value[1:]}"
        elif "url(#" in value:
            own = value.replace("url(#", f"url(#{name}-")
        del element.attrib[attribute]
        element.set(attribute.removeprefix(_XLINK), own)


def _insert(parent: ET.Element, tag: str, text: str, own_id: str | None = None) -> None:
    child = ET.Element(tag, {"id": own_id} if own_id else {})
    child.text = printable(text)
    parent.insert(0, child)

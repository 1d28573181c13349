"""Converts a matplotlib figure to SVG for a page with several figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import matplotlib as mpl

from bucketsum_cli.output import printable
from bucketsum_cli.tune.report.theme import INK, themed

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
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    **{f"{name}.color": INK for name in ("text", "xtick", "ytick")},
    **{f"axes.{name}color": INK for name in ("edge", "label")},
}


def style() -> AbstractContextManager[None]:
    """The style of the figures, independent of a person's own settings."""
    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    return mpl.rc_context(defaults | _STYLE)


def svg_of(
    figure: Figure, name: str, title: str, description: str, hints: Mapping[str, str]
) -> ET.Element:
    """*figure* as an ``<svg>`` element.

    It scales with the page and has *title* and *description* for people who cannot see it. A part
    whose id is in *hints* shows that text as a tooltip. All ids begin with *name*, so that they
    are unique in the page. Colours of the theme become CSS variables.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(drawn.getvalue())  # noqa: S314 - what matplotlib has just written
    _drop(root, ("metadata", "style"))
    for element in root.iter():
        _adapt(element, name)
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
    """Remove elements without a use in HTML; a style would apply to the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in names:
                parent.remove(child)


def _adapt(element: ET.Element, name: str) -> None:
    """Remove namespaces, which HTML does not know; make ids unique and colours variable."""
    element.tag = element.tag.removeprefix(_SVG)
    for attribute, value in list(element.attrib.items()):
        adapted = value
        if attribute == "id":
            adapted = f"{name}-{value}"
        elif value.startswith("#") and attribute == f"{_XLINK}href":
            adapted = f"#{name}-{value[1:]}"
        elif "url(#" in value:
            adapted = value.replace("url(#", f"url(#{name}-")
        del element.attrib[attribute]
        if attribute in ("style", "fill", "stroke"):
            adapted = themed(adapted)
        element.set(attribute.removeprefix(_XLINK), adapted)


def _insert(parent: ET.Element, tag: str, text: str, element_id: str | None = None) -> None:
    child = ET.Element(tag, {"id": element_id} if element_id else {})
    child.text = printable(text)
    parent.insert(0, child)

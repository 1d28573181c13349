"""pictures: what README shows is what the code draws, on light and dark pages and on phones."""

import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from tools.pictures.drawing import WIDTH
from tools.pictures.pictures import PICTURES, pictures

DRAWN: Final = Path(__file__).parents[3] / "docs" / "pictures"

PHONE: Final = 358
"""Pixels of a picture on a page of 390."""

LEGIBLE_PX: Final = 9.5

SVG: Final = "{http://www.w3.org/2000/svg}"

each_picture = pytest.mark.parametrize("name", PICTURES)


def drawn(name: str) -> str:
    """The committed picture."""
    return (DRAWN / f"{name}.svg").read_text("utf-8")


def test_committed_pictures_are_as_drawn() -> None:
    """The pictures, and README with their texts, are what `make pictures` writes."""
    stale = [path.name for path, text in pictures().items() if path.read_text("utf-8") != text]
    assert not stale, "run `make pictures`"


@each_picture
def test_every_text_is_legible_on_a_phone(name: str) -> None:
    """No font is smaller than 9.5 pixels where the picture is 358 pixels wide."""
    sizes = [int(size) for size in re.findall(r"font-size: (\d+)px", drawn(name))]
    assert min(sizes) * PHONE / WIDTH > LEGIBLE_PX


@each_picture
def test_every_colour_has_a_dark_one(name: str) -> None:
    """A picture names colours alone that differ between a light and a dark page."""
    style = ET.fromstring(drawn(name)).findtext(f"{SVG}style")  # noqa: S314 - our own
    assert style
    light, dark, rules = style.strip().split("\n", 2)
    colours = [dict(re.findall(r"--([\w-]+): (#\w{6})", line)) for line in (light, dark)]
    assert "prefers-color-scheme: dark" in dark
    assert all(
        colours[0][used] != colours[1][used] for used in re.findall(r"var\(--(.*?)\)", rules)
    )
    assert "#" not in rules


def test_no_line_of_the_session_is_folded() -> None:
    """Each row of the session has its key, its result and its digest in one line."""
    texts = ET.fromstring(drawn("session")).iter(f"{SVG}text")  # noqa: S314 - our own
    lines = ("".join(text.itertext()) for text in texts)
    rows = [line.split() for line in lines if re.search(r"^\S+\.(jpg|zip)\S*  ", line)]
    assert {len(row) for row in rows} == {3, 6}

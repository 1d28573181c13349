"""Make docs/session.svg and docs/report.svg; needs a local emulator, which `make pictures` starts.

`docs/session.svg` is a terminal session, `docs/report.svg` a sweep's report. Neither refers to
anything outside its file: no font, no style sheet, no script.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT: Final = Path(__file__).parents[1]
FOLDER: Final = PROJECT / ".bucketsum" / "session"
"""Where the commands run."""

_COLUMNS: Final = 100
_FILES: Final = {
    "photos/harbour.jpg": 3_500_000,
    "photos/harbour (copy).jpg": 3_500_000,
    "holiday.mp4": 250_000_000,
}
_SESSION: Final = (
    "bucketsum put --local photos holiday.mp4 notes.txt",
    "bucketsum find --local photos/harbour.jpg",
    "echo 'something special' > notes.txt",
    "bucketsum check --local photos notes.txt",
)
_SWEEP: Final = (
    "bucketsum tune run --local --yes --object-size 50MB --memory 128,256,512,1024,1769 "
    "--chunk 1MiB --streams 1,2,4 --strategy balanced"
)

_GAP: Final = 24
_PLOT_WIDTH: Final = 340
_STYLE: Final = """
text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif }
svg svg * { stroke-linejoin: round; stroke-linecap: butt }
"""


def main() -> None:
    """Run the session and a sweep, and write both pictures."""
    _write_files()
    (PROJECT / "docs" / "session.svg").write_text(_session(), encoding="utf-8")
    _output(_SWEEP)
    _output("bucketsum tune report --local last -o report.html")
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    (PROJECT / "docs" / "report.svg").write_text(report_picture(page), encoding="utf-8")


def _write_files() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, size_bytes in _FILES.items():
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(random.Random(size_bytes).randbytes(size_bytes))  # noqa: S311 - content
    (FOLDER / "notes.txt").write_text("nothing special\n", encoding="utf-8")


def _session() -> str:
    """Every command with its output, as SVG."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO())
    colours = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(_COLUMNS)}
    for command in _SESSION:
        console.print(Text(f"$ {command}", "bold"), soft_wrap=True)
        output = _output(command, colours)
        console.print(Text.from_ansi(output + "\n" if output else ""), soft_wrap=True)
    return without_fonts(console.export_svg(title="bucketsum", unique_id="session"))


def _output(command: str, variables: Mapping[str, str] | None = None) -> str:
    """Run *command* with *variables*; return its stdout. Progress goes to stderr."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S602 - our own commands
        command,
        shell=True,
        cwd=FOLDER,
        env={**os.environ, **(variables or {}), "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=False,  # `check` exits with 1 if a file differs
    )
    return done.stdout.rstrip("\n")


def without_fonts(svg: str) -> str:
    """*svg*, drawn by rich, without web fonts: every viewer has a monospaced font."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, 'DejaVu Sans Mono', monospace")
    return re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)


def report_picture(page: str) -> str:
    """Recommendation and first row of plots of a report's *page*, as one SVG.

    Raises:
        ValueError: The page has no recommendation or no plot.
    """
    choice = re.search(r'class="choice"><strong>(.*?)</strong></p><p>(.*?)</p>', page, re.DOTALL)
    plots = re.findall(r"<h3>(.*?)</h3>(<svg.*?</svg>)", page, re.DOTALL)[:3]
    if choice is None or not plots:
        raise ValueError("the report has no recommendation or no plot")
    width = len(plots) * (_PLOT_WIDTH + _GAP) + _GAP
    drawn = [ET.fromstring(svg) for _, svg in plots]  # noqa: S314 - the command has just written it
    note = re.search(r'class="warning" role="note">(.*?)</p>', page, re.DOTALL)
    top = 150
    height = top + max(map(_height, drawn)) + _GAP
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}")
    ET.SubElement(root, "title").text = "A sweep's report"
    ET.SubElement(root, "style").text = f"{_STYLE} {_light_colours(page)}"
    ET.SubElement(root, "rect", width=str(width), height=str(height), rx="8", fill="#ffffff")
    _text(root, _GAP, 40, f"Recommended: {choice[1]}", "20", "600")
    _text(root, _GAP, 68, choice[2], "14")
    _text(root, _GAP, 92, note[1] if note else "", "13")
    for number, ((title, _), svg) in enumerate(zip(plots, drawn, strict=True)):
        x = _GAP + number * (_PLOT_WIDTH + _GAP)
        _text(root, x, 132, title, "14", "600")
        place = {"x": x, "y": top, "width": _PLOT_WIDTH, "height": _height(svg)}
        svg.attrib |= {name: str(value) for name, value in place.items()}
        root.append(svg)
    return ET.tostring(root, encoding="unicode") + "\n"


def _light_colours(page: str) -> str:
    """The variables of the page's light mode, which the plots' colours refer to."""
    variables = re.search(r":root \{(.*?)\}", page, re.DOTALL)
    names = re.findall(r"--[\w-]+: [^;]+;", variables[1]) if variables else []
    return f":root {{ {' '.join(names)} }}"


def _height(svg: ET.Element) -> int:
    """Height of a plot that is `_PLOT_WIDTH` wide."""
    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    return round(_PLOT_WIDTH * height / width)


def _text(parent: ET.Element, x: int, y: int, text: str, size: str, weight: str = "400") -> None:
    attributes = {"x": str(x), "y": str(y), "font-size": size, "font-weight": weight}
    ET.SubElement(parent, "text", attributes, fill="#1a1a1a").text = text


if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    main()

"""The report in a browser, on a desktop and on a phone; skipped where there is no Chromium."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from typing import Any, Final

import pytest
from tests.cli.tune.sweeps import a_grid, a_run, failed_samples, grid_results, results

from bucketsum_cli.tune.report.page import page_of
from bucketsum_lab.protocol.run_records import Bottleneck

# Reports in frames, as wide as the window, of a page that measures them.
_FRAME: Final = '<iframe src="NAME.html" style="border: 0; width: WIDTHpx; height: 900px"></iframe>'
_MEASURING: Final = """<script>
onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  document.body.textContent = JSON.stringify(frames.map(measured))
}
function measured({contentWindow: view, contentDocument: page}) {
  const all = selector => [...page.querySelectorAll(selector)];
  const table = page.querySelector(".scrolling");
  return {
    title: page.title, width: page.documentElement.scrollWidth,
    fetched: view.performance.getEntriesByType("resource").length,
    beyond: all("body *").filter(each => !each.closest(".scrolling table") &&
      each.getBoundingClientRect().right > view.innerWidth + 1).map(each => each.tagName),
    table_hides: table.scrollWidth > table.clientWidth,
    table_note: table.previousElementSibling.getBoundingClientRect().height > 0,
    text_heights: all("figure svg text").map(each => each.getBoundingClientRect().height),
    paper: view.getComputedStyle(page.body).backgroundColor,
    inks: all("#p0-memory text, #p0-cost text, h1, td, dt").map(each =>
      view.getComputedStyle(each)[each.closest("svg") ? "fill" : "color"])}}</script>"""
_SCRIPT: Final = "<main><script>document.title = 'run'</script>"


@cache
def grid_page() -> str:
    """The report of the grid, with the longest text of a bottleneck in each row."""
    run, limit = grid_results(), Bottleneck("cpu share, network", 1.0)
    return page_of(replace(run, cells=tuple(replace(cell, limit=limit) for cell in run.cells)))


@cache
def awkward_page() -> str:
    """The report of many runs, with a long key and a long cause without a place to break."""
    cells, samples = a_grid(memories=(128, 512), chunks=(262144, 1_000_000))
    samples = [sample for sample in samples if sample.cell_id != cells[0].cell_id]
    samples += failed_samples(cells[0], "because" * 100, 60)
    run = a_run(f"20261121T041500-{'a' * 60}", cause="x" * 300, label="local")
    return page_of(results(cells, samples, run))


def luminance(rgb: str) -> float:
    """WCAG's relative luminance of ``rgb(r, g, b)``, 0 to 1."""
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", rgb)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


REPORTS: Final = {"grid": grid_page, "awkward": awkward_page}


@pytest.fixture(scope="module", params=[(1280, False), (390, True)], ids=["desktop", "phone"])
def window(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, bool, dict[str, Any]]:
    """Width of a window, whether it is dark, and each report as the browser shows it there."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on PATH; `apt-get install chromium` has one")
    (width, is_dark), folder = request.param, tmp_path_factory.mktemp("reports")
    for name, make in REPORTS.items():
        (folder / f"{name}.html").write_text(make().replace("<main>", _SCRIPT), encoding="utf-8")
    frames = [_FRAME.replace("NAME", name).replace("WIDTH", str(width)) for name in REPORTS]
    (folder / "frames.html").write_text("".join([*frames, _MEASURING]), encoding="utf-8")
    command = (
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={folder}", "--allow-file-access-from-files", "--dump-dom"),
        f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
        (folder / "frames.html").as_uri(),
    )
    shown = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120).stdout
    pages = json.loads(html.unescape(re.sub(r"<.*?>", "", shown)))
    return width, is_dark, dict(zip(REPORTS, pages, strict=True))


@pytest.mark.parametrize("name", REPORTS)
def test_the_report_can_be_read(window: tuple[int, bool, dict[str, Any]], name: str) -> None:
    """Every text has contrast and size, nothing is wider than the window, no script runs."""
    width, is_dark, pages = window
    page = pages[name]
    assert page["title"].startswith("Hashing ")
    assert (page["width"], page["beyond"], page["fetched"]) == (width, [], 0)
    assert page["table_hides"] is page["table_note"]
    assert min(page["text_heights"]) >= 8
    paper = luminance(page["paper"])
    assert (paper < 0.5) is is_dark
    for ink in page["inks"]:
        darker, lighter = sorted([paper, luminance(ink)])
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5  # WCAG's minimum for text

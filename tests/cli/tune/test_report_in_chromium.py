"""The report in a browser, on a desktop and on a phone; skipped where there is no Chromium."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.cli.tune.chromium import find_chromium, opened
from tests.cli.tune.sweeps import a_grid, a_run, failed_samples, grid_results, results

from bucketsum_cli.terminal.formatting import speed_text
from bucketsum_cli.tune.report.page import page_of
from bucketsum_cli.tune.report.table import columns_of
from bucketsum_lab.protocol.run_records import Bottleneck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.tune.chromium import Page

    from bucketsum_cli.tune.results import Results

WIDTHS: Final = {"desktop": (1280, 900), "phone": (390, 844)}

_TABLE: Final = """\
[...document.querySelectorAll("table.results tbody tr:not(.group)")].map(
  row => [...row.children].map(cell => cell.innerText))"""

_HEAT_MAP: Final = """\
[...document.querySelectorAll("#p0-heat svg [id^=p0-heat-cell] > title")].map(
  title => title.textContent)"""

_PLOTS: Final = """\
[...document.querySelectorAll("figure svg")].map(plot => {
  const {width, height} = plot.getBoundingClientRect();
  return {width, height, drawn: plot.querySelectorAll("path").length,
          texts: [...plot.querySelectorAll("text")].map(one => one.getBoundingClientRect().height)};
})"""

_COLOURS: Final = """\
({paper: getComputedStyle(document.body).backgroundColor,
  texts: [...document.querySelectorAll("#p0-memory text, #p0-cost text, h1, td, dt")].map(
    one => getComputedStyle(one)[one.closest("svg") ? "fill" : "color"])})"""

_TABLE_FRAME: Final = """\
(frame => [frame.scrollWidth - frame.clientWidth,
           frame.previousElementSibling.getBoundingClientRect().height > 0])(
  document.querySelector(".scrolling"))"""

_BEYOND: Final = """\
[...document.querySelectorAll("body *")].filter(one => !one.closest(".scrolling table") &&
  one.getBoundingClientRect().right > innerWidth + 1).map(one => one.tagName)"""


def awkward_results() -> Results:
    """Many runs, a long key without a place to break, a long cause."""
    cells, samples = a_grid(memories=(128, 512), chunks=(262144, 1_000_000))
    samples = [sample for sample in samples if sample.cell_id != cells[0].cell_id]
    samples += failed_samples(cells[0], "because" * 100, 60)
    run = a_run(f"20261121T041500-{'a' * 60}", cause="x" * 300, label="local")
    return results(cells, samples, run)


def grid_with_limits() -> Results:
    """The grid, with the longest text of a bottleneck in each row."""
    run = grid_results()
    limit = Bottleneck("cpu share, network", 1.0)
    return replace(run, cells=tuple(replace(cell, limit=limit) for cell in run.cells))


@pytest.fixture(scope="module")
def chromium() -> str:
    """Where Chromium is."""
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on PATH; `apt-get install chromium` has one")
    return path


@pytest.fixture(scope="module", params=WIDTHS)
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The window."""
    width: tuple[int, int] = WIDTHS[request.param]
    return width


@pytest.fixture(scope="module")
def page(chromium: str, size: tuple[int, int], tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - an iterator of `Page`
    """The report of a grid with a failing and a missing cell."""
    yield from _opened(chromium, size, tmp_path_factory.mktemp("report"), grid_with_limits)


@cache
def _html_of(shown: Callable[[], Results]) -> str:
    return page_of(shown())


def _opened(
    chromium: str, size: tuple[int, int], folder: Path, shown: Callable[[], Results]
) -> Iterator[Page]:
    file = folder / "report.html"
    file.write_text(_html_of(shown), encoding="utf-8")
    with opened(chromium, file.as_uri(), folder, *size) as page:
        yield page


def test_the_page_opens_without_an_error(page: Page) -> None:
    """Nothing is thrown, nothing is refused by the page's own policy, nothing is fetched."""
    assert page.evaluate("document.readyState") == "complete"
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert page.errors == []


def test_every_plot_is_drawn_and_its_text_can_be_read(page: Page) -> None:
    """Three plots with lines and letters; none of these is smaller than 8 pixels."""
    plots = page.evaluate(_PLOTS)
    assert len(plots) == 3
    for plot in plots:
        assert plot["width"] > 300
        assert plot["height"] > 150
        assert plot["drawn"] > 10
        assert min(plot["texts"]) >= 8


def test_the_table_in_the_browser_is_the_table_of_the_run(page: Page) -> None:
    """Every row has what `tune show` prints for the cell."""
    run = grid_with_limits()
    columns = columns_of(run, in_report=True)
    assert page.evaluate(_TABLE) == [
        [column.text(cell) for column in columns] for cell in run.cells
    ]


def test_the_heat_map_has_the_tables_numbers(page: Page) -> None:
    """Each square's hint is its cell's, in the table's order."""
    hints = page.evaluate(_HEAT_MAP)
    cells = grid_results().cells
    assert len(hints) == len(cells)
    for hint, cell in zip(hints, cells, strict=True):
        speed = f" {speed_text(cell.stats.mb_per_s)} MB/s" if cell.stats else "no measurement"
        assert hint.startswith(f"{cell.setting.memory_mb} MB memory")
        assert speed in hint


def test_the_recommended_cell_is_marked(page: Page) -> None:
    """It has a star in the plot of costs and its row a mark in the table."""
    assert page.evaluate("document.querySelectorAll('#p0-cost-recommended').length") == 1
    assert page.evaluate("document.querySelectorAll('table.results tr.recommended').length") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_plots_can_be_read_in_light_and_dark_mode(page: Page, scheme: str) -> None:
    """Letters and lines contrast with the page; 4.5 is WCAG's minimum for text."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.call("Emulation.setEmulatedMedia", features=[feature])
    colours = page.evaluate(_COLOURS)
    paper = _luminance(colours["paper"])
    assert (paper > 0.5) is (scheme == "light")
    for text in colours["texts"]:
        lighter, darker = sorted([paper, _luminance(text)], reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(rgb: str) -> float:
    """WCAG's relative luminance of ``rgb(r, g, b)``, 0 to 1."""
    channels = [int(channel) / 255 for channel in re.findall(r"\d+", rgb)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_nothing_scrolls_sideways(page: Page, size: tuple[int, int]) -> None:
    """The page is as wide as the window; a wide table scrolls in itself."""
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert page.evaluate(_BEYOND) == []


def test_no_column_is_cut_without_a_word(page: Page, size: tuple[int, int]) -> None:
    """On a desktop the whole table is there; on a phone a note says that it scrolls."""
    hidden, is_noted = page.evaluate(_TABLE_FRAME)
    assert (hidden > 0) is is_noted is (size[0] < 600)


def test_long_texts_do_not_widen_the_page(
    chromium: str, size: tuple[int, int], tmp_path: Path
) -> None:
    """Names and causes without a place to break are broken all the same."""
    for page in _opened(chromium, size, tmp_path, awkward_results):
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        assert page.evaluate(_BEYOND) == []
        assert page.errors == []


def test_a_script_in_the_page_would_not_run(chromium: str, tmp_path: Path) -> None:
    """The page's policy holds, should its escaping ever fail: what is put in stays still."""
    file = tmp_path / "report.html"
    script = "<main><script>document.title = 'run'</script>"
    file.write_text(_html_of(grid_results).replace("<main>", script), encoding="utf-8")
    with opened(chromium, file.as_uri(), tmp_path, *WIDTHS["desktop"]) as page:
        assert page.evaluate("document.title").startswith("Hashing ")
        assert any("Content Security Policy" in error for error in page.errors)

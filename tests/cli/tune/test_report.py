"""The report as a file: numbers equal to the table, nothing from outside becomes markup."""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from tests.cli.deployed import HOSTILE
from tests.cli.tune.sweeps import (
    HUNDRED_MB,
    MIB,
    a_cell,
    a_grid,
    a_run,
    failed_samples,
    good_samples,
    grid_results,
    results,
)

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import speed_text, usd_text
from bucketsum_cli.tune.plots.plot import line_styles
from bucketsum_cli.tune.plots.variants import LINES_MAX
from bucketsum_cli.tune.report import write_report
from bucketsum_cli.tune.report.page import page_of
from bucketsum_cli.tune.report.table import columns_of
from bucketsum_cli.tune.results import measured

ATTACK: Final = "'\"><script>alert(1)</script><img src=x onerror=alert(2)> $\\frac{1}$ " + HOSTILE


class _Page(HTMLParser):
    """The page's elements, as a browser's parser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.tags.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        """Every value of the attribute *name*."""
        return [value for _, attrs in self.tags if (value := attrs.get(name))]


@cache
def grid_page() -> str:
    """The page of `grid_results`; drawing it takes a second."""
    return page_of(grid_results())


@cache
def two_objects_page() -> _Page:
    """The page of a run with plots of two objects."""
    cells, samples = a_grid(objects=(HUNDRED_MB, 500_000_000))
    return _Page(page_of(results(cells, samples)))


def test_every_number_of_the_table_is_in_the_plots() -> None:
    """A cell's hint has the texts that its row has; speeds stand in the heat map too."""
    run, html = grid_results(), grid_page()
    heat_map = html[html.index('id="p0-heat"') : html.index('id="p0-memory"')]
    for _, stats in measured(run.cells):
        speed = speed_text(stats.mb_per_s)
        assert html.count(f"{speed} MB/s, {usd_text(stats.usd_per_tb)} USD per TB") == 3  # plots
        assert f">{speed}</text>" in heat_map
    columns = columns_of(run, in_report=True)
    for text in (column.text(cell) for column in columns for cell in run.cells):
        assert text in html
    assert html.count('id="p0-cost-recommended"') == html.count('<tr class="recommended') == 1


def test_what_failed_is_in_the_page_with_its_cause() -> None:
    """A failing cell has its place in the heat map, its row, and a table of causes."""
    html = grid_page()
    assert html.count(">failed</text>") == 1
    assert "no measurement (Sandbox.Timedout: Task timed out after 900.00 seconds)" in html
    assert "<h2>Failures</h2>" in html


def test_nothing_from_outside_becomes_markup() -> None:
    """Keys and causes are texts in the page, whatever they hold, and cannot act in it."""
    cells = [a_cell(512, MIB, key=ATTACK), a_cell(1024, MIB, key=ATTACK)]
    samples = [*good_samples(cells[0]), *failed_samples(cells[1], ATTACK)]
    run = a_run(input={"keys": ["one"], "strategy": "<script>"}, cause=ATTACK, region=ATTACK)
    html = page_of(results(cells, samples, run))
    page = _Page(html)
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"script", "img", "iframe", "link", "object", "image"})
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert "&lt;script&gt;alert(1)" in html
    assert "\x9b" not in html
    assert "\u202e" not in html


def test_a_page_needs_nothing_else() -> None:
    """It refers to nothing outside itself, and forbids a browser to run or to fetch anything."""
    html = grid_page()
    page = _Page(html)
    references = page.values("href") + page.values("src")
    assert all(reference.startswith("#") for reference in references)
    assert re.findall(r"url\((?!#)", html) == []
    assert "@import" not in html
    (policy,) = (attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_every_reference_meets_one() -> None:
    """Plots of one page do not take each other's patterns, markers or descriptions."""
    page = two_objects_page()
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    referred = {value[1:] for value in page.values("href")}
    referred |= set(page.values("aria-labelledby")) | set(page.values("aria-describedby"))
    assert referred <= set(ids)


def test_every_plot_says_in_words_what_it_shows() -> None:
    """Who does not see a plot hears its title and its extremes; three plots an object."""
    plots = [attrs for tag, attrs in two_objects_page().tags if tag == "svg"]
    assert len(plots) == 6
    assert all(attrs["role"] == "img" and attrs["aria-labelledby"] for attrs in plots)
    assert all(attrs["viewbox"] and "width" not in attrs for attrs in plots)


def test_the_same_run_is_the_same_page() -> None:
    """Nothing in it depends on when or where it was written."""
    assert page_of(grid_results()) == grid_page()


def test_local_numbers_are_never_shown_as_awss() -> None:
    """The page of a local run begins with a warning."""
    cells, samples = a_grid(memories=(512,), chunks=(MIB,))
    local = page_of(results(cells, samples, a_run(label="local")))
    assert "the numbers say nothing about AWS" in local
    assert "say nothing about AWS" not in grid_page()


def test_a_run_in_which_nothing_was_measured_has_a_page() -> None:
    """Plots without points, a table of failures, and why nothing is recommended."""
    cells = [a_cell(128, MIB), a_cell(512, MIB)]
    samples = [sample for cell in cells for sample in failed_samples(cell, "no")]
    html = page_of(results(cells, samples, a_run(status="FAILED", cause="no")))
    assert "<h1>Hashing objects of 100 MB: nothing was measured</h1>" in html
    assert "Nothing: no setting was measured" in html
    assert html.count("No cell has") == 2 * 3  # in the drawing and beside it


def test_a_plot_of_one_point_is_left_out() -> None:
    """Thirteen objects with one cell each have no plot; one memory size has no curve."""
    cells = [a_cell(512, MIB, MIB * number) for number in range(1, 14)]
    samples = [sample for cell in cells for sample in good_samples(cell)]
    assert "<svg" not in page_of(results(cells, samples))
    html = page_of(results(*a_grid(memories=(512,), chunks=(MIB, 4 * MIB))))
    assert re.findall(r'<figure id="p0-(\w+)"', html) == ["heat", "cost"]


def test_lines_differ_in_colour_dashes_and_mark_and_have_their_label() -> None:
    """In light, in dark and in grey, and without a legend to look up."""
    for styles in zip(*line_styles(LINES_MAX), strict=True):
        assert len(set(styles)) >= 4
    html = grid_page()
    curve = html[html.index('id="p0-memory"') : html.index('id="p0-cost"')]
    for label in ("1 MiB", "10 MB", "20 MB"):
        assert curve.count(f">{label}</text>") == 1


def test_without_the_plotting_library_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is an extra; the error names the command that installs it."""
    folders = ("bucketsum_cli.tune.report", "bucketsum_cli.tune.plots")
    for name in [name for name in sys.modules if name.startswith(folders)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(CannotDoError, match=r"uv tool install '\.\[report\]'"):
        write_report(grid_results(), tmp_path / "report.html")


def test_marks_are_never_cut_by_the_frame() -> None:
    """A mark at the maximum or at the right edge is drawn whole."""
    cells, samples = a_grid(memories=(512, 1769), chunks=(MIB,))
    plots = re.findall(r"<svg.*?</svg>", page_of(results(cells, samples)), re.DOTALL)
    svgs = ET.fromstring(f"<all>{''.join(plots)}</all>")  # noqa: S314 - made here
    marks = [mark for mark in svgs.iter() if re.search(r"-point-\d+$", mark.get("id", ""))]
    assert len(marks) == 2 * len(cells)
    assert not [part for mark in marks for part in mark.iter() if part.get("clip-path")]


def test_every_plot_colour_of_the_theme_has_a_dark_value() -> None:
    """A variable that only light mode defines would be unreadable in dark mode."""
    html = grid_page()
    light, dark = re.findall(r":root \{(.*?)\}", html, re.DOTALL)
    used = set(re.findall(r"var\((--[\w-]+)\)", html))
    names = [set(re.findall(r"(--[\w-]+):", css)) for css in (light, dark)]
    assert names[0] == names[1] >= used

"""tables: the format of every benchmark's output, and the markers in documents."""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import StatisticsError

import pytest
from bench.function import cold_start
from bench.function import command as function
from bench.tables.document import with_tables, written_between
from bench.tables.table import Spread, SpreadColumn, Table

COLUMNS = (
    "a thing",
    SpreadColumn("USD", "{:.2f}".format),
    SpreadColumn("s", lambda spread: spread.text(1)),
)
TABLE = Table("t", COLUMNS, (("x | y", 1.234, Spread(2, 1, 3)), ("z", None, Spread(2, 2, 2))))


def test_a_document_gets_texts() -> None:
    """Numbers are formatted and aligned to the right; an unknown value is empty; pipes escape."""
    assert TABLE.markdown().splitlines() == [
        "| a thing | USD | s |",
        "| --- | --: | --: |",
        "| x \\| y | 1.23 | 2.0 (1.0-3.0) |",
        "| z |  | 2.0 |",
    ]
    titled = Table("t", COLUMNS, (), "Title", "Remark.").markdown()
    assert titled.startswith("**Title**\nRemark.\n\n| a thing |")


def test_a_terminal_shows_headings_and_cells(capsys: pytest.CaptureFixture[str]) -> None:
    """In order; a table without rows shows nothing."""
    TABLE.show()
    words = " ".join(capsys.readouterr().out.split())
    assert words == "t a thing USD s x | y 1.23 2.0 (1.0-3.0) z 2.0"
    Table("empty", COLUMNS, (), "Title").show()
    assert capsys.readouterr().out == ""


def test_a_spread_is_median_and_range() -> None:
    """In any order of the values; without values there is none."""
    assert Spread.of([3, 1, 7]) == Spread(3, 1, 7)
    with pytest.raises(StatisticsError):
        Spread.of([])


def test_only_the_text_between_the_markers_changes() -> None:
    """Writing twice is writing once."""
    document = "before\n<!-- bench t -->\nold\n<!-- /bench t -->\nafter\n"
    once = written_between(document, "t", "new")
    assert once == "before\n<!-- bench t -->\nnew\n<!-- /bench t -->\nafter\n"
    assert written_between(once, "t", "new") == once


@pytest.mark.parametrize(
    "document",
    [
        "",
        "<!-- bench t -->",
        "<!-- /bench t --> <!-- bench t -->",
        "<!-- bench t --> <!-- bench t --> <!-- /bench t -->",
        "<!-- bench t --> <!-- /bench t --> <!-- /bench t -->",
    ],
)
def test_a_document_without_its_markers_is_an_error(document: str) -> None:
    """A marker that is missing or occurs twice would lose text."""
    with pytest.raises(ValueError, match="once each"):
        written_between(document, "t", "new")


@pytest.mark.parametrize(
    ("document", "tables"),
    [
        (cold_start.DOCUMENT, [cold_start.table(json.loads(cold_start.MEASURED.read_text()))]),
        (function.DOCUMENT, [function.table(json.loads(function.MEASURED.read_text()))]),
    ],
    ids=["cold start", "function"],
)
def test_documents_have_the_generated_tables(document: Path, tables: Iterable[Table]) -> None:
    """The tables are those of the shipped measurements."""
    text = document.read_text("utf-8")
    assert with_tables(text, tables) == text

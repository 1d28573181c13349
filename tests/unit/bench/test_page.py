"""page: one table for people, for documents and for machines."""

from __future__ import annotations

import pytest
from bench.tables.table import Head, Table, written_between

HEADS = (Head("a thing", "thing"), Head("USD", "usd", "{:.2f}".format))
TABLE = Table("t", HEADS, (("x", 1.234), ("y", None)))


def test_a_document_gets_texts() -> None:
    """Values are formatted; what is not known is empty."""
    assert TABLE.markdown().splitlines() == [
        "| a thing | USD |",
        "| --- | --- |",
        "| x | 1.23 |",
        "| y |  |",
    ]


def test_a_machine_gets_values() -> None:
    """Values are as they are, under names without spaces."""
    assert TABLE.as_json() == [{"thing": "x", "usd": 1.234}, {"thing": "y", "usd": None}]


def test_people_see_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Headings and cells, in order; a table without rows shows nothing."""
    TABLE.show()
    assert capsys.readouterr().out.split() == ["a", "thing", "USD", "x", "1.23", "y"]
    Table("empty", HEADS, ()).show()
    assert capsys.readouterr().out == ""


def test_only_what_is_between_the_markers_changes() -> None:
    """The rest of the document stays, and writing twice is writing once."""
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
    """A marker that is missing or twice would lose text; nothing is written."""
    with pytest.raises(ValueError, match="once each"):
        written_between(document, "t", "new")

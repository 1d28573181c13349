"""The table of a run and the table of its failures, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.report.markup import element
from bucketsum_cli.tune.report.table import RUNS, columns_of, groups_of, has_failed
from bucketsum_cli.tune.results import Results, failures_of

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from bucketsum_cli.tune.workload_view import TableColumn
    from bucketsum_lab.protocol.run_records import CellRow

_COLUMNS_OF_A_DESKTOP: Final = 12
"""Columns that fit into 1,280 pixels."""


def results_table(results: Results) -> ET.Element:
    """The table of a run; on a phone it scrolls within the page."""
    columns = columns_of(results, in_report=True)
    titles = [
        element("th", column.title, scope="col", class_=_class_of(column)) for column in columns
    ]
    bodies = [_body(results, *group, columns) for group in groups_of(results)]
    head = element("thead", element("tr", *titles))
    return _scrolling("Every run of every cell", element("table", head, *bodies, class_="results"))


def _class_of(column: TableColumn) -> str:
    return "" if column.is_number else "text" if column.name != RUNS else "runs"


def _body(
    results: Results, heading: str, cells: Sequence[CellRow], columns: Sequence[TableColumn]
) -> ET.Element:
    span = str(len(columns))
    title = element("th", element("span", heading), colspan=span, scope="rowgroup")
    rows = [_row(results, cell, columns) for cell in cells]
    return element("tbody", element("tr", title, class_="group"), *rows)


def _row(results: Results, cell: CellRow, columns: Sequence[TableColumn]) -> ET.Element:
    classes = "recommended" * results.is_recommended(cell) + " failed" * has_failed(cell)
    first, *others = columns
    return element(
        "tr",
        element("th", first.text(cell), scope="row"),
        *(element("td", column.text(cell), class_=_class_of(column)) for column in others),
        class_=classes.strip(),
    )


def failures_table(results: Results) -> tuple[ET.Element, ...]:
    """The failed samples and their causes; nothing if no sample failed."""
    rows = [
        element(
            "tr",
            element("th", results.labels.short(cell.setting), scope="row"),
            element("td", results.object_text(cell, results.size_texts)),
            element("td", f"run {sample.repetition}, invocation {sample.invocation}"),
            element("td", str(sample.failure or "")),
        )
        for cell in results.cells
        for sample in failures_of(results.samples.get(cell.cell_id, ()))
    ]
    if not rows:
        return ()
    titles = (
        element("th", title, scope="col") for title in ("setting", "object", "sample", "cause")
    )
    head = element("thead", element("tr", *titles))
    table = element("table", head, element("tbody", *rows), class_="failures")
    return element("h2", "Failures"), _scrolling("Failed samples", table)


def _scrolling(name: str, table: ET.Element) -> ET.Element:
    """A table in a scrolling frame; a note says so on a phone, or if the table is wide."""
    is_wide = len(table.findall("thead/tr/th")) > _COLUMNS_OF_A_DESKTOP
    note = element("p", "The table has more columns: scroll it sideways.")
    note.set("class", "sideways wide" if is_wide else "sideways")
    frame = element("div", table, class_="scrolling", role="region", aria_label=name, tabindex="0")
    return element("div", note, frame)

"""The table of a run and the table of its failures, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from bucketsum_cli.html.markup import element, table
from bucketsum_cli.tune.report.table import RUNS, columns_of, groups_of
from bucketsum_cli.tune.results import Results, failures_of, has_failed
from bucketsum_cli.tune.workload_view import TableColumn
from bucketsum_lab.protocol.run_records import CellRow


def results_table(results: Results) -> ET.Element:
    """The table of a run; on a phone it scrolls within the page."""
    columns = columns_of(results, in_report=True)
    titles = ((column.title, _class_of(column)) for column in columns)
    bodies = (_body(results, *group, columns) for group in groups_of(results))
    return table("Every run of every cell", "results", titles, bodies)


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
    titles = ((title, "") for title in ("setting", "object", "sample", "cause"))
    failures = table("Failed samples", "failures", titles, [element("tbody", *rows)])
    return element("h2", "Failures"), failures

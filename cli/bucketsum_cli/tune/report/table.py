"""The article's table and the failures, as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.report.markup import element
from bucketsum_cli.tune.results import failures_of
from bucketsum_cli.tune.table import groups_of

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from bucketsum_cli.tune.results import Results
    from bucketsum_cli.tune.table import TableGroup, TableRow

_MEMBERS: Final = "files in folders"
_RUNS: Final = "every run (s)"

COLUMNS: Final = (
    "object",
    _MEMBERS,
    "memory used",
    _RUNS,
    "average MB/s",
    "MB/s",
    "median s",
    "± s",
    "USD per GB",
    "remarks",
)


def results_table(results: Results) -> ET.Element:
    """The article's table; on a phone it scrolls in itself, the page does not."""
    columns = [one for one in COLUMNS if results.has_archives or one != _MEMBERS]
    titles = (
        element("th", one, scope="col", class_="runs" if one == _RUNS else "") for one in columns
    )
    head = element("thead", element("tr", *titles))
    bodies = [_body(group, len(columns)) for group in groups_of(results)]
    return _scrolling("Every run of every cell", element("table", head, *bodies, class_="results"))


def _body(group: TableGroup, width: int) -> ET.Element:
    heading = element("th", element("span", group.heading), colspan=str(width), scope="rowgroup")
    rows = [_row(row, with_members=width == len(COLUMNS)) for row in group.rows]
    return element("tbody", element("tr", heading, class_="group"), *rows)


def _row(row: TableRow, *, with_members: bool) -> ET.Element:
    before = (*([row.members] * with_members), row.memory_used)
    after = (row.average, row.median, row.median_seconds, row.spread, row.usd_per_gb)
    classes = "recommended" * row.recommended + " failed" * row.failed
    return element(
        "tr",
        element("th", row.object, scope="row"),
        *(element("td", text) for text in before),
        element("td", " ".join(row.runs), class_="runs"),
        *(element("td", text) for text in after),
        element("td", "; ".join(row.remarks)),
        class_=classes.strip(),
    )


def failures_table(results: Results) -> tuple[ET.Element, ...]:
    """Which samples failed and why; nothing where none did."""
    rows = [
        element(
            "tr",
            element("th", results.naming.short(cell.setting), scope="row"),
            element("td", f"run {sample.run}, invocation {sample.invocation}"),
            element("td", sample.error or ""),
            element("td", sample.cause or ""),
        )
        for cell in results.cells
        for sample in failures_of(results.samples.get(cell.cell_id, ()))
    ]
    if not rows:
        return ()
    columns = ("setting", "sample", "error", "cause")
    head = element("thead", element("tr", *(element("th", one, scope="col") for one in columns)))
    table = element("table", head, element("tbody", *rows), class_="failures")
    return element("h2", "What failed"), _scrolling("Failed samples", table)


def _scrolling(name: str, table: ET.Element) -> ET.Element:
    return element("div", table, class_="scrolling", role="region", aria_label=name, tabindex="0")

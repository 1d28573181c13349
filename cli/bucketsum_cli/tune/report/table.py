"""The article's table and the failures, as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.tune.report.markup import element
from bucketsum_cli.tune.results import failures_of
from bucketsum_cli.tune.rows import groups_of
from bucketsum_cli.tune.texts import chunk_text, memory_text

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from bucketsum_cli.tune.results import Results
    from bucketsum_cli.tune.rows import TableGroup, TableRow

COLUMNS: Final = (
    "object",
    "memory used",
    "every run (s)",
    "average MB/s",
    "MB/s",
    "median s",
    "± s",
    "USD per GB",
    "remarks",
)


def results_table(results: Results) -> ET.Element:
    """The article's table; on a phone it scrolls in itself, the page does not."""
    head = element("thead", element("tr", *(element("th", one, scope="col") for one in COLUMNS)))
    bodies = [_body(group) for group in groups_of(results)]
    return _scrolling("Every run of every cell", element("table", head, *bodies, class_="results"))


def _body(group: TableGroup) -> ET.Element:
    heading = element(
        "th", element("span", group.heading), colspan=str(len(COLUMNS)), scope="rowgroup"
    )
    return element("tbody", element("tr", heading, class_="group"), *map(_row, group.rows))


def _row(row: TableRow) -> ET.Element:
    texts = (
        row.memory_used,
        " ".join(row.runs),
        row.average,
        row.median,
        row.median_seconds,
        row.spread,
        row.usd_per_gb,
        "; ".join(row.remarks),
    )
    classes = "recommended" * row.recommended + " failed" * row.failed
    cells = [element("td", text) for text in texts]
    return element("tr", element("th", row.object, scope="row"), *cells, class_=classes.strip())


def failures_table(results: Results) -> tuple[ET.Element, ...]:
    """Which samples failed and why; nothing where none did."""
    rows = [
        element(
            "tr",
            element("th", memory_text(cell.memory_mb), scope="row"),
            element("td", chunk_text(cell.chunk_bytes)),
            element("td", f"run {sample.run}, invocation {sample.invocation}"),
            element("td", sample.error or ""),
            element("td", sample.cause or ""),
        )
        for cell in results.cells
        for sample in failures_of(results.samples.get(cell.cell_id, ()))
    ]
    if not rows:
        return ()
    columns = ("memory", "chunk size", "sample", "error", "cause")
    head = element("thead", element("tr", *(element("th", one, scope="col") for one in columns)))
    table = element("table", head, element("tbody", *rows), class_="failures")
    return element("h2", "What failed"), _scrolling("Failed samples", table)


def _scrolling(name: str, table: ET.Element) -> ET.Element:
    return element("div", table, class_="scrolling", role="region", aria_label=name, tabindex="0")

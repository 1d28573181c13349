"""Generated parts of documents, between ``<!-- bench NAME -->`` and ``<!-- /bench NAME -->``."""

import json
from collections.abc import Iterable
from pathlib import Path

from bench.tables.table import Table
from bucketsum_cli.terminal import output


def written_between(document: str, name: str, text: str) -> str:
    """*document* with *text* between the markers ``bench NAME``.

    Raises:
        ValueError: A marker is missing, occurs twice, or they are in the wrong order.
    """
    begin, end = f"<!-- bench {name} -->", f"<!-- /bench {name} -->"
    before, first, rest = document.partition(begin)
    _, last, after = rest.partition(end)
    if not (first and last) or begin in rest or end in after:
        raise ValueError(f"the document must have {begin} and after it {end}, once each")
    return f"{before}{begin}\n{text}\n{end}{after}"


def rows_of(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts, which may have any markup."""
    listed = [*titles]
    lines = (listed, ["---"] * len(listed), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_tables(document: str, tables: Iterable[Table]) -> str:
    """*document* with each table between its markers.

    Raises:
        ValueError: A table has no markers.
    """
    for table in tables:
        document = written_between(document, table.name, table.markdown())
    return document


def write_tables(path: Path, tables: Iterable[Table]) -> None:
    """Write each table between its markers in the document at *path*."""
    write(path, with_tables(path.read_text("utf-8"), tables))


def write_json(path: Path, measured: object) -> None:
    """Write *measured* to *path* as JSON."""
    write(path, json.dumps(measured, indent=2) + "\n")


def write(path: Path, document: str) -> None:
    """Replace the document at *path*, and say so."""
    path.write_text(document, "utf-8")
    output.note(f"written to {path.name}")

"""`bucketsum sql`: any question of a snapshot's views."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from bucketsum_cli.arguments.options import Target, json_option, stack_options, yes_option
from bucketsum_cli.commands.asking import athena_option, database_of, snapshot_option
from bucketsum_cli.snapshots.taking import Taking
from bucketsum_cli.terminal.documents import iso_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, print_json_array, print_text
from bucketsum_cli.terminal.tables import Column, print_table

if TYPE_CHECKING:
    from bucketsum_cli.snapshots.engine import Database


@click.command("sql")
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for programs.")
@snapshot_option
@athena_option
@yes_option
@json_option()
@stack_options
def sql(
    target: Target,
    query: str | None,
    as_csv: bool,
    snapshot_name: str | None,
    athena: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run an SQL query on a snapshot.

    The views are objects, members, deletions, current_objects, listing, samples and cells. The
    language is DuckDB's, or Athena's with --athena. A query cannot change anything. It reaches no
    file and no network; with --athena, it reads whatever your permissions allow. Without QUERY,
    asks for queries until the end of the input; each ends with a semicolon.

    Example: bucketsum sql "SELECT status, count(*) FROM objects GROUP BY status" --snapshot last
    """
    if as_csv and as_json:
        raise click.UsageError("--csv cannot be used with --json")
    database, _ = database_of(target, snapshot_name, Taking(yes=yes), athena)
    database.lock()
    if query is not None:
        _answer(database, query, as_csv=as_csv, as_json=as_json)
        return
    for text in _queries():
        try:
            _answer(database, text, as_csv=as_csv, as_json=as_json)
        except CannotDoError as error:
            for line in error.message.splitlines():
                note(line)


def _queries() -> Iterator[str]:
    """Yield each query that is typed."""
    lines: list[str] = []
    stdin = click.get_text_stream("stdin")
    if stdin.isatty():
        note("queries end with a semicolon; Ctrl-D ends the input")
    for line in stdin:
        lines.append(line)
        if line.rstrip().endswith(";"):
            yield "".join(lines)
            lines.clear()
    if "".join(lines).strip():
        yield "".join(lines)


def _answer(database: Database, query: str, *, as_csv: bool, as_json: bool) -> None:
    answer = database.select(query)
    if as_json:
        print_json_array(
            {name: _plain(value) for name, value in record.items()} for record in answer.records()
        )
    elif as_csv:
        print_text(_csv_line(answer.columns))
        for row in answer:
            print_text(_csv_line([*map(_text, row)]))
    elif not print_table(
        [Column(name, shrinks=True) for name in answer.columns],
        ([*map(_text, row)] for row in answer),
        as_list=True,
    ):
        note("no rows")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of DuckDB
    is_plain = isinstance(value, str | int | bool | None)
    return value if is_plain or (isinstance(value, float) and isfinite(value)) else _text(value)


def _text(value: Any) -> str:  # noqa: ANN401 - any value of DuckDB
    if value is None:
        return ""
    return iso_text(value) if isinstance(value, datetime) else str(value)


def _csv_line(values: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()

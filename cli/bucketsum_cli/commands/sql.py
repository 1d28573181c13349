"""`bucketsum sql`: any question of a snapshot's views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from bucketsum_cli.arguments.options import Target, json_option, stack_options, yes_option
from bucketsum_cli.commands.asking import athena_option, database_of, snapshot_option
from bucketsum_cli.snapshots.statements import statements_in
from bucketsum_cli.snapshots.taking import Taking
from bucketsum_cli.snapshots.values import csv_line, json_value, text_of, unique_names
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, print_json_array, print_text
from bucketsum_cli.terminal.tables import Column, print_table

if TYPE_CHECKING:
    from bucketsum_cli.snapshots.database import Database

_OPTION: Final = re.compile(r"--?[\w=-]+")


class _SqlCommand(click.Command):
    """A command whose argument may begin with a comment in SQL, which looks like an option."""

    def make_parser(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own is private
        """Take an unknown option for the argument."""
        ctx.ignore_unknown_options = True
        return super().make_parser(ctx)


@click.command("sql", cls=_SqlCommand)
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
    language is DuckDB's, or Athena's with --athena. Times are in UTC. A query cannot change
    anything. It reaches no file and no network; with --athena, it reads whatever your permissions
    allow. Without QUERY, reads queries from stdin; each ends with a semicolon. Exits with 2 at the
    first error, except at the prompt of a terminal.

    Example: bucketsum sql "SELECT status, count(*) FROM objects GROUP BY status" --snapshot last
    """
    if as_csv and as_json:
        raise click.UsageError("--csv cannot be used with --json")
    if query and _OPTION.fullmatch(query):
        raise click.NoSuchOption(query)
    database, _ = database_of(target, snapshot_name, Taking(yes=yes), athena)
    database.engine.lock()
    answer = partial(_answer, database, as_csv=as_csv, as_json=as_json)
    if query is not None:
        answer(query)
        return
    stdin = click.get_text_stream("stdin")
    if stdin.isatty():
        _answer_typed(stdin, answer)
        return
    queries, rest = statements_in(stdin.read())
    for text in [*queries, *filter(None, [rest])]:
        answer(text)


def _answer_typed(stdin: TextIO, answer: Callable[[str], None]) -> None:
    """Answer each query that is typed; an error or Ctrl-C ends only that query."""
    for text in _typed(stdin):
        try:
            answer(text)
        except CannotDoError as error:
            for line in error.message.splitlines():
                note(line)
        except KeyboardInterrupt:
            note("interrupted")


def _typed(stdin: TextIO) -> Iterator[str]:
    """Yield each query that is typed; Ctrl-C drops the one that is being typed."""
    note("queries end with a semicolon; Ctrl-D ends the input")
    text = ""
    while True:
        try:
            line = stdin.readline()
        except KeyboardInterrupt:
            note("")
            text = ""
            continue
        queries, text = statements_in(text + line)
        yield from queries
        if not line:
            break
    if text:
        yield text


def _answer(database: Database, query: str, *, as_csv: bool, as_json: bool) -> None:
    answer = database.engine.select(query)
    if as_json:
        names = unique_names(answer.columns)
        print_json_array(dict(zip(names, map(json_value, row), strict=True)) for row in answer)
    elif as_csv:
        print_text(csv_line(answer.columns))
        for row in answer:
            print_text(csv_line(row))
    elif not print_table(
        [Column(name, shrinks=True) for name in answer.columns],
        ([*map(text_of, row)] for row in answer),
        as_list=True,
    ):
        note("no rows")

"""`bucketsum sql`: any question of a snapshot's views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, Final, TextIO

import click

from bucketsum_cli.commands.asking import Asking, athena_option, question
from bucketsum_cli.snapshots.database import Answer, Database
from bucketsum_cli.snapshots.own_tables import NAMED, put_own_table
from bucketsum_cli.snapshots.prompt import typed_queries
from bucketsum_cli.snapshots.statements import statements_in
from bucketsum_cli.snapshots.values import csv_line, json_value, text_of, unique_names
from bucketsum_cli.terminal.columns import Column
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, print_json_array, print_text
from bucketsum_cli.terminal.output_files import output_file
from bucketsum_cli.terminal.tables import print_table

_PARQUET: Final = ".parquet"
_WRITTEN: Final = (".csv", ".jsonl", _PARQUET)
_RESERVED: Final = {"main", "memory", "system", "temp"}
"""Names of databases in DuckDB."""
_PLAN: Final = ["explain_key", "explain_value"]
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
@click.option("--file", "questions", type=click.File("r", "utf-8-sig"), metavar="FILE",
              help="Read the queries from FILE.")  # fmt: skip
@click.option("--with", "own", multiple=True, metavar="NAME=FILE",
              help="Also ask the table NAME: FILE.csv, .tsv, .parquet or .jsonl; may be "
                   "repeated.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the answer to FILE.csv, .jsonl or .parquet. An existing file is "
                   "replaced.")  # fmt: skip
@click.option("--timeout", type=click.IntRange(1, 86_400), metavar="SECONDS",
              help="End a query of DuckDB that takes longer.")  # fmt: skip
@click.option("--snapshot", "names", multiple=True, metavar="last|FOLDER|NAME=FOLDER",
              help="Ask the last snapshot, or the one in FOLDER; by default, a new one is taken. "
                   "With names, ask several: the views of each are NAME.objects.")  # fmt: skip
@question(options=(athena_option,))
def sql(
    asking: Asking,
    query: str | None,
    as_csv: bool,
    questions: TextIO | None,
    own: tuple[str, ...],
    output: Path | None,
    timeout: int | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run an SQL query on a snapshot.

    The views are objects, versions, current_objects, members, contents, deletions, listing,
    samples and cells; listing needs a snapshot taken with --listing. The language is DuckDB's, or
    Athena's with --athena. Times are in UTC. A query cannot change anything. It reaches no file but
    those of --with, and no network; with --athena, it reads whatever your permissions allow.
    Columns of CSV are texts, or integers if all values are. Without QUERY, reads queries from
    stdin; each ends with a semicolon. Exits with 2 at the first error, except at the prompt of a
    terminal, which has history, help and completion.

    Example: bucketsum sql "FROM new.objects ANTI JOIN old.objects USING (bucket, key, etag)"
    --snapshot new=last --snapshot old=march
    """
    if query and _OPTION.fullmatch(query):
        raise click.NoSuchOption(query)
    if (query is not None and questions) or (as_csv and as_json):
        raise click.UsageError("give QUERY or --file, and one of --csv and --json")
    if asking.athena and (own or timeout or (output and output.suffix == _PARQUET)):
        raise click.UsageError("--with, --timeout and FILE.parquet cannot be used with --athena")
    _require_written(query, output, is_other=as_csv or as_json)
    database = _database(asking, names)
    for text in own:
        put_own_table(database.local, text)
    database.engine.lock()
    show = partial(_write, output) if output else partial(_show, as_csv=as_csv, as_json=as_json)
    answer = partial(_answer, database, show, timeout)
    if query is not None:
        answer(query)
        return
    _answer_all(questions or click.get_text_stream("stdin"), database, answer)


def _answer_all(stdin: TextIO, database: Database, answer: Callable[[str], None]) -> None:
    """Answer each query of *stdin*, by and by if it is a terminal."""
    if stdin.isatty():
        _answer_typed(typed_queries(database.local), answer)
        return
    try:
        queries, rest = statements_in(stdin.read())
    except UnicodeDecodeError as error:
        raise CannotDoError(f"the queries are not valid UTF-8: {error.reason}") from error
    for text in [*queries, *filter(None, [rest])]:
        answer(text)


def _database(asking: Asking, names: tuple[str, ...]) -> Database:
    """The database of one snapshot, or of several with names."""
    matches = [*filter(None, map(NAMED.fullmatch, names))]
    named = {match[1]: match[2] for match in matches}
    own = {name.lower() for name in named} - _RESERVED
    if len(own) < len(matches) or len(matches) < len(names) > 1:
        raise click.UsageError(
            f"several snapshots need a name each, other than {', '.join(sorted(_RESERVED))}: "
            "--snapshot new=last --snapshot old=FOLDER"
        )
    if named and asking.athena:
        raise click.UsageError("--athena asks one snapshot, without a name")
    if named:
        return asking.databases(named)
    return replace(asking, snapshot_name=(*names, None)[0]).database()[0]


def _require_written(query: str | None, output: Path | None, *, is_other: bool) -> None:
    """Refuse an *output* that no answer could be written to."""
    if output is None:
        return
    if query is None or is_other:
        raise click.UsageError("--output needs QUERY, and cannot be used with --csv or --json")
    if output.suffix not in _WRITTEN:
        raise click.UsageError(f"--output {output} must end with one of {', '.join(_WRITTEN)}")


def _answer_typed(queries: Iterable[str], answer: Callable[[str], None]) -> None:
    """Answer each query that is typed; an error or Ctrl-C ends only that query."""
    for text in queries:
        try:
            answer(text)
        except CannotDoError as error:
            for line in error.message.splitlines():
                note(line)
        except KeyboardInterrupt:
            note("interrupted")


def _answer(
    database: Database, show: Callable[[Database, str], None], timeout: int | None, query: str
) -> None:
    """Answer a *query* within its time.

    Raises:
        CannotDoError: It is refused, or takes more than *timeout* seconds.
    """
    if timeout is None:
        show(database, query)
        return
    timer = Timer(timeout, database.local.connection.interrupt)
    timer.start()
    try:
        show(database, query)
    except CannotDoError as error:
        if not timer.finished.is_set():
            raise
        raise CannotDoError(f"the query took longer than {timeout} s; see --timeout") from error
    finally:
        timer.cancel()


def _write(output: Path, database: Database, query: str) -> None:
    """Write the answer to a file, which has all of it or stays as it was."""
    with output_file(output) as file:
        if output.suffix == _PARQUET:
            database.local.select_parquet(query, file)
            return
        answer = database.engine.select(query)
        documents = (f"{json_text(document, indent=None)}\n" for document in _documents(answer))
        for line in _csv(answer) if output.suffix == ".csv" else documents:
            file.write(line.encode())


def _csv(answer: Answer) -> Iterator[str]:
    yield csv_line(answer.columns)
    yield from map(csv_line, answer)


def _documents(answer: Answer) -> Iterator[dict[str, Any]]:
    names = unique_names(answer.columns)
    return (dict(zip(names, map(json_value, row), strict=True)) for row in answer)


def _show(database: Database, query: str, *, as_csv: bool, as_json: bool) -> None:
    answer = database.engine.select(query)
    if as_json:
        print_json_array(_documents(answer))
    elif as_csv:
        for line in _csv(answer):
            print_text(line)
    elif answer.columns == _PLAN:
        for _, plan in answer:
            print_text(f"{plan}\n")
    elif not print_table(
        [Column(name, shrinks=True) for name in answer.columns],
        ([*map(text_of, row)] for row in answer),
        as_list=True,
    ):
        note("no rows")

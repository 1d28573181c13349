"""A person's statements in SQL: where they end, and which of them are queries."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EXPLAIN: Final = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\s+(ANALYZE\s+)?", re.IGNORECASE | re.DOTALL
)
_DESCRIBE: Final = re.compile(r"\s*DESC", re.IGNORECASE)
_INEXACT: Final = re.compile(r"\b(DATE|INTERVAL|TIME_NS|TIMESTAMP_NS)(?=[\[\],)]|$)")
"""Types whose values Python rounds, or takes for others, in the name of a type."""


def statements_in(text: str) -> tuple[list[str], str]:
    """The statements that end with a semicolon, and the rest, empty if it is but comments."""
    import duckdb  # noqa: PLC0415 - as `require_engine`

    content = text.encode(errors="replace")
    statements, start, is_empty = [], 0, True
    for place, kind in duckdb.tokenize(content.decode()):
        if kind is duckdb.token_type.operator and content[place : place + 1] == b";":
            if not is_empty:
                statements.append(content[start:place].decode().strip())
            start, is_empty = place + 1, True
        elif kind is not duckdb.token_type.comment:
            is_empty = False
    return statements, "" if is_empty else content[start:].decode()


def query_in(connection: DuckDBPyConnection, text: str) -> str:
    """The only query of *text*, without a semicolon.

    DESCRIBE and SHOW are queries for DuckDB. An EXPLAIN is one if what it explains is: ANALYZE runs
    that. A PIVOT is several statements, so it must be one in parentheses.

    Raises:
        CannotDoError: It is another statement, or several; or it reads a `listing` that is not
            there: its answer would look as if S3 had nothing.
    """
    statement = "".join(statements_in(text)[0]) or text
    kinds = _kinds_in(connection, text)
    if kinds == ["EXPLAIN"] and (explain := _EXPLAIN.match(text)):
        kinds = _kinds_in(connection, text[explain.end() :])
    if kinds == ["MULTI"]:
        kinds = ["SELECT"] * len(_kinds_in(connection, f"FROM ({statement}\n)"))
    if kinds != ["SELECT"]:
        raise CannotDoError(
            f"{' and '.join(kinds) or 'nothing'} is not one query; SELECT, PIVOT, DESCRIBE, "
            "SUMMARIZE, SHOW and EXPLAIN of a query are allowed: a snapshot is never changed"
        )
    _require_listings(connection, statement)
    return statement


def _require_listings(connection: DuckDBPyConnection, text: str) -> None:
    import duckdb  # noqa: PLC0415 - as `require_engine`

    names: set[str] = set()
    with suppress(duckdb.Error):  # which it also has when it runs
        names = connection.get_table_names(text, qualified=True)
    for name in names if not _DESCRIBE.match(text) else ():
        view = name.partition(" AS ")[0]
        database, dot, table = view.rpartition(".")
        listed = f"FROM {database}{dot}listed"
        if table.strip('"').lower() == "listing" and not connection.execute(listed).fetchall():
            raise no_listing(view.replace('"', ""))


def no_listing(view: str) -> CannotDoError:
    """The error that S3 was not listed for the snapshot whose *view* is asked."""
    return CannotDoError(
        f"the view {view} is empty, as S3 was not listed for its snapshot: take one with "
        f"`{command_line('snapshot', '--listing')}`, and ask it with --snapshot last"
    )


def exact_query(connection: DuckDBPyConnection, text: str) -> str:
    """The query *text* with texts in place of values that Python's types would change."""
    import duckdb  # noqa: PLC0415 - as `require_engine`

    if len(_kinds_in(connection, text)) > 1:
        return text
    try:
        columns = connection.execute(f"DESCRIBE {text}").fetchall()
    except duckdb.Error:  # an EXPLAIN has no types; of others, DuckDB says it when they run
        return text
    if not any(_INEXACT.search(kind) for _, kind, *_ in columns):
        return text
    values = ", ".join(
        f"CAST(c{number} AS {_INEXACT.sub('VARCHAR', kind)}) AS {quoted(name)}"
        for number, (name, kind, *_) in enumerate(columns)
    )
    names = ", ".join(f"c{number}" for number in range(len(columns)))
    return f"SELECT {values} FROM ({text}\n) answer ({names})"  # noqa: S608 - of the person's query


def quoted(name: str) -> str:
    """A *name* as any is written in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _kinds_in(connection: DuckDBPyConnection, text: str) -> list[str]:
    return [statement.type.name for statement in connection.extract_statements(text)]

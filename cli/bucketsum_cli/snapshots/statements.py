"""A person's statements in SQL: where they end, and which of them are queries."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EXPLAIN: Final = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\s+(\([^()]*\)\s*|ANALYZE\s+)*", re.IGNORECASE | re.DOTALL
)
_NO_NAMES: Final = re.compile(r"'[^']*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME: Final = re.compile(r'(?:(?:"[^"]*"|\w+)\s*\.\s*)*(?:"[^"]*"|\w+)')
JUDGED: Final = ("objects", "versions", "current_objects", "members", "contents")
"""Views with a state."""
_OF_LISTINGS: Final = re.compile("'(lost|not recorded)'", re.IGNORECASE)
"""States that no object has without a listing."""
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
    that. A PIVOT is several statements, so it must be one in parentheses. Of a snapshot without a
    listing, a note says that the state that the query asks for is not known.

    Raises:
        CannotDoError: It is another statement, or several; or it reads a `listing` that is not
            there: its answer would look as if S3 had nothing.
    """
    statement = "".join(statements_in(text)[0]) or text
    query, kinds = statement, _kinds_in(connection, text)
    if kinds in (["EXPLAIN"], ["MULTI"]) and (explain := _EXPLAIN.match(statement)):
        query = statement[explain.end() :]
        kinds = _kinds_in(connection, query)
    if kinds == ["MULTI"]:
        kinds = ["SELECT"] * len(_kinds_in(connection, f"FROM ({query}\n)"))
    if kinds != ["SELECT"]:
        raise CannotDoError(
            f"{' and '.join(kinds) or 'nothing'} is not one query; SELECT, PIVOT, DESCRIBE, "
            "SUMMARIZE, SHOW and EXPLAIN of a query are allowed: a snapshot is never changed"
        )
    if not _DESCRIBE.match(query):
        _require_listings(connection, query)
    return statement


def _require_listings(connection: DuckDBPyConnection, query: str) -> None:
    import duckdb  # noqa: PLC0415 - as `require_engine`

    names = sorted({*_NAME.findall(_NO_NAMES.sub(" ", query))})
    with suppress(duckdb.Error):  # of a PIVOT, every name may be a table
        tables = connection.get_table_names(query, qualified=True)
        names = [name for name in names if _parts(name)[-1].lower() in JUDGED]
        names += [table for table in tables if _parts(table)[-1].lower() == "listing"]
    for name in names:
        *databases, view = _parts(name)
        if view.lower() not in ("listing", *JUDGED):
            continue
        listed = ".".join(map(quoted, (*databases, "listed")))
        with suppress(duckdb.Error):  # a name of another thing, as a column of a table
            if not connection.execute(f"FROM {listed}").fetchall():
                require_view(".".join((*databases, view)), query)


def _parts(name: str) -> list[str]:
    """The database and the view of a *name* in SQL."""
    return re.split(r"\s*\.\s*", name.partition(" AS ")[0].replace('"', ""))


def require_view(view: str, sql: str) -> None:
    """Refuse *sql* about a *view* that is empty without a listing; note a state that needs one.

    Raises:
        CannotDoError: It would answer as if S3 had nothing.
    """
    way = f"`{command_line('snapshot', '--listing')}`"
    if view.lower().endswith("listing"):
        raise CannotDoError(
            f"the view {view} is empty, as S3 was not listed for its snapshot: take one with "
            f"{way}, and ask it with --snapshot last"
        )
    if state := _OF_LISTINGS.search(sql):
        note(f"{view}: S3 was not listed for its snapshot: it misses what is {state[0]}; see {way}")


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

"""A person's statements in SQL: where they end, and which of them are queries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EXPLAIN: Final = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\s+(ANALYZE\s+)?", re.IGNORECASE | re.DOTALL
)


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


def require_query(connection: DuckDBPyConnection, text: str) -> None:
    """Refuse a *text* that is not one query.

    DESCRIBE and SHOW are queries for DuckDB. An EXPLAIN is one if what it explains is: ANALYZE runs
    that. A PIVOT is several statements, so it must be one in parentheses.

    Raises:
        CannotDoError: It is another statement, or several.
    """
    kinds = _kinds_in(connection, text)
    if kinds == ["EXPLAIN"] and (explain := _EXPLAIN.match(text)):
        kinds = _kinds_in(connection, text[explain.end() :])
    if kinds == ["MULTI"]:
        statement = "".join(statements_in(text)[0]) or text
        kinds = ["SELECT"] * len(_kinds_in(connection, f"FROM ({statement}\n)"))
    if kinds != ["SELECT"]:
        raise CannotDoError(
            f"{' and '.join(kinds) or 'nothing'} is not one query; SELECT, PIVOT, DESCRIBE, "
            "SUMMARIZE, SHOW and EXPLAIN of a query are allowed: a snapshot is never changed"
        )


def _kinds_in(connection: DuckDBPyConnection, text: str) -> list[str]:
    return [statement.type.name for statement in connection.extract_statements(text)]

"""Lists and snapshots of a person's beside the views, loaded before a database is locked."""

from __future__ import annotations

import gzip
import re
from itertools import takewhile
from pathlib import Path
from typing import Final

from bucketsum_cli.snapshots.database import DuckDb
from bucketsum_cli.snapshots.statements import quoted
from bucketsum_cli.snapshots.tables import VIEWS
from bucketsum_cli.terminal.errors import CannotDoError

NAMED: Final = re.compile(r"([A-Za-z_]\w*)=(.+)", re.ASCII | re.DOTALL)
"""``NAME=FILE``, where an SQL query may have the name as it is."""

_CSV: Final = "read_csv($file, header = true, all_varchar = true, skip = $blank, comment = '')"
"""DuckDB would else skip lines until some look alike, and those that may be comments."""
_READERS: Final = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".parquet": "read_parquet($file)",
    ".jsonl": "read_json($file, format = 'newline_delimited')",
    ".ndjson": "read_json($file, format = 'newline_delimited')",
}
_GLOB: Final = "*?["
_ADVICE: Final = re.compile("\nPossible |\nLINE 1: ")
"""Begins what DuckDB says about the statement."""
_CATALOG: Final = (
    "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views()"
)


def put_own_table(local: DuckDb, text: str) -> None:
    """Load the file of *text*, ``NAME=FILE``, as the temporary table NAME.

    Raises:
        CannotDoError: The name is taken or not a name; there is no such file, or it is of no
            form that is read.
    """
    match = NAMED.fullmatch(text)
    if not match:
        raise CannotDoError(f"--with {text} is not NAME=FILE, such as mine=list.csv")
    name, file = match[1], Path(match[2])
    if name.lower() in {*VIEWS, *(str(row[0]).lower() for row in local.run(_CATALOG))}:
        raise CannotDoError(f"--with {text}: {name} is a view or table already; choose another")
    form = file.with_suffix("") if file.suffix == ".gz" else file
    reader = _READERS.get(form.suffix.lower())
    if reader is None:
        raise CannotDoError(f"--with {text}: a file must end with one of {', '.join(_READERS)}")
    if not file.is_file() or any(mark in str(file) for mark in _GLOB):
        raise CannotDoError(
            f"--with {text}: there is no such file, or its path has one of {' '.join(_GLOB)}"
        )
    try:
        values = {"file": str(file)} | ({"blank": _blank_lines(file)} if reader == _CSV else {})
        local.execute(f'CREATE TEMP TABLE "{name}" AS FROM {reader}', values)
    except (CannotDoError, OSError, EOFError) as error:
        reason = _ADVICE.split(str(error))[0].strip()
        raise CannotDoError(f"--with {text}: it must be whole, and in UTF-8. {reason}") from error
    if reader == _CSV:
        _read_integers(local, name)


def _blank_lines(file: Path) -> int:
    """Number of lines before the header of a *file*, which may be compressed."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
        return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _read_integers(local: DuckDb, name: str) -> None:
    """Make integers of the columns whose texts all are, exactly as they are written."""
    columns = [column for column, *_ in local.run(f'DESCRIBE "{name}"')]
    for column in columns:
        own = quoted(column)
        [(is_exact,)] = local.run(
            f"SELECT bool_and(CAST(TRY_CAST({own} AS BIGINT) AS VARCHAR) "  # noqa: S608 - quoted
            f'IS NOT DISTINCT FROM {own}) FROM "{name}" WHERE {own} IS NOT NULL'
        )
        if is_exact:
            local.execute(f'ALTER TABLE "{name}" ALTER {own} TYPE BIGINT')

"""DuckDB over a snapshot: its tables are made once; then each question is one file of SQL."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Final

from bucketsum.algorithms import ALGORITHMS, EXTRA_ALGORITHMS
from bucketsum_cli.snapshots.folder import LISTING, MEASUREMENTS, ROWS, require_whole
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import notes

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from bucketsum_cli.snapshots.folder import Snapshot

VIEWS: Final = (
    "objects", "members", "deletions", "current_objects", "listing", "samples", "cells",
)  # fmt: skip
"""What questions are asked of."""

_MEMORY: Final = "800MB"
_TABLES: Final = "tables-2.duckdb"
"""Made from the other files; a change of the tables changes the number."""
_PAGE_ROWS: Final = 1000
_REPEATED: Final = re.compile(r"\{([^{}]*@[^{}]*?)(,| OR| UNION ALL|) \.\.\.\}")
_QUERY: Final = "SELECT"
"""Kind of the statements that `sql` runs; DuckDB reads DESCRIBE and SHOW as one."""
_CATALOG: Final = """
SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT table_name, sql FROM duckdb_tables() WHERE NOT temporary
UNION ALL SELECT function_name, macro_definition FROM duckdb_functions()
WHERE NOT internal AND database_name <> 'temp' ORDER BY ALL"""


class Answer:
    """The rows of a question, which are read once.

    Attributes:
        columns: Their names.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        self.columns = columns
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield each row as it comes; times are in UTC."""
        return iter(self._rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row by the names of the columns."""
        return (dict(zip(self.columns, row, strict=True)) for row in self)


def _rows_of(connection: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    description = connection.description or ()
    times = {n for n, column in enumerate(description) if column[1] == "TIMESTAMP"}
    with _explained():
        while page := connection.fetchmany(_PAGE_ROWS):
            yield from (_in_utc(row, times) for row in page) if times else page


def _in_utc(row: tuple[Any, ...], times: set[int]) -> tuple[Any, ...]:
    """*row* with UTC at the places *times*; a time that Python cannot have is a text."""
    return tuple(
        value.replace(tzinfo=UTC) if place in times and isinstance(value, datetime) else value
        for place, value in enumerate(row)
    )


class Database:
    """A snapshot's views, and the tables of a question; it never writes to the snapshot."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection

    def ask(self, query: str, **question: str | int | bool) -> Answer:
        """Ask the *query* of that name; *question* has the values of its table ``question``."""
        self.put_question(question)
        return self.run(query_text(query))

    def write_parquet(self, sql: str, file: Path) -> dict[str, str]:
        """Write the answer to *file*, in Parquet; returns the types of its columns."""
        with _explained():
            answer = self.connection.sql(sql)
            answer.write_parquet(str(file))
            return dict(zip(answer.columns, map(str, answer.types), strict=True))

    def tables(self) -> dict[str, bool]:
        """The views, and the tables of a question → whether it is one of these."""
        self._execute(
            "SELECT table_name, temporary FROM duckdb_tables() "
            "UNION ALL SELECT view_name, temporary FROM duckdb_views() WHERE NOT internal"
        )
        names = dict(self.connection.fetchall())
        return {name: own for name, own in names.items() if own or name in VIEWS}

    def put_question(self, question: Mapping[str, str | int | bool]) -> None:
        """Make the table ``question`` of one row."""
        if question:
            columns = ", ".join(f"${name} AS {name}" for name in question)
            self._execute(f"CREATE OR REPLACE TEMP TABLE question AS SELECT {columns}", question)

    def run(self, sql: str) -> Answer:
        """Run one statement; progress is shown on a terminal."""
        with notes().status("asking ..."):
            self._execute(sql)
        columns = [column[0] for column in self.connection.description or ()]
        return Answer(columns, _rows_of(self.connection))

    def lock(self) -> None:
        """Let no query reach a file, the network, an extension or a setting, from now on."""
        for statement in ("temp_directory = ''", "enable_external_access = false",
                          "lock_configuration = true"):  # fmt: skip
            self._execute(f"SET {statement}")

    def select(self, sql: str) -> Answer:
        """Run a person's query.

        Raises:
            CannotDoError: It is not one query, or DuckDB refuses it.
        """
        text = sql.encode(errors="surrogateescape").decode(errors="replace")
        with _explained():
            kinds = [statement.type.name for statement in self.connection.extract_statements(text)]
        if kinds != [_QUERY]:
            raise CannotDoError(
                f"{' and '.join(kinds) or 'nothing'} is not one query; SELECT and DESCRIBE are "
                "allowed: a snapshot is never changed"
            )
        return self.run(text)

    def put_table(self, name: str, types: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make the temporary table *name* of *rows*, whose columns have *types*."""
        with TemporaryDirectory(prefix="bucketsum-") as folder:
            file = Path(folder, "rows.json")
            with file.open("w", encoding="utf-8") as lines:
                lines.writelines(f"{json_text(dict(row), indent=None)}\n" for row in rows)
            self._execute(f"CREATE OR REPLACE TEMP TABLE {name} ({types})")
            if file.stat().st_size:
                self._execute(
                    f"INSERT INTO {name} BY NAME SELECT * FROM read_json($file, "  # noqa: S608 - a name of ours
                    "format = 'newline_delimited', records = 'true', columns = $columns)",
                    {"file": str(file), "columns": dict(map(str.split, types.split(", ")))},
                )

    def _execute(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        with _explained():
            self.connection.execute(sql, values)


class SidesDatabase(Database):
    """A database of two sides, the tables ``left_side`` and ``right_side``; of no snapshot."""

    def __init__(self) -> None:
        super().__init__(_connect(None))

    def put_objects(
        self, table: str, snapshot: Snapshot, query: str, keys: Mapping[str, str]
    ) -> None:
        """Make the *table* of a side from the *query* of a snapshot; its question is *keys*."""
        tables = tables_of(snapshot)
        self._execute("ATTACH $file AS asked (READ_ONLY)", {"file": str(tables)})
        self._execute("USE asked")
        self.put_question(keys)
        text = query_text(query)
        self._execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {text}")
        self._execute("USE memory")
        self._execute("DETACH asked")


def query_text(name: str) -> str:
    """The text of a query in queries/, where ``{c.@, ...}`` is ``c.sha1, c.sha256``, and so on.

    ``@`` is each algorithm, ``@extra`` each of EXTRA_ALGORITHMS; OR and UNION ALL separate too.
    """
    text = (files(__package__) / "queries" / f"{name}.sql").read_text("utf-8")
    return _REPEATED.sub(_repeated, text)


def _repeated(part: re.Match[str]) -> str:
    """The *part* of a query for each algorithm."""
    text, separator = part.group(1), part.group(2)
    mark, names = ("@extra", EXTRA_ALGORITHMS) if "@extra" in text else ("@", [*ALGORITHMS])
    return f"{separator} ".join(text.replace(mark, name) for name in names)


def open_snapshot(snapshot: Snapshot) -> Database:
    """The database of *snapshot*, which it never changes.

    Raises:
        CannotDoError: As `tables_of`.
    """
    return Database(_connect(tables_of(snapshot), read_only=True))


def tables_of(snapshot: Snapshot) -> Path:
    """The file with the tables of *snapshot*, which are made the first time.

    Raises:
        CannotDoError: DuckDB is not installed; a file is damaged; the disk is full.
    """
    require_engine()
    file = snapshot.folder / _TABLES
    if not (file.exists() and _is_ours(file)):
        with notes().status(f"reading {snapshot.rows:,} rows ..."):
            _make_tables(snapshot, file)
    return file


def _is_ours(file: Path) -> bool:
    """Whether the views are those of this program: one of a stranger could read other files."""
    with _explained(), _connect(file, read_only=True) as theirs, _connect(None) as ours:
        ours.execute(query_text("tables"))
        _load(ours, "load", [os.devnull])
        ours.execute(query_text("views"))
        catalogs = [connection.execute(_CATALOG).fetchall() for connection in (theirs, ours)]
    return catalogs[0] == catalogs[1]


def _make_tables(snapshot: Snapshot, file: Path) -> None:
    require_whole(snapshot)
    partial = file.with_name(f".{os.getpid()}-{file.name}")
    try:
        with _explained(), _connect(partial) as connection:
            connection.execute(query_text("tables"))
            for keys in snapshot.listed:
                connection.execute("INSERT INTO listed VALUES (?, ?)", [keys.bucket, keys.prefix])
            for query, kind in (("load", ROWS), ("load_listing", LISTING),
                                ("load_measurements", MEASUREMENTS)):  # fmt: skip
                _load(connection, query, [str(snapshot.folder / f.name)
                                          for f in snapshot.of_kind(kind)])  # fmt: skip
            connection.execute(query_text("views"))
            _require_counts(connection, snapshot)
            connection.execute("CHECKPOINT")
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)
        partial.with_name(f"{partial.name}.wal").unlink(missing_ok=True)


def _load(connection: DuckDBPyConnection, query: str, paths: Sequence[str]) -> None:
    """Run the statements of a *query*; those that read files read *paths*."""
    for statement in connection.extract_statements(query_text(query)):
        if not statement.named_parameters:
            connection.execute(statement)
        elif paths or query == "load":
            connection.execute(statement, {"files": [*paths]})


def _require_counts(connection: DuckDBPyConnection, snapshot: Snapshot) -> None:
    """Refuse a file that has not as many rows as its list says."""
    counted = connection.execute("SELECT file, count(*) FROM items GROUP BY file").fetchall()
    rows = dict(counted)
    for file in snapshot.of_kind(ROWS):
        if (got := rows.get(file.name.rpartition("/")[2], 0)) != file.rows:
            raise CannotDoError(
                f"{snapshot.folder / file.name} has {got:,} rows, its list says {file.rows:,}; the "
                f"snapshot is not whole, take another with `{command_line('snapshot')}`"
            )


def require_engine() -> None:
    """Refuse to begin what could not be ended.

    Raises:
        CannotDoError: DuckDB is not installed.
    """
    try:
        import duckdb  # noqa: F401, PLC0415 - an extra, which takes its time
    except ImportError as error:
        raise CannotDoError(
            "this command needs DuckDB; in a clone of bucketsum, `make setup` installs it, else "
            "`pipx inject bucketsum duckdb`, or pip in the environment of this command"
        ) from error


def _connect(file: Path | None, *, read_only: bool = False) -> DuckDBPyConnection:
    """Open the database *file*; None is one in memory, which spills into the temporary folder."""
    import duckdb  # noqa: PLC0415 - as `require_engine`

    config: dict[str, Any] = {
        "memory_limit": _MEMORY,
        "preserve_insertion_order": False,
        "temp_directory": str(
            (file.parent if file else Path(gettempdir())) / f".spill-{os.getpid()}"
        ),
        "python_enable_replacements": False,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
    }
    with _explained():
        return duckdb.connect(str(file or ":memory:"), read_only=read_only, config=config)


@contextmanager
def _explained() -> Iterator[None]:
    """Explain an error of DuckDB."""
    import duckdb  # noqa: PLC0415 - as `_connect`

    try:
        yield
    except duckdb.Error as error:
        raise CannotDoError(f"DuckDB: {error}") from error

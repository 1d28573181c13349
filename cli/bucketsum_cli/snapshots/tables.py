"""Tables of a snapshot, made once from its files, in a file of DuckDB beside these."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import Any, Final

from bucketsum_cli.snapshots.database import Database, DuckDb, explained, own_folder, require_engine
from bucketsum_cli.snapshots.folder import LISTING, MEASUREMENTS, ROWS, Snapshot, require_whole
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import notes

VIEWS: Final = (
    "objects", "versions", "members", "deletions", "current_objects", "contents", "listing",
    "samples", "cells",
)  # fmt: skip
"""What questions are asked of."""

_FORM: Final = 5
"""Of the tables; a change of them changes it."""
_CATALOG: Final = """
SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT table_name, sql FROM duckdb_tables() WHERE NOT temporary
UNION ALL SELECT function_name, macro_definition FROM duckdb_functions()
WHERE NOT internal AND database_name <> 'temp' ORDER BY ALL"""


def open_snapshot(snapshot: Snapshot) -> Database:
    """The database of *snapshot*, which it never changes.

    Raises:
        CannotDoError: As `tables_of`.
    """
    return Database(DuckDb(tables_of(snapshot), read_only=True))


def open_snapshots(named: Mapping[str, Snapshot]) -> Database:
    """A database in which each name is that of a snapshot: its views are ``name.objects``.

    Without a name, the views are those of the first.
    """
    local = DuckDb()
    for name, snapshot in named.items():
        file = str(tables_of(snapshot)).replace("'", "''")
        local.execute(f"ATTACH '{file}' AS \"{name}\" (READ_ONLY)")
    local.execute(f'USE "{next(iter(named))}"')
    return Database(local)


def tables_of(snapshot: Snapshot) -> Path:
    """The file with the tables of *snapshot*, which are made the first time.

    In a folder that cannot be written, they are made in a temporary folder, for this process.

    Raises:
        CannotDoError: DuckDB is not installed; a file is damaged or foreign; the disk is full.
    """
    require_engine()
    import duckdb  # noqa: PLC0415 - as `require_engine`

    version = ".".join(duckdb.__version__.split(".")[:2])  # older ones cannot read its file
    file = snapshot.folder / f"tables-{_FORM}-{version}.duckdb"
    _require_no_companions(file)
    if file.exists() and _is_ours(file):
        return file
    if not os.access(snapshot.folder, os.W_OK):
        file = Path(mkdtemp(dir=own_folder()), file.name)
    with notes().status(f"reading {snapshot.rows:,} rows ..."):
        _make_tables(snapshot, file)
    return file


def _require_no_companions(file: Path) -> None:
    """Refuse what DuckDB would read with *file*: complete, it has no log; a link may lead away."""
    foreign = [*file.parent.glob(f"{file.name}?*")]
    foreign += [file] if file.is_symlink() or (file.exists() and not file.is_file()) else []
    for path in foreign:
        raise CannotDoError(f"{path} is not a file of a snapshot; find out who put it there")


def _is_ours(file: Path) -> bool:
    """Whether the views are those of this program: one of a stranger could read other files."""
    with closing(DuckDb(file, read_only=True)) as theirs:
        return _catalog_of(theirs) == _own_catalog()


@cache
def _own_catalog() -> list[tuple[Any, ...]]:
    with closing(DuckDb()) as ours:
        _create(ours)
        return _catalog_of(ours)


def _catalog_of(tables: DuckDb) -> list[tuple[Any, ...]]:
    with explained():
        return tables.connection.execute(_CATALOG).fetchall()


def _make_tables(snapshot: Snapshot, file: Path) -> None:
    require_whole(snapshot)
    partial = file.with_name(f".{token_hex(8)}-{file.name}")
    try:
        with closing(DuckDb(partial)) as tables:
            _create(tables, snapshot)
            _require_counts(tables, snapshot)
            tables.execute("CHECKPOINT")
        partial.rename(file)
    finally:
        for path in file.parent.glob(f"{partial.name}*"):
            path.unlink(missing_ok=True)


def _create(tables: DuckDb, snapshot: Snapshot | None = None) -> None:
    """Make the tables of *snapshot*, and the views; without it, they are empty."""
    tables.execute(query_text("tables"))
    for keys in snapshot.listed if snapshot else ():
        values = {"bucket": keys.bucket, "prefix": keys.prefix}
        tables.execute("INSERT INTO listed VALUES ($bucket, $prefix)", values)
    for query, kind in (("load", ROWS), ("load_listing", LISTING),
                        ("load_measurements", MEASUREMENTS)):  # fmt: skip
        files = snapshot.of_kind(kind) if snapshot else ()
        _load(tables, query, [str(snapshot.folder / file.name) for file in files if snapshot])
    tables.execute(query_text("join"))
    tables.execute(query_text("views"))


def _load(tables: DuckDb, query: str, paths: Sequence[str]) -> None:
    """Run the statements of a *query*; those that read files read *paths*.

    The items are stored only as versions, members and deletions.
    """
    text = query_text(query).replace("CREATE TABLE items", "CREATE TEMP TABLE items")
    for statement in tables.connection.extract_statements(text):
        if not statement.named_parameters:
            tables.execute(statement.query)
        elif paths or query == "load":
            tables.execute(statement.query, {"files": [*paths] or [os.devnull]})


def _require_counts(tables: DuckDb, snapshot: Snapshot) -> None:
    """Refuse a file that has not as many rows as its list says."""
    rows = dict(iter(tables.run("SELECT file, count(*) FROM items GROUP BY file")))
    for file in snapshot.of_kind(ROWS):
        if (got := rows.get(file.name.rpartition("/")[2], 0)) != file.rows:
            raise CannotDoError(
                f"{snapshot.folder / file.name} has {got:,} rows, its list says {file.rows:,}; the "
                f"snapshot is not whole, take another with `{command_line('snapshot')}`"
            )

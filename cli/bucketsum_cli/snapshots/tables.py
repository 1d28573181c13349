"""Tables of a snapshot, made once from its files, in a file of DuckDB beside these."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import Any, Final

from bucketsum_cli.machine.hardware import memory_mb
from bucketsum_cli.snapshots.database import Database, DuckDb, explained, own_folder
from bucketsum_cli.snapshots.folder import LISTING, MEASUREMENTS, ROWS, Snapshot, require_whole
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import spinner

VIEWS: Final = (
    "objects", "versions", "members", "deletions", "current_objects", "contents", "listing",
    "samples", "cells",
)  # fmt: skip
"""What questions are asked of."""

_FORM: Final = 8
"""Of the tables; a change of them changes it."""
_TABLES: Final = ("deletions", "listed", "listing", "measurements", "members", "versions")
_MEMORY_MB_MAX: Final = 2000
"""The join of a million rows with their listing spills with half of it: that takes its time."""
_NAME: Final = "snapshot"
_OWN: Final = "own-views"
_NEW: Final = "new-tables"
"""Not names that a person can give a snapshot."""
_TABLES_OF: Final = """
SELECT table_name FROM duckdb_tables()
WHERE database_name = $name AND schema_name = 'main' ORDER BY ALL"""
_CATALOG: Final = """
SELECT database_name, schema_name, table_name, sql FROM duckdb_tables()
UNION ALL SELECT database_name, schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT database_name, schema_name, function_name, macro_definition
FROM duckdb_functions() WHERE NOT internal ORDER BY ALL"""


def open_snapshot(snapshot: Snapshot) -> Database:
    """The database of *snapshot*, which it never changes.

    Raises:
        CannotDoError: As `attach`.
    """
    return open_snapshots({_NAME: snapshot})


def open_snapshots(named: Mapping[str, Snapshot]) -> Database:
    """A database in which each name is that of a snapshot: its views are ``name.objects``.

    Without a name, the views are those of the first.
    """
    local = DuckDb()
    for name, snapshot in named.items():
        attach(local, name, snapshot)
    local.execute(f'USE "{next(iter(named))}"')
    return Database(local)


def attach(local: DuckDb, name: str, snapshot: Snapshot) -> None:
    """Let *local* ask the views of *snapshot* as ``name.objects``; its tables are made once.

    In a folder that cannot be written, they are made in a temporary folder, for this process.

    Raises:
        CannotDoError: A file is damaged or foreign; the disk is full.
    """
    import duckdb  # noqa: PLC0415 - as `require_engine`

    version = ".".join(duckdb.__version__.split(".")[:2])  # older ones cannot read its file
    file = snapshot.folder / f"tables-{_FORM}-{version}.duckdb"
    _require_no_companions(file)
    if file.exists():
        _attach(local, name, file)
        if _is_ours(local, name):
            return
        local.execute(f'DETACH "{name}"')
    if not os.access(snapshot.folder, os.W_OK):
        file = Path(mkdtemp(dir=own_folder()), file.name)
    with spinner(f"reading {count_text(snapshot.rows, 'row')} ..."):
        _make_tables(local, snapshot, file)
    _attach(local, name, file)


def _attach(local: DuckDb, name: str, file: Path, access: str = "READ_ONLY") -> None:
    path = str(file).replace("'", "''")
    local.execute(f"ATTACH '{path}' AS \"{name}\" ({access})")


def _require_no_companions(file: Path) -> None:
    """Refuse what DuckDB would read with *file*: complete, it has no log; a link may lead away."""
    foreign = [*file.parent.glob(f"{file.name}?*")]
    foreign += [file] if file.is_symlink() or (file.exists() and not file.is_file()) else []
    for path in foreign:
        raise CannotDoError(f"{path} is not a file of a snapshot; find out who put it there")


def _is_ours(local: DuckDb, name: str) -> bool:
    """Whether the views of *name* are those of this program: a stranger's could read other files.

    They are made again, over empty tables with the columns of those in the file.
    """
    ask = local.connection.execute
    with explained():
        if [table for (table,) in ask(_TABLES_OF, {"name": name}).fetchall()] != [*_TABLES]:
            return False
        copies = (f'CREATE TABLE {of} AS FROM "{name}".main.{of} LIMIT 0' for of in _TABLES)
        ask(f'ATTACH \':memory:\' AS "{_OWN}"; USE "{_OWN}"; {"; ".join(copies)}')
        with suppress(CannotDoError), explained():  # a table without a column of a view
            ask(query_text("views"))
        catalogs: dict[str, list[tuple[Any, ...]]] = {_OWN: [], name: []}
        for database, *entry in ask(_CATALOG).fetchall():
            catalogs.setdefault(database, []).append((*entry,))
        ask(f'USE memory; DETACH "{_OWN}"')
    return catalogs[name] == catalogs[_OWN]


def _make_tables(local: DuckDb, snapshot: Snapshot, file: Path) -> None:
    require_whole(snapshot)
    partial = file.with_name(f".{token_hex(8)}-{file.name}")
    try:
        _attach(local, _NEW, partial, "READ_WRITE")
        local.execute(f'USE "{_NEW}"')
        local.allow_memory(memory_mb() // 4, _MEMORY_MB_MAX)
        _create(local, snapshot)
        _require_counts(local, snapshot)
        local.execute(f'DROP TABLE items; CHECKPOINT "{_NEW}"; USE memory; DETACH "{_NEW}"')
        local.allow_memory(0, _MEMORY_MB_MAX)
        partial.rename(file)
    finally:
        with suppress(CannotDoError):  # on a full disk it fails too: the first error is shown
            local.execute(f'USE memory; DETACH DATABASE IF EXISTS "{_NEW}"')
        for path in file.parent.glob(f"{partial.name}*"):
            path.unlink(missing_ok=True)


def _create(tables: DuckDb, snapshot: Snapshot) -> None:
    """Make the tables of *snapshot*, and the views."""
    tables.execute(query_text("tables"))
    for keys in snapshot.listed:
        tables.execute(
            "INSERT INTO listed VALUES ($bucket, $prefix, CAST(nullif($until, '') AS TIMESTAMP))",
            {"bucket": keys.bucket, "prefix": keys.prefix, "until": keys.until},
        )
    for query, kind in (("load", ROWS), ("load_listing", LISTING),
                        ("load_measurements", MEASUREMENTS)):  # fmt: skip
        files = [str(snapshot.folder / file.name) for file in snapshot.of_kind(kind)]
        _load(tables, query, files)
    tables.execute(query_text("join"))
    tables.execute(query_text("views"))


def _load(tables: DuckDb, query: str, paths: Sequence[str]) -> None:
    """Run the statements of a *query*; those that read files read *paths*.

    The items are stored only as versions, members and deletions.
    """
    text = query_text(query).replace("CREATE TABLE items", "CREATE TEMP TABLE items")
    for statement in tables.connection.extract_statements(text):
        if not statement.named_parameters:
            tables.execute(statement)
        elif paths or query == "load":
            tables.execute(statement, {"files": [*paths] or [os.devnull]})


def _require_counts(tables: DuckDb, snapshot: Snapshot) -> None:
    """Refuse a file that has not as many rows as its list says."""
    rows = dict(iter(tables.run("SELECT file, count(*) FROM items GROUP BY file")))
    for file in snapshot.of_kind(ROWS):
        if (got := rows.get(file.name.rpartition("/")[2], 0)) != file.rows:
            raise CannotDoError(
                f"{snapshot.folder / file.name} has {count_text(got, 'row')}, its list says "
                f"{file.rows:,}; the snapshot is not whole, take another with "
                f"`{command_line('snapshot')}`"
            )

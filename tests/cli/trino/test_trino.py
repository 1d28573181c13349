"""Every question has DuckDB's answer on the engine that Athena is; `make trino` runs this.

That of plain Python is compared by tests/cli/snapshots/test_queries.py, which asks Trino there.
"""

from pathlib import Path
from typing import Final

import pytest
from tests.cli.snapshots.hostile_rows import hostile
from tests.cli.snapshots.questions import OF_ROWS, UNORDERED, put_tables, rounded
from tests.cli.trino.inventory_files import put_inventory, rows_of
from tests.cli.trino.trino_engine import TrinoEngine, open_in_trino
from tests.cli.trino.trino_server import Trino

from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.folder import LIVE, Listed, Snapshot
from bucketsum_cli.snapshots.sides_database import LISTED, SidesDatabase
from bucketsum_cli.snapshots.tables import VIEWS, open_snapshots

KEYS: Final = (Listed("photos", ""), Listed("films", "a"))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Hostile rows; of one bucket, a prefix is listed."""
    return hostile(3000).write(tmp_path_factory.mktemp("snapshots") / "s", KEYS)


@pytest.fixture(scope="module")
def engines(trino: Trino, snapshot: Snapshot) -> tuple[Database, Database]:
    """DuckDB and Trino over the rows, with the tables of all questions."""
    here = open_snapshots({"here": snapshot})
    there = open_in_trino(trino, snapshot)
    answer = here.engine.run("SELECT DISTINCT sha1 FROM objects ORDER BY sha1")
    digests = [sha1 for (sha1,) in answer]
    for database in (here, there):
        put_tables(database, digests)
    return here, there


@pytest.mark.parametrize("query", OF_ROWS)
def test_a_question_has_one_answer(engines: tuple[Database, Database], query: str) -> None:
    """The same file of SQL has the same rows, of the same types, in the same order."""
    here, there = (database.ask(query, **OF_ROWS[query]) for database in engines)
    assert there.columns == here.columns
    order = repr if query in UNORDERED else lambda _: 0
    rows = sorted(rounded(here), key=order)
    assert sorted(rounded(there), key=order) == rows
    assert len(rows) > 1


@pytest.mark.parametrize("table", [name for name in VIEWS if name not in ("samples", "cells")])
def test_a_table_has_the_same_rows(engines: tuple[Database, Database], table: str) -> None:
    """Every column of every row is equal, damaged ones and times too."""
    here, there = engines
    columns = [str(column) for column, *_ in here.engine.run(f"DESCRIBE {table}")]
    query = f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 - names of ours
    rows = sorted(rounded(here.engine.run(query)), key=repr)
    assert sorted(rounded(there.engine.run(query)), key=repr) == rows
    assert len(rows) > 100


def sides_of(trino: Trino) -> tuple[SidesDatabase, SidesDatabase]:
    """Comparisons by DuckDB and by Trino."""
    return SidesDatabase(), SidesDatabase(TrinoEngine(trino))


def assert_one_answer(
    sides: tuple[SidesDatabase, SidesDatabase], query: str, **question: str | int | bool
) -> None:
    """Both have the same rows, in the same order."""
    here, there = ([*database.ask(query, **question)] for database in sides)
    assert there == here
    assert len({row[0] for row in here}) > 1


def test_two_snapshots_are_compared(trino: Trino, snapshot: Snapshot, tmp_path: Path) -> None:
    """Each side is a table of its own snapshot: equal, moved, different and absent names."""
    other = hostile(2000, seed=2).write(tmp_path / "other", KEYS)
    both = sides_of(trino)
    for sides in both:
        for table, rows in (("left_side", snapshot), ("right_side", other)):
            keys = {"bucket": "photos", "prefix": "", "pattern": ""}
            sides.put_objects(table, rows, "side", keys)
    assert_one_answer(both, "compare", rows=100)


def test_two_snapshots_have_changes(trino: Trino, snapshot: Snapshot, tmp_path: Path) -> None:
    """They name what was added, overwritten, lost and verified."""
    other = hostile(2000, seed=2).write(tmp_path / "other", KEYS)
    both = sides_of(trino)
    for sides in both:
        for table, rows in (("left_side", other), ("right_side", snapshot)):
            keys = {"bucket": "", "prefix": "", "until": ""}
            sides.put_objects(table, rows, "changes_side", keys)
        listed = [{"bucket": keys.bucket, "prefix": keys.prefix} for keys in KEYS]
        sides.local.put_table("left_listed", "bucket VARCHAR, prefix VARCHAR", listed)
    assert_one_answer(both, "changes", since="2026-11-10 00:00:00", rows=10)


def test_a_list_is_compared(trino: Trino, snapshot: Snapshot) -> None:
    """Lines that repeat or contradict, versions, members, folders, and objects left out."""
    here = open_snapshots({"here": snapshot}).engine
    lines = [
        {"name": f"{name}{mark}", "size_bytes": size, "status": "hashed", "sha1": sha1,
         "bucket": "photos", "version": version}
        for name, size, sha1, version, member in here.run(
            "SELECT o.key, o.size_bytes, o.sha1, o.version, m.member FROM objects o "
            "LEFT JOIN members m ON m.key = o.key WHERE o.bucket = 'photos' AND o.size_bytes > 0"
        )
        for mark in ("", "/", *([f"!/{member}"] if member else ()))
    ]  # fmt: skip
    lines += [line | {"sha1": "0" * 40} for line in lines[::7]]
    both = sides_of(trino)
    for sides in both:
        sides.put_list(lines)
        keys = {"bucket": "photos", "prefix": "", "pattern": "", "scope": "payload"}
        sides.put_objects("right_side", snapshot, LISTED, keys)
        assert sides.put_listed("left_side") > 0
    assert_one_answer(both, "compare", rows=1000)


@pytest.mark.parametrize("file_format", ["CSV", "ORC", "Parquet", LIVE])
def test_an_inventory_is_a_listing(trino: Trino, tmp_path: Path, file_format: str) -> None:
    """Its files are found by links, whatever their format; a live table is as it was at a time."""
    sample, keys = hostile(2000), Listed("photos", "a")
    here = open_snapshots({"here": sample.write(tmp_path / "s", [keys])}).engine
    query = put_inventory(trino, rows_of(sample.listing, "photos"), keys, file_format)
    rows = sorted(here.run("SELECT * FROM listing"), key=repr)
    assert sorted(TrinoEngine(trino).select(query), key=repr) == rows
    assert len(rows) > 100


def test_an_export_is_written(engines: tuple[Database, Database]) -> None:
    """The rows of a file in Parquet are those that DuckDB writes."""
    here, there = engines
    question = OF_ROWS["export"]
    assert isinstance(there.engine, TrinoEngine)
    there.engine.unload("export", S3Place("lists", "written"), question)
    rows = sorted(rounded(here.ask("export", **question)), key=repr)
    assert sorted(rounded(there.engine.own_rows("written")), key=repr) == rows

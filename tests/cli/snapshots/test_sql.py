"""A query answers from the views, and reaches nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from tests.cli.deployed import BUCKET, put_and_record, put_object, unreadable
from tests.cli.snapshots.hostile_rows import hostile

from bucketsum_cli.snapshots.engine import VIEWS, open_snapshot
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.snapshots.engine import Database

ATTACKS = (
    "SELECT * FROM read_csv('{file}')", "SELECT * FROM '{file}'", "FROM read_text('{file}')",
    "FROM read_blob('/etc/passwd')", "FROM glob('/*')", "FROM sniff_csv('{file}')",
    "FROM query('FROM read_csv(''{file}'')')", "FROM parquet_metadata('{file}')",
    "FROM read_json('{folder}/snapshot.json')", "FROM read_parquet('s3://bucket/key')",
    "COPY (SELECT 1) TO '{folder}/out.csv'", "COPY objects TO '{folder}/.spill/x'",
    "EXPORT DATABASE '{folder}/out'", "IMPORT DATABASE '{folder}'", "ATTACH '{folder}/new.duckdb'",
    "ATTACH ':memory:'", "INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true",
    "RESET lock_configuration", "SET temp_directory = '{folder}'", "PRAGMA enable_profiling",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}')",
    "FROM enable_logging()", "SELECT getenv('HOME')", "CREATE SECRET s (TYPE s3)",
    "FROM duckdb_secrets()", "FROM which_secret('s3://b', 's3')", "SELECT * FROM local_variable",
    "CREATE TABLE t AS SELECT 1", "CREATE TEMP TABLE t AS SELECT 1", "DROP VIEW objects",
    "DELETE FROM items", "INSERT INTO listed VALUES ('a', 'b')", "UPDATE items SET key = 'x'",
    "CHECKPOINT", "VACUUM", "SELECT 1; SELECT 2", "EXPLAIN ANALYZE COPY objects TO '{folder}/x'",
    "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1", "SELECT \udcff",
    "", "-- nothing",
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_query_reaches_nothing_but_its_views(attack: str, locked: Path) -> None:
    """Files, the network, extensions, settings, variables of Python, changes: all are refused."""
    local_variable = [1]
    database = _databases[locked]
    before = sorted(locked.rglob("*"))
    text = attack.replace("{file}", str(locked / "x.csv")).replace("{folder}", str(locked))
    with pytest.raises(CannotDoError):
        list(database.select(text))
    assert sorted(locked.rglob("*")) == before
    assert local_variable
    assert next(iter(database.select("SELECT count(*) > 0 FROM objects"))) == (True,)


_databases: dict[Path, Database] = {}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a snapshot that is asked by strangers."""
    folder = tmp_path_factory.mktemp("sql") / "s"
    database = open_snapshot(hostile(50).write(folder, ()))
    (folder / "x.csv").write_text("a\n1\n")
    database.lock()
    _databases[folder] = database
    return folder


@pytest.fixture
def run_sql(run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, with one hashed and one unreadable object."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))
    put_and_record(stack, "=cmd()\x9b", b"x")
    stack.digests_table().record(unreadable(put_object(stack, "z", b"z"), b"z", "denied"))
    return run


def test_a_query_has_a_table_json_and_csv(run_sql: Run) -> None:
    """The same answer in three forms; a hostile key is inert on a terminal, exact for programs."""
    query = "SELECT key, status, created_at, size_bytes FROM objects ORDER BY key"
    ended = run_sql("sql", query)
    assert ended.status == 0
    assert "\\x9b" in ended.out
    rows = run_sql("sql", query, "--json", "--snapshot", "last").document
    assert rows[0] == {
        "key": "=cmd()\x9b", "status": "hashed", "created_at": "2026-11-20T10:00:00.000Z",
        "size_bytes": 1,
    }  # fmt: skip
    text = run_sql("sql", query, "--csv", "--snapshot", "last").out
    assert text.splitlines()[0] == "key,status,created_at,size_bytes"
    run_sql("sql", "SELECT", "--snapshot", "last").assert_refused("DuckDB: ")
    odd = "SELECT TIMESTAMP '10000-01-01' a, TIME '10:00' b, 'nan'::DOUBLE c, true d"
    [row] = run_sql("sql", odd, "--json", "--snapshot", "last").document
    assert [*row.values()][1:] == ["10:00:00", "nan", True]
    assert "no rows" in run_sql("sql", "SELECT 1 WHERE false", "--snapshot", "last").err


def test_columns_that_fit_no_terminal_are_lines(
    run_sql: Run, terminal: Callable[[int], None]
) -> None:
    """Each value has one, with its name; what fits stays a table."""
    terminal(80)
    query = "SELECT * FROM objects ORDER BY key"
    lines = [*map(click.unstyle, run_sql("sql", query).out.splitlines())]
    assert lines[:3] == ["row 1", "bucket              inbox", "key                 =cmd()\\x9b"]
    assert "status              hashed" in lines
    assert "row 2" in lines
    narrow = run_sql("sql", "SELECT key, status FROM objects ORDER BY key", "--snapshot", "last")
    assert click.unstyle(narrow.out).splitlines()[0].split() == ["key", "status"]


def test_without_a_query_it_asks_for_them(run_sql: Run) -> None:
    """A wrong query does not end the others."""
    typed = "SELECT count(*)\nFROM objects;\nnonsense;\nSELECT 'last'"
    ended = run_sql("sql", answer=typed)
    assert ended.status == 0
    assert "2" in ended.out
    assert "last" in ended.out
    assert "syntax error" in ended.err
    assert "\nLINE 1: nonsense" in ended.err


def test_every_view_can_be_asked(run_sql: Run) -> None:
    """Also those of which this stack has nothing."""
    for view in VIEWS:
        name = "last" if view != VIEWS[0] else None
        rest = ("--snapshot", name) if name else ()
        assert run_sql("sql", f"FROM {view} LIMIT 0", "--json", *rest).status == 0


def test_coverage_names_what_has_no_digest(run_sql: Run, stack: Stack) -> None:
    """A version without a row, and one that could not be read, are named with the reason."""
    put_object(stack, "new/never", b"never")
    ended = run_sql("coverage", BUCKET, "--json")
    assert ended.status == 1
    parts = {(p["folder"], p["state"]): p for p in ended.document["parts"]}
    assert parts["new/", "not recorded"]["objects"] == 1
    assert parts["", "unreadable"]["reason"] == "denied"
    shown = run_sql("coverage", "--snapshot", "last")
    assert "1 unreadable" in shown.out
    assert "`bucketsum redrive --key KEY --bucket BUCKET`" in " ".join(shown.err.split())
    hint = " ".join(shown.err.split())
    assert (
        "`bucketsum ls --bucket BUCKET` says which wait, need a backfill or are not covered" in hint
    )
    assert "`bucketsum backfill BUCKET` hashes all" in hint
    assert run_sql("coverage", "--prefix", "=cmd", "--snapshot", "last").status == 0

"""A query answers from the views, and reaches nothing else."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import duckdb
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.cli.conftest import Ended, Run
from tests.cli.deployed import BUCKET, Stdin, hashed, put_and_record, put_object, unreadable
from tests.cli.snapshots.hostile_rows import Hostile, hostile, listed_snapshot

from bucketsum.table.items import item_of
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots.database import Answer, Database, DuckDb
from bucketsum_cli.snapshots.own_tables import put_own_table
from bucketsum_cli.snapshots.tables import VIEWS, open_snapshot
from bucketsum_cli.snapshots.values import csv_line, json_value, unique_names
from bucketsum_cli.terminal.errors import CannotDoError

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
    "", "-- nothing", "FROM read_text('{file}.wal')",
    "COPY (PIVOT objects ON status) TO '{folder}/x'", "CREATE TEMP TABLE t AS PIVOT objects ON key",
    "EXPLAIN ANALYZE SELECT * FROM read_text('{file}')",
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_query_reaches_nothing_but_its_views(attack: str, locked: Path) -> None:
    """Files, the network, extensions, settings, variables of Python, changes: all are refused."""
    local_variable = [1]
    database = _databases[locked]
    before = sorted(locked.rglob("*"))
    text = attack.replace("{file}", str(locked / "x.csv")).replace("{folder}", str(locked))
    with pytest.raises(CannotDoError):
        list(database.engine.select(text))
    assert sorted(locked.rglob("*")) == before
    assert local_variable
    assert next(iter(database.engine.select("SELECT count(*) > 0 FROM objects"))) == (True,)


_databases: dict[Path, Database] = {}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a snapshot that is asked by strangers."""
    folder = tmp_path_factory.mktemp("sql") / "s"
    database = open_snapshot(hostile(50).write(folder, ()))
    (folder / "x.csv").write_text("a\n1\n")
    database.engine.lock()
    _databases[folder] = database
    return folder


ROWS: Final = [
    hashed(RowKey(BUCKET, "=cmd()\x9b", "v1"), b"x"),
    unreadable(RowKey(BUCKET, "z", "v1"), b"z", "denied"),
]
LATER: Final = hashed(RowKey(BUCKET, "later", "v1"), b"later")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of one hashed and one unreadable object, without a listing."""
    return Hostile([*map(item_of, ROWS)]).write(tmp_path_factory.mktemp("rows") / "s", ()).folder


@pytest.fixture
def run_sql(run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command `sql`, which asks the snapshot of `ROWS`."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))

    def ask(*arguments: object, answer: str | bytes = "") -> Ended:
        return run("sql", *arguments, "--snapshot", folder, answer=answer)

    return ask


@pytest.fixture
def planted(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A stack with one hashed and one unreadable object."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path))
    put_and_record(stack, "=cmd()\x9b", b"x")
    stack.digests_table().record(unreadable(put_object(stack, "z", b"z"), b"z", "denied"))
    return stack


@pytest.mark.usefixtures("planted")
def test_a_query_has_a_table_json_and_csv(run: Run) -> None:
    """The same answer in three forms; a hostile key is inert on a terminal, exact for programs."""
    query = "SELECT key, status, created_at, size_bytes FROM objects ORDER BY key"
    ended = run("sql", query).assert_done()
    assert "\\x9b" in ended.out
    rows = run("sql", query, "--json", "--snapshot", "last").document
    assert rows[0] == {
        "key": "=cmd()\x9b", "status": "hashed", "created_at": "2026-11-20T10:00:00.000Z",
        "size_bytes": 1,
    }  # fmt: skip
    text = run("sql", query, "--csv", "--snapshot", "last").out
    assert text.splitlines()[0] == "key,status,created_at,size_bytes"
    run("sql", "SELECT", "--snapshot", "last").assert_refused("DuckDB: ")
    odd = "SELECT TIMESTAMP '10000-01-01' a, 1 n, 2 n"
    [row] = run("sql", odd, "--json", "--snapshot", "last").document
    assert row == {"a": "10000-01-01 00:00:00", "n": 1, "n_2": 2}
    assert "no rows" in run("sql", "SELECT 1 WHERE false", "--snapshot", "last").err


def test_columns_that_fit_no_terminal_are_lines(
    run_sql: Run, terminal: Callable[[int], None]
) -> None:
    """Each value has one, with its name; what fits stays a table."""
    terminal(80)
    query = "SELECT * FROM objects ORDER BY key"
    lines = [*map(click.unstyle, run_sql(query).out.splitlines())]
    assert lines[:3] == ["row 1", "bucket              inbox", "key                 =cmd()\\x9b"]
    assert "status              hashed" in lines
    assert "row 2" in lines
    narrow = run_sql("SELECT key, status FROM objects ORDER BY key")
    assert click.unstyle(narrow.out).splitlines()[0].split() == ["key", "status"]


def test_queries_from_stdin_end_at_the_first_error(run_sql: Run) -> None:
    """Semicolons end them, wherever they stand in a line; comments and texts may have some."""
    typed = "SELECT ';' AS a; -- SELECT 5;\nSELECT count(*)\nFROM objects; nonsense;\nSELECT 'last'"
    ended = run_sql("--csv", answer=typed)
    assert (ended.status, ended.out) == (2, "a\n;\ncount_star()\n2\n")
    assert "\nLINE 1: nonsense" in ended.err
    assert run_sql("--csv", answer="SELECT 1; /* ; */").out == "1\n1\n"
    assert run_sql("--json", answer="SELECT bad;").status == 2


def test_at_the_prompt_an_error_or_ctrl_c_ends_a_query_alone(
    run_sql: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next one can be typed; names are completed, and queries are kept for the next session."""
    select = DuckDb.select

    def interrupted(self: DuckDb, sql: str) -> Answer:
        if "slow" in sql:
            raise KeyboardInterrupt
        return select(self, sql)

    monkeypatch.setattr(DuckDb, "select", interrupted)
    monkeypatch.setattr(Stdin, "is_terminal", True)
    typed = "help\nnonsense;\nSELECT 'slow'; SELECT\n7 -- ;\n;\nSELECT dropped\x03"
    typed += "SELECT count(*) n FROM current_o\t;\n\x04"
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(typed.replace("\n", "\r"))
        ended = run_sql("--csv", answer="")
    (history,) = tmp_path.rglob("sql-history")
    assert "\n+SELECT count(*) n FROM current_objects;\n" in history.read_text()
    assert "dropped" not in history.read_text()
    assert history.stat().st_mode & 0o77 == 0
    assert (ended.status, ended.out) == (0, "7\n7\nn\n2\n"), ended.err
    for text in ("Tab completes", "nonsense", "interrupted"):
        assert text in ended.err


def test_several_snapshots_are_asked_together(run: Run, folder: Path, tmp_path: Path) -> None:
    """A query compares an older one with a newer; each of several has a name."""
    old = shutil.copytree(folder, tmp_path / "it's old")
    new = Hostile([*map(item_of, (*ROWS, LATER))]).write(tmp_path / "new", ()).folder
    both = ("--snapshot", f"old={old}", "--snapshot", f"new={new}")
    query = "SELECT key FROM new.objects ANTI JOIN old.objects USING (bucket, key, etag)"
    assert run("sql", query, *both, "--csv").out == "key\nlater\n"
    assert run("sql", "SELECT count(*) n FROM objects", *both, "--csv").out == "n\n2\n"
    assert run("sql", "SHOW TABLES", *both[:2], "--csv").status == 0
    odd = "FROM bucketsum_own.objects SELECT count(*) n"  # the name of a database of ours once
    assert run("sql", odd, "--snapshot", f"bucketsum_own={new}", "--csv").out == "n\n3\n"
    for names, reason in (
        ((*both, "--snapshot", "last"), "need a name each"),
        ((*both[:2], "--snapshot", f"old={new}"), "need a name each"),
        ((*both[:2], "--snapshot", f"OLD={new}"), "need a name each"),
        (("--snapshot", f"System={new}"), "other than main, memory, system, temp"),
        ((*both, "--athena", "s3://b/f"), "one snapshot, without a name"),
    ):
        run("sql", "SELECT 1", *names).assert_refused(reason)
    [tables] = new.glob("tables-*.duckdb")  # as docs/how-to/ask-questions.md has it
    plain = duckdb.connect()
    plain.execute(f"ATTACH '{tables}' AS new (READ_ONLY)")
    assert plain.execute("SELECT count(*) FROM new.objects").fetchone() == (3,)


def test_own_lists_are_asked_beside_the_views(run_sql: Run, tmp_path: Path) -> None:
    """Texts of CSV stay as they are; a view is never hidden, and no other file is read."""
    for name, text in (("a.csv", "key,crc,n\nz,00012,7\n"), ("b.jsonl", '{"key": "z"}\n'),
                       ("x*.csv", "a\n1\n"), ("c.txt", "a\n")):  # fmt: skip
        (tmp_path / name).write_text(text)
    own = ("--with", f"a={tmp_path}/a.csv", "--with", f"b={tmp_path}/b.jsonl")
    query = "SELECT a.key, crc, n + 1 AS n FROM objects JOIN a USING (key) JOIN b USING (key)"
    assert run_sql(query, *own, "--json").document == [{"key": "z", "crc": "00012", "n": 8}]
    DuckDb().execute(f"COPY (SELECT 1 AS n) TO '{tmp_path}/p.parquet'")
    assert run_sql("FROM p", "--with", f"p={tmp_path}/p.parquet", "--csv").out == ("n\n1\n")
    for text, reason in (
        (f"Objects={tmp_path}/a.csv", "is a view or table already"), ("a", "is not NAME=FILE"),
        (f"listed={tmp_path}/a.csv", "is a view or table already"), ("a=no.csv", "no such file"),
        (f"a={tmp_path}/x*.csv", "has one of"), (f"c={tmp_path}/c.txt", "must end with"),
        ('a"=x.csv', "is not NAME=FILE"),
    ):  # fmt: skip
        run_sql("SELECT 1", "--with", text).assert_refused(reason)
    refused = run_sql(f"FROM '{tmp_path}/a.csv'", *own)
    refused.assert_refused("DuckDB: ")


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "key\n/a b|c\n/e;f\n", [{"key": "/a b|c"}, {"key": "/e;f"}]),
        ("a.csv", "key\na|b\nc|d\n", [{"key": "a|b"}, {"key": "c|d"}]),
        ("a.csv", "a,b\n1\n1,2,3\n", [{"a,b": "1"}, {"a,b": "1,2,3"}]),
        ("a.csv", "key,n\n#x,1\n#y,2\n", [{"key": "#x", "n": 1}, {"key": "#y", "n": 2}]),
        ("a.tsv", "key\tn\na,b\t1\n", [{"key": "a,b", "n": 1}]),
        ("a.csv", "key;n\na;1\n", [{"key": "a", "n": 1}]), ("a.csv", "", []),
        ("a.csv", "\n\nkey,n\na,1\n", [{"key": "a", "n": 1}]),
    ],
)  # fmt: skip
def test_no_line_of_a_list_is_lost(
    tmp_path: Path, name: str, content: str, rows: list[dict[str, object]]
) -> None:
    """A key may have what separates columns, or begins a comment, in other lists."""
    (tmp_path / name).write_text(content)
    local = DuckDb()
    put_own_table(local, f"own={tmp_path / name}")
    assert [*local.select("FROM own").records()] == rows


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_list_that_cannot_be_read_is_named(run_sql: Run, tmp_path: Path, name: str) -> None:
    """The error says what is wrong with the file, in no words of a statement of ours."""
    (tmp_path / name).write_bytes(b'{"key": "caf\xe9"}\n' * 3)
    ended = run_sql("FROM a", "--with", f"a={tmp_path / name}")
    ended.assert_refused(f"--with a={tmp_path / name}: ", "UTF-8")
    assert "CREATE" not in ended.err


def test_queries_that_are_not_utf_8_are_refused(run_sql: Run, tmp_path: Path) -> None:
    """In a file, and on stdin; what an editor writes before UTF-8 is left out."""
    (tmp_path / "q.sql").write_bytes(b"SELECT 'caf\xe9'")
    for rest, typed in ((("--file", tmp_path / "q.sql"), b""), ((), b"SELECT '\xff'")):
        run_sql(*rest, answer=typed).assert_refused("are not valid UTF-8")
    (tmp_path / "q.sql").write_bytes(b"\xef\xbb\xbfSELECT 1 AS a")
    assert run_sql("--file", tmp_path / "q.sql", "--csv").out == "a\n1\n"


def test_answers_are_written_whole(run_sql: Run, tmp_path: Path) -> None:
    """A query that fails leaves the file as it was; queries come from a file too."""
    file, lines = tmp_path / "o.csv", tmp_path / "o.jsonl"
    assert run_sql("SELECT 1 a, NULL b", "-o", file).status == 0
    assert file.read_text() == "a,b\n1,\n"
    run_sql("SELECT 1 a, 2 a", "-o", lines)
    assert lines.read_text() == '{"a": 1, "a_2": 2}\n'
    parquet = tmp_path / "o.parquet"
    query = "PIVOT objects ON status USING count(*) GROUP BY bucket; -- all"
    assert run_sql(query, "-o", parquet, "--timeout", 9).status == 0
    assert duckdb.read_parquet(str(parquet)).fetchall() == [(BUCKET, 1, 1)]
    for text in ("SELECT bad", "COPY objects TO 'x'", f"FROM '{parquet}'"):
        run_sql(text, "-o", parquet).assert_refused("")
    run_sql("SELECT bad", "-o", file).assert_refused("DuckDB: ")
    assert file.read_text() == "a,b\n1,\n"
    run_sql("SELECT 1", "-o", tmp_path / "o.txt").assert_refused("must end with")
    (tmp_path / "q.sql").write_text("-- two\nSELECT 1 AS a; SELECT 2 AS b")
    ended = run_sql("--file", tmp_path / "q.sql", "--csv")
    assert ended.out == "a\n1\nb\n2\n", ended.err


def test_a_query_ends_at_its_timeout(run_sql: Run) -> None:
    """Its error says so, and others are theirs."""
    query = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t"
    run_sql(query, "--timeout", 1).assert_refused("took longer than 1 s")
    run_sql("SELECT bad", "--timeout", 9).assert_refused("DuckDB: ")


def printed(code: str, **environment: str) -> bytes:
    """The output of a program, in a process of its own."""
    code = f"from bucketsum_cli.snapshots.database import DuckDb\n{code}"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=os.environ | environment, stdout=subprocess.PIPE, check=True
    ).stdout


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
        "SELECT a FROM range(1000000000000) t(a) WHERE a < 0",
    ],
)
def test_ctrl_c_ends_a_query(query: str) -> None:
    """It ends at once, also where DuckDB does not look for signals; the next one is answered."""
    code = f"""
import os, signal, threading
database = DuckDb()
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    list(database.select("{query}"))
except KeyboardInterrupt:
    print("interrupted", *database.select("SELECT 7"))
"""
    assert printed(code) == b"interrupted (7,)\n"


@pytest.mark.parametrize(
    ("value", "plain", "csv"),
    [
        ("['a', 'b''c']", ["a", "b'c"], '"[""a"", ""b\'c""]"'),
        ("{'x': 1, 't': TIMESTAMP '2026-01-01'}", {"x": 1, "t": "2026-01-01T00:00:00.000Z"}, None),
        ("MAP {1: [true, NULL]}", {"1": [True, None]}, '"{""1"": [true, null]}"'),
        ("'a\\x00b'::BLOB", "a\\x00b", "a\\x00b"),
        ("INTERVAL '1 month 1 hour'", "1 month 01:00:00", "1 month 01:00:00"),
        ("{'date': [TIMESTAMP_NS '2026-01-01 00:00:00.123456789']}",
         {"date": ["2026-01-01 00:00:00.123456789"]}, None),
        ("DATE 'infinity'", "infinity", "infinity"),
        ("1.50::DECIMAL(9, 2)", 1.5, "1.50"),
        ("0.12345678901234567890::DECIMAL(38, 20)", "0.12345678901234567890", None),
        ("true", True, "true"),
        ("NULL", None, ""),
        ("''", "", '""'),
        ("'Icon' || chr(13)", "Icon\r", '"Icon\r"'),
        ("TIMESTAMP_MS '2026-01-01 00:00:00'", "2026-01-01T00:00:00.000Z", None),
        ("TIMESTAMP '2026-01-01 00:00:00.123456'", "2026-01-01T00:00:00.123456Z", None),
        ("'nan'::DOUBLE", "nan", "nan"),
        ("TIME '10:00'", "10:00:00", "10:00:00"),
    ],
)  # fmt: skip
def test_values_of_all_types_are_whole(value: str, plain: object, csv: str | None) -> None:
    """In JSON they are JSON, in CSV a program can tell null from an empty text."""
    answer = DuckDb().select(f"SELECT {value} AS v, 1 AS v")
    [row] = [row[:1] for row in answer]
    assert answer.columns == ["v", "v"]
    assert json_value(row[0]) == plain
    assert csv is None or csv_line(row) == f"{csv}\n"


def test_columns_of_one_name_are_all_there() -> None:
    """The second is `n_2`, unless there is one."""
    assert unique_names(["n", "n", "n_2", "x", "n"]) == ["n", "n_3", "n_2", "x", "n_4"]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_times_are_in_utc_wherever_the_machine_is(zone: str) -> None:
    """A time without a zone is compared with now() in UTC."""
    code = (
        "print(*DuckDb().run(\"SELECT TIMESTAMPTZ '2026-01-01 12:00:00+00' = "
        "TIMESTAMP '2026-01-01 12:00:00', current_setting('TimeZone')\"))"
    )
    assert printed(code, TZ=zone) == b"(True, 'UTC')\n"


@pytest.mark.parametrize(
    "query",
    [
        "-- what is there\nSELECT 1", "--no blank\nSELECT 1", "/* ; */ SELECT 1 -- end",
        "PIVOT objects ON status USING count(*) GROUP BY bucket;", "EXPLAIN SELECT 1",
        "SHOW TABLES",
        "FROM (PIVOT objects ON status)", "/* a */ explain analyze SELECT 1", "SUMMARIZE objects",
        "EXPLAIN (FORMAT json) SELECT 1", "EXPLAIN PIVOT objects ON status",
    ],
)  # fmt: skip
def test_every_kind_of_query_is_answered(run_sql: Run, query: str) -> None:
    """Also those that begin with a comment."""
    assert run_sql(query).status == 0


@pytest.mark.parametrize("query", ["EXPLAIN SELECT 1", "EXPLAIN ANALYZE FROM objects"])
def test_a_plan_has_its_lines(run_sql: Run, query: str) -> None:
    """It is read by a person as DuckDB draws it."""
    lines = run_sql(query).out.splitlines()
    assert len(lines) > 3
    assert not any("\\n" in line for line in lines)


def test_the_lowest_duckdb_is_the_tested_one() -> None:
    """Another form of its files, or another SQL, would be met by users first."""
    [lowest] = re.findall(r'"duckdb>=([\d.]+)"', Path("pyproject.toml").read_text("utf-8"))
    assert f"\nduckdb=={lowest} " in Path("requirements.lock").read_text("utf-8")


def test_every_view_can_be_asked(run_sql: Run) -> None:
    """Also those of which this stack has nothing."""
    for view in VIEWS:
        query = f"FROM {view} LIMIT 0" if view != "listing" else "DESCRIBE listing"
        assert run_sql(query, "--json").status == 0


@pytest.mark.parametrize(
    "query",
    [
        "FROM Listing", "SELECT 1 WHERE EXISTS (FROM old.main.listing)", "PIVOT Listing ON latest",
        'FROM (PIVOT "old"."listing" ON key USING count(*))', "EXPLAIN PIVOT listing ON key",
    ],
)  # fmt: skip
def test_a_view_of_what_s3_has_needs_a_listing(
    run: Run, folder: Path, tmp_path: Path, query: str
) -> None:
    """Without one it would answer as if S3 had nothing; a text of that name is not the view."""
    new = listed_snapshot(tmp_path / "new", ROWS)
    both = ("--snapshot", f"old={folder}", "--snapshot", f"new={new}")
    run("sql", query, *both).assert_refused("S3 was not listed", "--listing")
    for other in ("SELECT 'listing' AS listing FROM new.listing", "PIVOT new.listing ON latest",
                  "PIVOT (SELECT 'listing' AS a) ON a USING count(*) -- listing"):  # fmt: skip
        assert run("sql", other, *both).status == 0


@pytest.mark.parametrize(
    ("query", "view"),
    [
        ("SELECT key FROM versions WHERE state = 'lost'", "versions"),
        ("SELECT count(*) FROM old.objects WHERE state IN ('LOST', 'differs')", "old.objects"),
        ("PIVOT contents ON state IN ('not recorded') USING count(*)", "contents"),
        ("FROM versions WHERE state = 'differs'", ""), ("SELECT 'lost' FROM new.objects", ""),
        ("SELECT 'lost' FROM range(2)", ""), ("DESCRIBE SELECT 'lost' FROM versions", ""),
    ],
)  # fmt: skip
def test_a_state_that_no_version_can_have_is_noted(
    run: Run, folder: Path, tmp_path: Path, query: str, view: str
) -> None:
    """Without a listing no object is lost, and none lacks a row, whatever S3 has."""
    new = listed_snapshot(tmp_path / "new", ROWS)
    ended = run("sql", query, "--snapshot", f"old={folder}", "--snapshot", f"new={new}")
    assert ended.status == 0, ended.err
    notes = [line for line in ended.err.splitlines() if "S3 was not listed" in line]
    assert [line.partition(":")[0] for line in notes] == [view] * bool(view)


def test_rows_of_another_bucket_do_not_stop_a_question_about_one(run: Run, planted: Stack) -> None:
    """Rows of a detached bucket are named, and left out: no answer says what is there now."""
    put_and_record(planted, "alone", b"a")
    planted.digests_table().record(hashed(RowKey("former", "k", "v1"), b"k"))
    ended = run("coverage", BUCKET, "--prefix", "alone")
    assert (ended.status, "1 hashed" in ended.out) == (0, True), ended.err
    for row in (hashed(RowKey("former", key, "v1"), b"b") for key in "kl"):
        planted.digests_table().record(row)
    for question, status in (("coverage", 1), ("duplicates", 0)):
        ended = run(question)
        assert (ended.status, "left out former, as S3 was not asked" in ended.err) == (status, True)
        assert "former" not in ended.out
    alone = ("coverage", "--prefix", "alone")
    assert (run(*alone).status, run(*alone, "--snapshot", "last").status) == (0, 1)


def test_coverage_names_what_has_no_digest(run: Run, tmp_path: Path) -> None:
    """A version without a row, and one that could not be read, are named with the reason."""
    never = hashed(RowKey(BUCKET, "new/never", "v1"), b"never")
    coverage = ("coverage", "--snapshot", listed_snapshot(tmp_path / "s", ROWS, [never]))
    ended = run(*coverage, "--bucket", BUCKET, "--json").assert_no()
    parts = {(p["folder"], p["state"]): p for p in ended.document["parts"]}
    assert parts["new/", "not recorded"]["objects"] == 1
    assert parts["", "unreadable"]["reason"] == "denied"
    shown = run(*coverage)
    assert "1 unreadable" in shown.out
    assert "`bucketsum redrive --key KEY --bucket BUCKET`" in " ".join(shown.err.split())
    hint = " ".join(shown.err.split())
    assert (
        "`bucketsum ls --bucket BUCKET` says which wait, need a backfill or are not covered" in hint
    )
    hashes = "`bucketsum backfill BUCKET` hashes them"
    assert f"{hashes}, those in DEEP_ARCHIVE or GLACIER after a restore, with --archived" in hint
    assert run(*coverage, "--prefix", "=cmd").status == 0
    refused = run(*coverage, "--prefix", "\udcff")
    refused.assert_refused("\\udcff is not valid UTF-8")

"""Athena answers what DuckDB answers; what it needs is written once, and deleted on request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.cli.aws_calls import answered, change_calls
from tests.cli.conftest import Run
from tests.cli.snapshots.athena_server import URL, athena_server
from tests.cli.snapshots.hostile_rows import hostile

from bucketsum.algorithms import CRC32, EXTRA_ALGORITHMS
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.commands.find_list import WANTED
from bucketsum_cli.snapshots import queries
from bucketsum_cli.snapshots.athena import (
    Athena,
    AthenaPlace,
    delete_tables,
    place_for,
)
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.sides_database import SidesDatabase
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.snapshots.tables import open_snapshot
from bucketsum_cli.terminal.errors import CannotDoError

LISTED = (Listed("photos", ""), Listed("films", ""))
OF_ROWS: dict[str, dict[str, str | int | bool]] = {
    "duplicates": {"bucket": "", "prefix": "", "least_bytes": 0, "with_members": True, "groups": 9},
    "coverage": {"bucket": "films", "prefix": ""},
    "export": {"bucket": "photos", "prefix": "a", "with_members": True},
    "export_states": {"bucket": "photos", "prefix": "", "with_members": True},
    "find": {"bucket": ""},
    "totals": {},
    "arrivals": {"since": "2026-11-10"},
    "problems": {"reasons": 3},
    "verification": {"day": "2026-12-20"},
    "named": {},
    "side": {"bucket": "photos", "prefix": "'; DROP", "pattern": ""},
    "changes_side": {"bucket": "", "prefix": "a", "until": "2026-11-10"},
    "names": {"bucket": "photos", "prefix": "", "pattern": "([0-9])", "algorithm": "md5"},
}
"""Query → its question. Those of `compare`, `changes`, sweeps and loading are not of rows."""
SQL = [file for file in files(queries).iterdir() if file.name.endswith(".sql")]
UNORDERED = ("side", "changes_side", "names", "export_states")


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An emulated Athena."""
    with athena_server(tmp_path_factory.mktemp("athena")) as connection:
        yield connection


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Hostile rows."""
    return hostile(3000).write(tmp_path_factory.mktemp("snapshots") / "s", LISTED)


@pytest.fixture
def local(snapshot: Snapshot) -> Database:
    """DuckDB over the rows, with the tables of all questions."""
    database = open_snapshot(snapshot)
    put_prices(database)
    digests = [
        sha1 for (sha1,) in database.engine.run("SELECT DISTINCT sha1 FROM objects ORDER BY sha1")
    ]
    wanted = [{"place": n, "name": "\n'\"", "digest": d} for n, d in enumerate([*digests, "0"])]
    database.local.put_table("wanted", WANTED, wanted)
    return database


def rounded(rows: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - an answer
    """The rows; dollars without the digits that depend on the order of an addition."""
    return [tuple(f"{v:.12g}" if isinstance(v, float) else v for v in row) for row in rows]


@pytest.mark.parametrize("query", OF_ROWS)
def test_both_engines_give_the_same_answer(
    aws: Connection, local: Database, snapshot: Snapshot, query: str
) -> None:
    """The same file of SQL, over the same hostile rows, has the same rows in the same order."""
    expected = local.ask(query, **OF_ROWS[query])
    rows = rounded(expected)
    with place_for(aws, URL, snapshot) as place:
        got = Database(local.local, Athena(local.local, aws, place)).ask(query, **OF_ROWS[query])
    assert got.columns == expected.columns
    order = repr if query in UNORDERED else lambda _: 0
    assert sorted(rounded(got), key=order) == sorted(rows, key=order)
    assert len(rows) > 1


def test_both_engines_compare_alike(aws: Connection, snapshot: Snapshot) -> None:
    """Two sides are equal, differ or moved on both; nothing stays in the bucket."""
    sides = SidesDatabase()
    for table, bucket in (("left_side", "photos"), ("right_side", "films")):
        sides.put_objects(table, snapshot, "side", {"bucket": bucket, "prefix": "", "pattern": ""})
    rows = list(sides.ask("compare", rows=100))
    assert len({row[0] for row in rows}) > 1
    with place_for(aws, URL, None) as place:
        there = Database(sides.local, Athena(sides.local, aws, place))
        assert list(there.ask("compare", rows=100)) == rows
    listed = aws.client("s3").list_objects_v2(Bucket=place.files.bucket, Prefix=place.files.key)
    assert "Contents" not in listed
    assert place.database not in str(aws.client("glue").get_databases())


def test_no_query_is_left_out() -> None:
    """Every question's file is asked of both engines."""
    names = {file.name.removesuffix(".sql") for file in SQL}
    of_loading = {"tables", "views", "load", "load_listing", "load_measurements"}
    of_loading |= {"join", "report_lines", "list_side"}
    of_loading |= {"listed_side", "listed_members", "listed_versions"}  # beside a local list
    assert names - of_loading == {*OF_ROWS, "changes", "compare"}
    assert query_text("compare")


def test_queries_take_algorithms_from_the_registry() -> None:
    """A new one needs no query: none is named but SHA-1, and CRC-32, which members have too."""
    texts = [file.read_text("utf-8") for file in SQL]
    for name in {*EXTRA_ALGORITHMS} - {CRC32.name}:
        assert not any(name in text for text in texts)
        assert f"c.{name}" in query_text("side")


def test_commands_ask_athena(aws: Connection, run: Run, tmp_path: Path) -> None:
    """Each says what it costs before; `snapshot delete` leaves nothing."""
    own = hostile(300).write(tmp_path / "own", LISTED)
    rest = ("--snapshot", own.folder, "--athena", URL)
    for command, part in (("duplicates", "all_wasted_bytes"), ("coverage", "parts")):
        ended = run(command, *rest, "--json")
        assert "Athena scans at most 10.5 MB of s3://lists/athena, for 0.0000524 USD" in ended.err
        assert ended.document[part] == run(command, *rest[:2], "--json").document[part]
    query = "SELECT key, sha1, size_bytes, present, created_at FROM objects ORDER BY key, version"
    there = run("sql", query, *rest, "--json").document
    named = run("sql", "SELECT count(*) AS tables FROM objects;", *rest, "--json").document
    assert named == [{"tables": len(there)}]
    digest = next(row["sha1"] for row in there if row["sha1"])
    assert run("find", digest, *rest).status == 0
    sides = (f"{own.folder}#photos", f"{own.folder}#films")
    assert run("compare", *sides, "--athena", URL).status == 1
    run("sql", "SELECT nonsense FROM objects", *rest).assert_refused("Athena: ", "nonsense")
    for text in ("DROP TABLE objects", "INSERT INTO objects SELECT 1", "UNLOAD (SELECT 1)"):
        run("sql", text, *rest).assert_refused("must begin with SELECT or WITH")
    run("sql", query, *rest[:3], "s3:/x").assert_refused("is not a URL like s3://BUCKET/KEY")
    run("sql", query, *rest[:3], "s3://other").assert_refused(f"are in {URL}, in us-east-1")
    assert there == run("sql", query, *rest[:2], "--json").document  # last: it locks DuckDB
    place = json.loads((own.folder / "athena.json").read_text())
    assert run("snapshot", "delete", own.folder, "--yes").status == 0
    listed = aws.client("s3").list_objects_v2(Bucket="lists", Prefix=f"athena/{place['database']}")
    assert "Contents" not in listed
    assert place["database"] not in str(aws.client("glue").get_databases())
    assert not own.folder.exists()


@pytest.mark.parametrize("kind", ["free", "enforced", "managed"])
def test_a_workgroup_decides_where_results_go(
    aws: Connection, run: Run, tmp_path: Path, kind: str
) -> None:
    """One that manages or enforces them refuses another place; a disabled one is named."""
    athena, own = aws.client("athena"), hostile(30).write(tmp_path / "own", ())
    settings: dict[str, Any] = {
        "ResultConfiguration": {"OutputLocation": "s3://lists/theirs/"},
        "EnforceWorkGroupConfiguration": kind == "enforced",
    }
    if kind == "managed":
        settings["ManagedQueryResultsConfiguration"] = {"Enabled": True}
    athena.create_work_group(Name=kind, Configuration=settings)
    rest = ("--snapshot", own.folder, "--athena", URL, "--workgroup", kind)
    ended = run("sql", "SELECT count(*) FROM objects", *rest)
    assert ended.status == 0, ended.err
    assert ("keeps results in s3://lists/theirs/" in ended.err) == (kind == "enforced")
    [query] = athena.list_query_executions(WorkGroup=kind)["QueryExecutionIds"]
    execution = athena.get_query_execution(QueryExecutionId=query)["QueryExecution"]
    place = execution["ResultConfiguration"]["OutputLocation"]
    assert place.startswith("s3://lists/theirs/") == (kind != "free")
    athena.update_work_group(WorkGroup=kind, State="DISABLED")
    run("sql", "SELECT 1", *rest).assert_refused(f"the workgroup {kind} is disabled")


@pytest.mark.usefixtures("aws")
def test_a_limit_of_a_workgroup_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Athena cancels a query that scans too much."""
    status = {"State": "CANCELLED", "StateChangeReason": "Bytes scanned limit was exceeded"}
    change_calls(
        monkeypatch, answered({"GetQueryExecution": {"QueryExecution": {"Status": status}}})
    )
    own = hostile(10).write(tmp_path / "own", ())
    ended = run("sql", "SELECT 1 FROM objects", "--snapshot", own.folder, "--athena", URL)
    ended.assert_refused("the workgroup primary ended the query", "Bytes scanned limit")


def test_a_bucket_that_is_not_there_is_named(aws: Connection, run: Run, snapshot: Snapshot) -> None:
    """An error of AWS says what was refused; nothing is answered."""
    other = hostile(10).write(snapshot.folder.parent / "other", ())
    ended = run(
        "sql", "SELECT 1 FROM objects", "--snapshot", other.folder, "--athena", "s3://not-here/x"
    )
    ended.assert_refused("NoSuchBucket")
    with pytest.raises(CannotDoError, match="not a URL"), place_for(aws, "no", None):
        pass


@pytest.mark.parametrize("folder", ["", "/", "/a#b", "/a?b=c", "/a%2Fb", "/a b/", "/a", "/#"])
def test_no_files_but_its_own_are_deleted(aws: Connection, folder: str) -> None:
    """Letters that end a URL's path do not end the folder: other keys of the bucket stay."""
    s3 = aws.client("s3")
    theirs = ["a/x", "a#b/x", "a?b=c/x", "a/b/x", "a%2Fb/x", "a b/x", "#/x", "x"]
    for key in theirs:
        s3.put_object(Bucket="lists", Key=key, Body=b"x")
    with place_for(aws, f"s3://lists{folder}", None) as place:
        assert place.files.key.rpartition("bucketsum_")[0] == f"{folder.strip('/')}/".lstrip("/")
        s3.put_object(Bucket="lists", Key=f"{place.files.key}objects/0.parquet", Body=b"x")
    keys = {entry["Key"] for entry in s3.list_objects_v2(Bucket="lists")["Contents"]}
    assert keys >= {*theirs}
    assert not any(place.database in key for key in keys)


@pytest.mark.parametrize(
    "url", ["s3://lists#x", "s3://lists?x", "s3://", "s3:///a", "s3://lists//a"]
)
def test_a_wrong_place_for_tables_is_refused(aws: Connection, url: str) -> None:
    """Nothing is written or deleted in a place that the person did not name."""
    with pytest.raises(CannotDoError, match="s3://"), place_for(aws, url, None):
        pass


@pytest.mark.parametrize(
    ("url", "database"),
    [("s3://lists/a", "a"), ("s3://lists", ""), ("s3://lists#x", "bucketsum_0123456789abcdef"),
     ("s3://lists/a", "bucketsum_0123456789abcdef/../../x"), ("s3://lists", "prod")],
)  # fmt: skip
def test_a_forged_place_deletes_nothing(aws: Connection, url: str, database: str) -> None:
    """A snapshot may come from a stranger: only a database that bucketsum named is deleted."""
    s3, glue = aws.client("s3"), aws.client("glue")
    s3.put_object(Bucket="lists", Key="a/theirs", Body=b"x")
    with suppress(glue.exceptions.AlreadyExistsException):
        glue.create_database(DatabaseInput={"Name": "prod"})
    with pytest.raises(CannotDoError, match=r"is not (deleted|a URL)"):
        delete_tables(aws, AthenaPlace("us-east-1", url, database))
    assert s3.head_object(Bucket="lists", Key="a/theirs")
    assert "prod" in str(glue.get_databases())

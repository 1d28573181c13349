"""Athena asks a snapshot where it lies: what is called, what is written, what it costs."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.cli.aws_calls import answered, change_calls, metadata_answer
from tests.cli.conftest import Run
from tests.cli.snapshots.athena_server import NAME, URL, athena_server, stored, write_tables
from tests.cli.snapshots.changes_oracle import later
from tests.cli.snapshots.hostile_rows import hostile
from tests.cli.snapshots.questions import OF_ROWS

from bucketsum.algorithms import CRC32, EXTRA_ALGORITHMS
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots import queries
from bucketsum_cli.snapshots.athena import athena
from bucketsum_cli.snapshots.athena_queries import AthenaQueries
from bucketsum_cli.snapshots.folder import LIVE, Listed, Snapshot
from bucketsum_cli.snapshots.glue_tables import (
    AthenaPlace,
    GlueTables,
    database_of,
    delete_tables,
)
from bucketsum_cli.snapshots.in_place_engine import answer_of
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.terminal.errors import CannotDoError

QUERY = "SELECT key, sha1, size_bytes, present, created_at FROM objects ORDER BY key, version"
LISTED = (Listed("photos", ""), Listed("films", ""))
SQL = [file for file in files(queries).iterdir() if file.name.endswith(".sql")]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An emulated Athena."""
    with athena_server(tmp_path_factory.mktemp("athena")) as connection:
        yield connection


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own snapshots."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Hostile rows, in no folder of the person's."""
    return hostile(300).write(tmp_path_factory.mktemp("rows") / "own", LISTED)


@pytest.fixture
def own(aws: Connection, written: Snapshot) -> Iterator[Snapshot]:
    """Hostile rows in S3, and nowhere else."""
    snapshot = stored(aws, written)
    yield snapshot
    delete_tables(aws, database_of(snapshot))


def keys_in(aws: Connection, prefix: str = "") -> set[str]:
    """The keys of the person's bucket."""
    listed = aws.client("s3").list_objects_v2(Bucket="lists", Prefix=prefix)
    return {entry["Key"] for entry in listed.get("Contents", ())}


def test_no_query_is_left_out() -> None:
    """`make trino` asks every question of Trino, or it says here why not."""
    names = {file.name.removesuffix(".sql") for file in SQL}
    of_loading = {"tables", "views", "load", "load_listing", "load_measurements", "join"}
    of_lists = {"report_lines", "list_side", "listed_side", "listed_members", "listed_versions"}
    assert names == {*OF_ROWS, *of_loading, *of_lists, "changes", "compare"}
    assert query_text("compare")


def test_queries_take_algorithms_from_the_registry() -> None:
    """A new one needs no query: none is named but SHA-1, and CRC-32, which members have too."""
    texts = [file.read_text("utf-8") for file in SQL]
    for name in {*EXTRA_ALGORITHMS} - {CRC32.name}:
        assert not any(name in text for text in texts)
        assert f"c.{name}" in query_text("side")


def test_commands_ask_athena_in_place(
    aws: Connection, run: Run, own: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row passes this machine; each table is made once; only `snapshot delete` deletes them."""
    calls = write_tables(monkeypatch, own)
    name = NAME
    rest = ("--snapshot", name, "--athena", URL)
    first = run("duplicates", *rest, "--json")
    assert "to write the table items, Athena scans at most 10.5 MB, for 0.0000524 USD" in first.err
    again = run("duplicates", *rest, "--json")
    assert "Athena scans at most 10.5 MB, for 0.0000524 USD" in again.err
    assert "to write the table items" not in again.err
    covered = run("coverage", *rest, "--json")
    digest = first.document["groups"][0]["sha1"]
    places = run("find", digest, *rest, "--json")
    assert places.err.count("Athena scans") == 1, "a query more than its answer needs"
    sides = (f"{name}#photos", f"{name}#films")
    compared = run("compare", *sides, "--athena", URL, "--json")
    there = run("sql", QUERY, *rest, "--json")
    tables = [call for call in calls if call.startswith("made ")]
    assert tables[:4] == [f"made {name}" for name in ("items", "listing", "versions", "members")]
    assert len(tables) == len({*tables})
    read = {call for call in calls if call.startswith("GetObject")}
    assert not any("/data/" in key for key in read)
    for ended, command in (
        (first, ("duplicates",)), (covered, ("coverage",)), (places, ("find", digest)),
        (there, ("sql", QUERY)),
    ):  # fmt: skip
        here = run(*command, *rest[:2], "--json")
        assert without_name(ended.document) == without_name(here.document)
    assert compared.document["counts"] == run("compare", *sides, "--json").document["counts"]
    assert_deleted(aws, run, own)


def assert_deleted(aws: Connection, run: Run, own: Snapshot) -> None:
    """Only the tables of *own* are there, until it is deleted; the export stays."""
    database = database_of(own)
    assert keys_in(aws, "athena/") == keys_in(aws, f"athena/{database}/") != set()
    assert run("snapshot", "delete", NAME, "--yes").status == 0
    assert keys_in(aws, "athena/") == set()
    assert database not in str(aws.client("glue").get_databases())
    assert keys_in(aws, S3Place.of_folder(own.url).key)


def test_a_persons_query_is_a_select(
    run: Run, own: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own WITH is kept beside the views; other statements are refused."""
    write_tables(monkeypatch, own)
    rest = ("--snapshot", NAME, "--athena", URL)
    texts = (
        "SELECT key FROM objects",
        "-- all\nWITH x AS (SELECT key FROM Objects) SELECT * FROM x;",
    )
    first, second = (run("sql", text, *rest, "--json").document for text in texts)
    assert first == second != []
    run("sql", "SELECT nonsense FROM objects", *rest).assert_refused("Athena: ", "nonsense")
    ours = "WITH x AS (SELECT 1), {} AS (SELECT 1) SELECT * FROM x"
    for name in ("objects", "Listing (a)", "members"):
        run("sql", ours.format(name), *rest).assert_refused(name.split()[0], "choose another name")
    for text in ("DROP TABLE objects", "INSERT INTO objects SELECT 1", "UNLOAD (SELECT 1)"):
        run("sql", text, *rest).assert_refused("must begin with SELECT or WITH")
    run("sql", texts[0], *rest[:3], "s3:/x").assert_refused("is not a URL like s3://BUCKET/KEY")


def test_a_query_of_what_s3_has_needs_a_listing(
    aws: Connection, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one it would answer as if S3 had nothing, or all."""
    name = f"{NAME}-unlisted"
    snapshot = stored(aws, hostile(1).write(tmp_path / "own", ()), name)
    ended = run("sql", "SELECT 1 FROM Listing", "--snapshot", name, "--athena", URL)
    ended.assert_refused("the view listing is empty", "--listing")
    write_tables(monkeypatch, snapshot)
    lost = "SELECT key FROM versions WHERE state = 'lost'"
    ended = run("sql", lost, "--snapshot", name, "--athena", URL)
    assert "versions: S3 was not listed for its snapshot: it misses what is 'lost'" in ended.err
    delete_tables(aws, database_of(snapshot))


def test_an_export_that_is_not_whole_answers_nothing(
    aws: Connection, run: Run, own: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that somebody deleted is missed by its rows; no table of the rest is kept."""
    write_tables(monkeypatch, own, rows=5)
    ended = run("sql", "SELECT 1 FROM objects", "--snapshot", NAME, "--athena", URL)
    ended.assert_refused(f"have 5 rows, its list says {own.rows}", "take another")
    assert keys_in(aws, "athena/") == set()


def test_tables_of_another_version_are_made_again(
    aws: Connection, run: Run, own: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version's columns are not asked: a new attribute reaches Athena too."""
    calls = write_tables(monkeypatch, own)
    rest = ("sql", "SELECT 1 FROM objects", "--snapshot", NAME, "--athena", URL)
    assert run(*rest).status == 0
    values = {"Name": database_of(own), "Description": "older"}
    values["LocationUri"] = f"{URL}/{database_of(own)}/"
    aws.client("glue").update_database(Name=database_of(own), DatabaseInput=values)
    assert run(*rest).status == 0
    assert calls.count("made items") == 2


def without_name(document: Any) -> Any:  # noqa: ANN401 - JSON
    """A *document* without the folder of its snapshot, and the last digits of dollars."""
    document = json.loads(json.dumps(document), parse_float=lambda text: f"{float(text):.12g}")
    return {**document, "snapshot": ""} if isinstance(document, dict) else document


def test_rows_on_this_machine_are_not_asked(run: Run, aws: Connection, tmp_path: Path) -> None:
    """Nothing is uploaded for Athena: the error says how rows come to S3."""
    local = hostile(30).write(tmp_path / "local", ())
    before = keys_in(aws)
    rest = ("--snapshot", local.folder, "--athena", URL)
    run("sql", "SELECT 1", *rest).assert_refused("is on this machine", "snapshot --via export")
    run("sql", "SELECT 1", "--snapshot", "s3://lists/none").assert_refused("is not a snapshot")
    assert keys_in(aws) == before


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("kind", ["free", "enforced", "managed"])
def test_a_workgroup_decides_where_results_go(
    aws: Connection, run: Run, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One that manages or enforces them refuses another place; a disabled one is named."""
    athena = aws.client("athena")
    settings: dict[str, Any] = {
        "ResultConfiguration": {"OutputLocation": "s3://lists/theirs/"},
        "EnforceWorkGroupConfiguration": kind == "enforced",
    }
    if kind == "managed":
        settings["ManagedQueryResultsConfiguration"] = {"Enabled": True}
    athena.create_work_group(Name=kind, Configuration=settings)
    queries_run: list[dict[str, Any]] = []

    def change(operation: str, request: dict[str, Any]) -> None:
        if operation == "StartQueryExecution":
            queries_run.append(dict(request))
            request["QueryString"] = "SELECT ''"

    change_calls(monkeypatch, change)
    rest = ("--snapshot", NAME, "--athena", URL, "--workgroup", kind)
    ended = run("sql", "SELECT count(*) FROM items", *rest)
    assert ("keeps what it writes in s3://lists/theirs/" in ended.err) == (kind == "enforced")
    assert {request["WorkGroup"] for request in queries_run} == {kind}
    places = {r.get("ResultConfiguration", {}).get("OutputLocation", "") for r in queries_run}
    assert all(place.startswith(f"{URL}/bucketsum_") for place in places) == (kind == "free")
    [sql] = [r["QueryString"] for r in queries_run if r["QueryString"].startswith("CREATE TABLE")]
    assert ("external_location" in sql) == (kind != "enforced")
    athena.update_work_group(WorkGroup=kind, State="DISABLED")
    run("sql", "SELECT 1", *rest).assert_refused(f"the workgroup {kind} is disabled")


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("reason", "shown"),
    [("Bytes scanned limit was exceeded", "a limit of the workgroup primary ended the query"),
     ("Query was cancelled by the user", "Athena: Query was cancelled by the user")],
)  # fmt: skip
def test_a_limit_of_a_workgroup_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, reason: str, shown: str
) -> None:
    """Athena cancels a query that scans too much; another end is not called a limit."""
    status = {"State": "CANCELLED", "StateChangeReason": reason}
    change_calls(
        monkeypatch, answered({"GetQueryExecution": {"QueryExecution": {"Status": status}}})
    )
    ended = run("sql", "SELECT 1 FROM objects", "--snapshot", NAME, "--athena", URL)
    ended.assert_refused(shown, reason)


@pytest.mark.usefixtures("own")
def test_an_expensive_query_is_asked_before(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes that a table has at most decide; without a yes, nothing is started."""
    monkeypatch.setattr(AthenaQueries, "run", lambda *_: iter(()))
    monkeypatch.setattr(GlueTables, "sizes", lambda _: {"export": 10**12, "listing_files": 5})
    ended = run("sql", "SELECT 1 FROM items", "--snapshot", NAME, "--athena", URL, answer="n\n")
    assert ended.status == 1
    assert "scans at most 1.0 TB, for 5.00 USD" in ended.err
    assert "nothing was run" in ended.err


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    "plan",
    ["ScanFilterProject[table = glue:HiveTableHandle{schemaName=prod, tableName=events, x",
     "- TableScan[glue:HiveTableHandle{schemaName=prod, tableName=events, y=Optional.empty",
     "TableScan[table = glue:prod:events]", "TableScan[table = s3/t:prod.events$data@12]"],
)  # fmt: skip
def test_a_query_of_other_tables_has_no_price(
    run: Run, monkeypatch: pytest.MonkeyPatch, plan: str
) -> None:
    """They are named, and it is asked: their size is not known."""
    monkeypatch.setattr(AthenaQueries, "run", lambda *_: iter([(plan,)]))
    rest = ("--snapshot", NAME, "--athena", URL)
    ended = run("sql", "SELECT 1 FROM prod.events", *rest, answer="n\n").assert_no()
    assert "it also reads prod.events, whose size is not known" in ended.err
    assert "nothing was run" in ended.err


SCHEMAS = {
    "CSV": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag",
    "ORC": "struct<bucket:string,key:string,version_id:string,is_latest:boolean,"
    "is_delete_marker:boolean,size:bigint,last_modified_date:timestamp,e_tag:string,"
    "storage_class:string>",
    "Parquet": "message s3.inventory { required binary bucket (UTF8); required binary key (UTF8); "
    "optional binary version_id (UTF8); optional boolean is_latest; optional boolean "
    "is_delete_marker; optional int64 size; optional int64 last_modified_date "
    "(TIMESTAMP_MILLIS); optional binary e_tag (UTF8); optional binary storage_class (UTF8);}",
}
INVENTORY = "s3://lists/inventory/manifest.json"
UNTIL = "2026-12-01T00:00:00.000Z"


def put_inventory(aws: Connection, file_format: str) -> None:
    """Write the manifest of an inventory with two files."""
    files = [
        {"key": f"inventory/data/{n}", "size": 3 * 10**7, "MD5checksum": "0" * 32} for n in (1, 2)
    ]
    manifest = {"sourceBucket": "photos", "fileFormat": file_format, "files": files,
                "fileSchema": SCHEMAS[file_format]}  # fmt: skip
    place = S3Place.of(INVENTORY)
    aws.client("s3").put_object(Bucket=place.bucket, Key=place.key, Body=json.dumps(manifest))


def assert_linked(aws: Connection, database: str) -> None:
    """The files of the inventory are a table, all of whose columns are named in their order."""
    glue = aws.client("glue").get_table(DatabaseName=database, Name="inventory_0")
    descriptor = glue["Table"]["StorageDescriptor"]
    assert descriptor["InputFormat"].endswith("SymlinkTextInputFormat")
    names = [column["Name"] for column in descriptor["Columns"]]
    assert names[2:5] == ["version_id", "is_latest", "is_delete_marker"]
    links = S3Place.of(f"{descriptor['Location']}symlink.txt")
    body = aws.client("s3").get_object(Bucket=links.bucket, Key=links.key)["Body"].read()
    assert body == b"s3://lists/inventory/data/1\ns3://lists/inventory/data/2\n"


@pytest.mark.parametrize("file_format", [*SCHEMAS])
def test_an_inventory_is_read_where_it_lies(
    aws: Connection, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    """Its files are a table of links, which is priced; this machine reads its manifest alone."""
    listed = [Listed("photos", "", INVENTORY, UNTIL)]
    own = stored(aws, hostile(300).write(tmp_path / "own", listed))
    calls = write_tables(monkeypatch, own)
    put_inventory(aws, file_format)
    rest = ("--snapshot", NAME, "--athena", URL, "--json")
    covered = run("coverage", *rest)
    assert "to write the table listing, Athena scans at most 60.0 MB" in covered.err
    assert_linked(aws, database_of(own))
    [statement] = [call for call in calls if f"{database_of(own)}.listing WITH" in call]
    assert ("url_decode" in statement) == (file_format == "CSV")
    aws.client("s3").delete_object(Bucket="lists", Key=S3Place.of(INVENTORY).key)  # it expired
    assert run("coverage", *rest).document == covered.document
    run("coverage", *rest[:2]).assert_refused("is an inventory in S3", "with --athena")
    run("snapshot", "delete", NAME, "--yes")
    assert keys_in(aws, "athena/") == set()


def test_a_live_table_is_read_as_it_was(
    aws: Connection, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is priced, and asked once, within a day: then S3 forgets what it was."""
    rest = ("--snapshot", NAME, "--athena", URL, "--json")
    sample, buckets = hostile(300), []

    def keys(until: datetime) -> list[Listed]:
        return [Listed("photos", "", LIVE, f"{until:%Y-%m-%dT%H:%M:%S.000Z}")]

    def configuration(request: dict[str, Any]) -> Any:  # noqa: ANN401 - an answer
        buckets.append(request["Bucket"])
        return metadata_answer()

    change_calls(monkeypatch, answered({"GetBucketMetadataConfiguration": configuration}))
    until = datetime.now(UTC) - timedelta(hours=25)
    own = stored(aws, sample.write(tmp_path / "own", keys(until)))
    calls = write_tables(monkeypatch, own)
    covered = run("coverage", *rest)
    assert "to write the table listing, Athena scans at most 20.0 MB" in covered.err
    [statement] = [call for call in calls if f"{database_of(own)}.listing WITH" in call]
    at = f"{until + timedelta(hours=2):%Y-%m-%d %H:%M:%S} UTC"
    name = '"s3tablescatalog/aws-s3"."b_my-photos"."inventory"'
    assert f"{name} FOR TIMESTAMP AS OF TIMESTAMP '{at}'" in statement
    assert run("coverage", *rest).document == covered.document
    assert buckets == ["photos"]
    run("snapshot", "delete", NAME, "--yes")
    for number, other in enumerate(
        (until - timedelta(hours=2), datetime(9999, 12, 31, tzinfo=UTC))
    ):
        stored(aws, sample.write(tmp_path / str(number), keys(other)))
        run("coverage", *rest).assert_refused("for 24 hours: take another snapshot")
        run("snapshot", "delete", NAME, "--yes")


def test_an_export_is_written_by_athena(
    aws: Connection, run: Run, own: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names a price before; a place with files of the person's, or of a snapshot, is refused."""
    calls = write_tables(monkeypatch, own)
    rest = ("export", "photos", "--snapshot", NAME, "--athena", URL)
    written = (*rest, "--format", "parquet", "--prefix", "a")
    aws.client("s3").put_object(Bucket="lists", Key="mine/x", Body=b"x")
    for place in ("mine", "mine/", "", f"athena/{database_of(own)}/x"):
        run(*written, "-o", f"s3://lists/{place}").assert_refused("name a folder where nothing is")
    for wrong in (rest, written, (*written, "-o", "x.parquet"), (*rest, "-o", "s3://lists/new")):
        run(*wrong).assert_refused("--format parquet")
    assert not [call for call in calls if call.startswith("made ")]
    ended = run(*written, "-o", "s3://lists/it's/new").assert_no()
    assert "to write s3://lists/it's/new/, Athena scans at most" in ended.err
    [unload] = [call for call in calls if call.startswith("UNLOAD")]
    assert unload.endswith(") TO 's3://lists/it''s/new/' WITH (format = 'PARQUET')")
    here = run(*written[:4], *written[6:], "-o", tmp_path / "x.parquet")
    there, local = (sorted(e.err.splitlines()) for e in (ended, here))
    assert [line for line in there if " object" in line] == [
        line for line in local if " object" in line
    ]


def test_two_snapshots_in_s3_have_changes(
    aws: Connection, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each side is a table that Athena writes of its own snapshot: nothing is fetched."""
    before = hostile(300)
    snapshots = [
        stored(aws, rows.write(tmp_path / name, LISTED), f"{NAME}-{name}")
        for name, rows in (("a", before), ("b", later(before)))
    ]
    calls = write_tables(monkeypatch, snapshots[0], others=snapshots[1:])
    names = [f"{NAME}-a", f"{NAME}-b"]
    there = run("changes", *names, "--athena", URL, "--json")
    assert [call for call in calls if call.startswith("made ")].count("made items") == 2
    assert not [call for call in calls if call.startswith("GetObject") and "/data/" in call]
    here = run("changes", *names, "--json")
    assert (there.status, there.document) == (here.status, here.document)
    assert len(there.document["parts"]) > 10
    for snapshot in snapshots:
        delete_tables(aws, database_of(snapshot))


@pytest.mark.usefixtures("aws")
def test_a_list_is_uploaded_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query that names it asks the same table."""
    lists = [tmp_path / name for name in ("a.sha1", "b.sha1")]
    for path in lists:
        path.write_text(f"{'0' * 40}  x\n")
    uploads: list[str] = []

    def change(operation: str, request: dict[str, Any]) -> None:
        uploads.extend([request["Key"]] if operation == "PutObject" else [])

    change_calls(monkeypatch, change)
    write_tables(monkeypatch, hostile(1).write(tmp_path / "s", ()))
    run("compare", *lists, "--athena", URL)
    assert len([key for key in uploads if "/lines_" in key]) == len(lists)


@pytest.mark.usefixtures("own")
def test_a_bucket_that_is_not_there_is_named(run: Run) -> None:
    """An error of AWS says what was refused; nothing is answered."""
    rest = ("--snapshot", NAME, "--athena", "s3://not-here/x")
    run("find", "0" * 40, *rest).assert_refused("NoSuchBucket")


def test_a_time_that_python_cannot_have_is_a_text() -> None:
    """As in DuckDB's answers; a time with a zone is one that only a person's query has."""
    texts = ("+10000-01-01 00:00:00.000", "-0001-01-01 00:00:00.000", "2026-11-20 10:00:00.000")
    [(late, early, plain)] = answer_of([("t", "timestamp(3)")] * 3, [texts])
    assert (late, early, plain) == (*texts[:2], datetime(2026, 11, 20, 10, tzinfo=UTC))
    zoned = "2026-11-20 10:00:00.000 Europe/Paris"
    assert [*answer_of([("t", "timestamp(3) with time zone")], [[zoned]])] == [(zoned,)]


@pytest.mark.parametrize("folder", ["", "/", "/a#b", "/a?b=c", "/a%2Fb", "/a b/", "/a", "/#"])
def test_no_files_but_its_own_are_deleted(aws: Connection, folder: str) -> None:
    """Letters that end a URL's path do not end the folder: other keys of the bucket stay."""
    s3 = aws.client("s3")
    theirs = ["a/x", "a#b/x", "a?b=c/x", "a/b/x", "a%2Fb/x", "a b/x", "#/x", "x"]
    for key in theirs:
        s3.put_object(Bucket="lists", Key=key, Body=b"x")
    place = AthenaPlace.new(f"s3://lists{folder}")
    tables = GlueTables(aws, place)
    assert place.files.key.rpartition("bucketsum_")[0] == f"{folder.strip('/')}/".lstrip("/")
    s3.put_object(Bucket="lists", Key=f"{place.files.key}objects/0.parquet", Body=b"x")
    tables.add("objects", {"x": "string"}, "parquet", place.files)
    delete_tables(aws, place.database)
    keys = keys_in(aws)
    assert keys >= {*theirs}
    assert not any(place.database in key for key in keys)


@pytest.mark.parametrize(
    "url", ["s3://lists#x", "s3://lists?x", "s3://", "s3:///a", "s3://lists//a"]
)
def test_a_wrong_place_for_tables_is_refused(aws: Connection, url: str) -> None:
    """Nothing is written or deleted in a place that the person did not name."""
    with pytest.raises(CannotDoError, match="s3://"), athena(aws, url, "primary", yes=True):
        pass


@pytest.mark.parametrize(
    ("database", "url"),
    [("prod", "s3://lists/a/prod"), ("bucketsum_0123456789abcdef", "s3://lists/a"),
     ("bucketsum_0123456789abcdef", "x"), ("bucketsum_0123456789abcdef", "s3://lists/a/../x"),
     ("bucketsum_0123456789abcdef", "s3://lists/x_bucketsum_0123456789abcdef")],
)  # fmt: skip
def test_a_database_that_another_program_made_is_left(
    aws: Connection, database: str, url: str
) -> None:
    """Only a database with the name and the folder of bucketsum's own is deleted or used."""
    s3, glue = aws.client("s3"), aws.client("glue")
    s3.put_object(Bucket="lists", Key="a/theirs", Body=b"x")
    glue.create_database(DatabaseInput={"Name": database, "LocationUri": url})
    with pytest.raises(CannotDoError, match="is left as it is"):
        delete_tables(aws, database)
    with pytest.raises(CannotDoError, match="is left as it is"):
        GlueTables(aws, AthenaPlace(URL, database))
    assert s3.head_object(Bucket="lists", Key="a/theirs")
    assert database in str(glue.get_databases())
    glue.delete_database(Name=database)

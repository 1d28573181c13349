"""A snapshot is taken from DynamoDB's export, a listing in parts, or an inventory."""

import base64
import gzip
import hashlib
import json
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from tests.cli.aws_calls import answered, change_calls, metadata_answer, refusal
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_and_record, put_object

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots import export, stored
from bucketsum_cli.snapshots.folder import LISTING, Listed
from bucketsum_cli.snapshots.listing import list_keys

LISTS = "lists"


@pytest.fixture(autouse=True)
def buckets(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket of the user's; each test has its own snapshots."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(export, "_POLL_SECONDS", 0.01)
    stack.client("s3").create_bucket(Bucket=LISTS)


def complete_exports(stack: Stack, monkeypatch: pytest.MonkeyPatch, **wrong: Any) -> None:  # noqa: ANN401 - JSON
    """Have moto's exports end with the manifests that AWS documents; *wrong* values are in them."""
    dynamodb, s3 = stack.client("dynamodb"), stack.client("s3")
    dynamodb.update_continuous_backups(
        TableName=stack.table,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    is_asked: list[str] = []

    def change(operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - an answer
        if operation != "DescribeExport" or is_asked:
            return None
        is_asked.append(operation)
        answer: Any = dynamodb.describe_export(**request)
        is_asked.clear()
        description = answer["ExportDescription"]
        if description["ExportStatus"] == "COMPLETED":
            listed = s3.list_objects_v2(Bucket=LISTS, Prefix=description["S3Prefix"])
            data = next(e["Key"] for e in listed["Contents"] if "/data/" in e["Key"])
            body = s3.get_object(Bucket=LISTS, Key=data)["Body"].read()
            files = {
                "itemCount": gzip.decompress(body).count(b"\n"),
                "md5Checksum": base64.b64encode(hashlib.md5(body).digest()).decode(),
                "etag": "e-1", "dataFileS3Key": data,
            } | wrong  # fmt: skip
            summary = {
                "version": "2020-06-30", "tableArn": description["TableArn"],
                "exportTime": "2026-11-26T10:00:00.000Z", "s3Bucket": LISTS,
                "itemCount": files["itemCount"], "outputFormat": "DYNAMODB_JSON",
                "exportType": "FULL_EXPORT",
            }  # fmt: skip
            folder = data.rpartition("/data/")[0]
            s3.put_object(
                Bucket=LISTS, Key=f"{folder}/manifest-files.json", Body=f"{json.dumps(files)}\n"
            )
            place = f"{folder}/manifest-summary.json"
            s3.put_object(Bucket=LISTS, Key=place, Body=json.dumps(summary))
            description["ExportManifest"] = place
        return answer

    change_calls(monkeypatch, change)


def test_an_export_of_the_table_has_every_row(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB writes the files, and no row is read from the table."""
    for key in ("a", "b"):
        put_and_record(stack, key, b"same")
    complete_exports(stack, monkeypatch)
    arguments = ("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/exports/", "--json")
    document = run(*arguments).document
    assert (document["rows"], document["via"]) == (2, "export")
    assert document["place"].startswith(f"s3://{LISTS}/exports/20")
    assert not [*Path(document["folder"], "data").iterdir()]
    named = document["place"].rstrip("/")
    assert f"--snapshot s3://{LISTS}/exports/20" in run(*arguments[:-1]).out
    for name in ("last", named):
        ended = run("duplicates", "--no-listing", "--snapshot", name, "--json")
        [group] = ended.document["groups"]
        assert [copy["key"] for copy in group["objects"]] == ["a", "b"]


def test_a_large_export_is_fetched_only_after_a_yes(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size is shown before, with the free disk; a no leaves it in S3, --yes asks nothing."""
    put_and_record(stack, "a", b"a")
    complete_exports(stack, monkeypatch)
    arguments = ("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x", "--json")
    folder = Path(run(*arguments).document["folder"], "data")
    monkeypatch.setattr(stored, "ASKED_ROWS", 0)
    ended = run("sql", "SELECT 1", "--snapshot", "last", answer="n\n")
    assert (ended.status, [*folder.iterdir()]) == (1, [])
    assert "Fetch it? [y/N]" in ended.err
    assert "nothing was fetched; --athena asks it where it is" in ended.err
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
        run("sql", "SELECT 1", "--snapshot", "last").assert_refused("has 1 B left")
        assert [*folder.iterdir()] == []
    assert run("sql", "SELECT 1", "--snapshot", "x=last", "--yes").status == 0
    assert [*folder.iterdir()] != []


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"itemCount": 3}, "has 1 row, its list says 3"),
        ({"md5Checksum": "AAAAAAAAAAAAAAAAAAAAAA=="}, "its MD5 differs"),
    ],
)
def test_an_export_with_a_wrong_manifest_answers_nothing(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], reason: str
) -> None:
    """Its count or its checksum is not that of the file: the error names the file."""
    put_and_record(stack, "a", b"a")
    complete_exports(stack, monkeypatch, **wrong)
    assert run("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x").status == 0
    run("duplicates", "--snapshot", "last").assert_refused(reason, "take another")


def test_an_export_that_cannot_be_written_is_named(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason is DynamoDB's, and no folder is left."""
    complete_exports(stack, monkeypatch)
    arguments = ("snapshot", "--via", "export", "--export-to")
    run(*arguments, "s3://nosuch/x").assert_refused("S3NoSuchBucket")
    run(*arguments, "lists").assert_refused("is not a URL like s3://BUCKET/KEY")
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []


def test_an_export_without_files_says_what_to_do(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local emulator completes an export and writes none: the next step is a scan."""
    complete_exports(stack, monkeypatch)
    monkeypatch.setattr(export, "MANIFESTS", ("not-written.json",))
    run("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x").assert_refused(
        "its files are missing", "use --via scan"
    )


def test_a_listing_in_parts_has_each_version_once(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket of several pages is listed by ranges of keys, in parallel."""
    names = ["", *(f"{number:03}\u00e9" for number in range(30))]
    keys = [f"{letter}/{name}" for letter in "abcd" for name in names]  # moto skips after no key
    for key in keys:
        put_object(stack, key, b"")
    (tmp_path / LISTING).mkdir()

    def shorten(operation: str, request: dict[str, Any]) -> None:
        if operation in ("ListObjectVersions", "ListObjectsV2"):
            request.setdefault("MaxKeys", 7)

    change_calls(monkeypatch, shorten)
    files = list_keys(stack.client("s3"), Listed(BUCKET, ""), tmp_path)
    assert len(files) > 1
    lines = [
        json.loads(line)
        for file in files
        for line in gzip.decompress((tmp_path / file.name).read_bytes()).splitlines()
    ]
    assert sorted(line["key"] for line in lines) == sorted(keys)
    assert sum(file.rows for file in files) == len(keys)


def test_an_inventory_is_as_good_as_a_listing(run: Run, stack: Stack) -> None:
    """Coverage by an inventory names the same objects, without a request for each page."""
    s3 = stack.client("s3")
    put_and_record(stack, "a b/one", b"1")
    put_object(stack, "c/never", b"never")
    listed = run("coverage", BUCKET, "--json")
    entries = s3.list_object_versions(Bucket=BUCKET)["Versions"]
    rows = [
        (BUCKET, quote(e["Key"]), e["VersionId"], "true", "false", e["Size"],
         f"{e['LastModified']:%Y-%m-%dT%H:%M:%S.000Z}", e["ETag"].strip('"'), "STANDARD")
        for e in entries
    ]  # fmt: skip
    write_inventory(stack, rows)
    got = run("coverage", BUCKET, "--inventory", f"s3://{LISTS}/manifest.json", "--json")
    assert (got.status, got.document["parts"]) == (1, listed.document["parts"])
    run("coverage", "--inventory", "s3://x/y").assert_refused("--inventory needs BUCKET")


def test_an_inventory_stays_where_it_is(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an export, no object is listed."""
    put_and_record(stack, "a", b"a")
    complete_exports(stack, monkeypatch)
    write_inventory(stack, [], fileFormat="Parquet", fileSchema=(
        "message s3.inventory { required binary key (UTF8); optional int64 size; optional int64 "
        "last_modified_date (TIMESTAMP_MILLIS); optional binary version_id (UTF8); optional binary "
        "e_tag (UTF8);}"
    ))  # fmt: skip
    url = f"s3://{LISTS}/manifest.json"
    calls: list[str] = []

    def change(operation: str, _: dict[str, Any]) -> None:
        calls.append(operation)

    change_calls(monkeypatch, change)
    rest = ("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x", "--json")
    [listed] = run(*rest, "--inventory", url).document["listed"]
    assert (listed["inventory"], listed["until"]) == (url, "2026-11-26T22:00:00.000Z")
    assert "ListObjectVersions" not in calls
    run("snapshot", "--inventory", url).assert_refused("of the format Parquet, not CSV")
    last = run("changes", "last")
    last.assert_refused("which are older", "--inventory")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "is missing: enable it in S3 Metadata"),
        ({"TableStatus": "BACKFILLING"}, "is BACKFILLING: wait until it is ACTIVE"),
        ({"TableStatus": "CREATING"}, "is CREATING: wait until it is ACTIVE"),
        ({"ConfigurationState": "DISABLED"}, "is DISABLED: enable it"),
        ({"TableStatus": "FAILED", "Error": {"ErrorCode": "x", "ErrorMessage": "no key"}},
         "is FAILED (no key): enable it"),
    ],
)  # fmt: skip
def test_a_live_table_that_is_not_active_is_refused(
    run: Run,
    stack: Stack,
    monkeypatch: pytest.MonkeyPatch,
    table: dict[str, object] | None,
    reason: str,
) -> None:
    """Nothing is exported: what it lacks would look as if S3 had lost it."""
    complete_exports(stack, monkeypatch)
    answer = metadata_answer(**(table or {}))
    error = refusal("GetBucketMetadataConfiguration", "MetadataConfigurationNotFound")
    answers = {"GetBucketMetadataConfiguration": answer if table else error,
               "ExportTableToPointInTime": AssertionError()}  # fmt: skip
    change_calls(monkeypatch, answered(answers))
    rest = ("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x")
    run(*rest, "--inventory", "live").assert_refused(reason, f"of {BUCKET}", "without --inventory")


def test_a_live_table_is_asked_by_athena_alone(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lists the buckets that no manifest names, with all changes until two hours ago."""
    put_and_record(stack, "a", b"a")
    complete_exports(stack, monkeypatch)
    answers = {"GetBucketMetadataConfiguration": metadata_answer(),
               "ListObjectVersions": AssertionError()}  # fmt: skip
    change_calls(monkeypatch, answered(answers))
    rest = ("snapshot", "--via", "export", "--export-to", f"s3://{LISTS}/x", "--json")
    document = run(*rest, "--inventory", "live").document
    [listed] = document["listed"]
    assert (listed["bucket"], listed["inventory"]) == (BUCKET, "live")
    hidden = datetime.fromisoformat(document["begun_at"]) - datetime.fromisoformat(listed["until"])
    assert timedelta(hours=2) <= hidden < timedelta(hours=2.1)
    run("coverage", "--snapshot", "last").assert_refused("is an inventory in S3", "--athena")
    write_inventory(stack, [])
    url = f"s3://{LISTS}/manifest.json"
    [listed] = run(*rest, "--inventory", "live", "--inventory", url).document["listed"]
    assert listed["inventory"] == url
    for command in (("snapshot",), ("coverage", BUCKET)):
        ended = run(*command, "--inventory", "live")
        ended.assert_refused("only Athena reads a live inventory table", "--athena")


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [(1, "%FF%FE", "row 1 of 'data/0.csv.gz' is not valid"), (5, "", "is not valid: invalid"),
     (6, "yesterday", "is not valid: Invalid isoformat"),
     (0, "other", "row 1 of 'data/0.csv.gz' is of the bucket 'other'")],
)  # fmt: skip
def test_a_row_of_an_inventory_that_is_not_valid_is_named(
    run: Run, stack: Stack, place: int, value: str, reason: str
) -> None:
    """Its row and file are in the error; nothing is answered."""
    row = [BUCKET, "a", "v1", "true", "false", "1", "2026-11-01T00:00:00.000Z", "e", "STANDARD"]
    row[place] = value
    write_inventory(stack, [row])
    inventory = ("--inventory", f"s3://{LISTS}/manifest.json")
    run("coverage", BUCKET, *inventory).assert_refused(reason)


def test_an_inventory_without_files_answers_nothing(run: Run, stack: Stack) -> None:
    """It says nothing of the bucket: neither that all is recorded, nor that all is queued."""
    write_inventory(stack, [], files=[])
    inventory = ("--inventory", f"s3://{LISTS}/manifest.json")
    run("coverage", BUCKET, *inventory).assert_refused("lists no files")


def test_a_file_of_an_inventory_that_is_cut_off_is_named(run: Run, stack: Stack) -> None:
    """The rows before its end do not pass for all."""
    cut = gzip.compress(b"x" * 1000)[:-9]
    file = {"key": "cut", "size": len(cut), "MD5checksum": hashlib.md5(cut).hexdigest()}
    stack.client("s3").put_object(Bucket=LISTS, Key="cut", Body=cut)
    write_inventory(stack, [], files=[file])
    inventory = ("--inventory", f"s3://{LISTS}/manifest.json")
    run("coverage", BUCKET, *inventory).assert_refused("'cut' is not a whole CSV file in gzip")


def write_inventory(stack: Stack, rows: Sequence[Sequence[object]], **changes: object) -> None:
    """Write an inventory of `BUCKET` to `LISTS`."""
    s3 = stack.client("s3")
    body = gzip.compress("\n".join(",".join(f'"{v}"' for v in row) for row in rows).encode())
    s3.put_object(Bucket=LISTS, Key="data/0.csv.gz", Body=body)
    manifest = {
        "sourceBucket": BUCKET, "destinationBucket": f"arn:aws:s3:::{LISTS}", "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, "
        "ETag, StorageClass",
        "files": [{"key": "data/0.csv.gz", "size": len(body),
                   "MD5checksum": hashlib.md5(body).hexdigest()}],
        "creationTimestamp": "1795737600000",
        **changes,
    }  # fmt: skip
    s3.put_object(Bucket=LISTS, Key="manifest.json", Body=json.dumps(manifest))

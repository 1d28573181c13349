"""The commands that answer from all rows: snapshots, and questions about them."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.aws_calls import answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_and_record, put_object, record_archive, record_deletion

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.snapshots import scan
from bucketsum_cli.snapshots.folder import read_snapshot, snapshots


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what commands write."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "snapshots"


@pytest.fixture
def planted(stack: Stack) -> Stack:
    """Two groups of equal content, a deleted copy, a member, and an object without a row."""
    for key in ("a/one", "a/two", "b/three"):
        put_and_record(stack, key, b"same" * 100)
    for key in ("x", "y"):
        put_and_record(stack, key, b"other")
    record_deletion(stack, put_and_record(stack, "gone", b"same" * 100))
    record_archive(stack, {"m": b"other"})
    put_object(stack, "never", b"never")
    return stack


@pytest.mark.usefixtures("planted")
def test_a_snapshot_says_what_it_has(run: Run, tmp_path: Path) -> None:
    """Its next steps are commands that can be typed: `--region` is not an option of a group."""
    rest = ("--region", "us-east-1")
    assert run("snapshot", *rest).out.startswith("8 rows in ")
    ended = run("snapshot", "--listing", *rest)
    assert ended.out.startswith("8 rows and a listing of 1 bucket in ")
    assert "`bucketsum duplicates --snapshot last --region us-east-1`" in ended.out
    assert "`bucketsum snapshot --help`" in ended.out
    elsewhere = run("snapshot", "--to", tmp_path / "s").out  # which is not the last one
    assert f"`bucketsum duplicates --snapshot {tmp_path / 's'}`" in elsewhere


def test_a_snapshot_has_every_item_as_dynamodb_sent_it(
    run: Run, planted: Stack, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several segments together have each item once, in the form of DynamoDB's export."""
    monkeypatch.setattr(scan, "_PARALLEL_ROWS", 1)
    document = run("snapshot", "--listing", "--json").document
    assert (document["rows"], document["stack"], document["via"]) == (8, "bucketsum", "scan")
    assert [(keys["bucket"], keys["prefix"]) for keys in document["listed"]] == [(BUCKET, "")]
    snapshot = read_snapshot(home / document["folder"])
    assert len(snapshot.of_kind("data")) == 8
    pages = planted.client("dynamodb").get_paginator("scan").paginate(TableName=planted.table)
    items = sorted(json.dumps(item, sort_keys=True) for page in pages for item in page["Items"])
    lines = [
        json.dumps(json.loads(line)["Item"], sort_keys=True)
        for file in snapshot.of_kind("data")
        for line in gzip.decompress((snapshot.folder / file.name).read_bytes()).splitlines()
    ]
    assert sorted(lines) == items


@pytest.mark.usefixtures("planted")
def test_snapshots_are_listed_and_deleted(run: Run, tmp_path: Path) -> None:
    """`last` is the newest; one elsewhere is named by its folder."""
    assert "no snapshots in" in run("snapshot", "list").err
    first = run("snapshot", "--json").document["folder"]
    elsewhere = run("snapshot", "--to", tmp_path / "else", "--json").document["folder"]
    listed = run("snapshot", "list", "--json").document
    assert [snapshot["folder"] for snapshot in listed] == [first]
    assert run("snapshot", "delete", "last", answer="n\n").status == 1
    assert f"deleted {first}" in run("snapshot", "delete", "last", "--yes").out
    run("snapshot", "delete", "last", "--yes").assert_refused("there is no snapshot in")
    assert run("snapshot", "delete", elsewhere, "--yes").status == 0
    run("snapshot", "--via", "export").assert_refused("--export-to must be used together")


def test_a_large_table_has_a_price_and_a_question(
    run: Run, planted: Stack, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """A scan of millions of rows is not a surprise on the bill, and an export is offered."""
    table = planted.client("dynamodb").describe_table(TableName=planted.table)
    table["Table"] |= {"ItemCount": 12_000_000, "TableSizeBytes": 8_000_000_000}
    change_calls(monkeypatch, answered({"DescribeTable": table}))
    ended = run("snapshot", answer="n\n").assert_no()
    assert "12,000,000 rows: about 10 min 0 s, 0.122 USD, 4.2 GB of disk and" in ended.err
    assert "--via export costs 0.800 USD and reads nothing from the table" in ended.err
    assert not home.exists() or not list(home.iterdir())


@pytest.mark.usefixtures("planted")
def test_duplicates_are_shown_with_what_they_cost(run: Run) -> None:
    """Copies that exist, by digest; a deleted one is none, a member only on request."""
    ended = run("duplicates").assert_done()
    assert "3 × 400 B, 800 B wasted" in ended.out
    assert "gone" not in ended.out
    assert "2 groups of equal content: 805 B wasted, <0.01 USD a month" in ended.out
    assert (
        "2 groups of equal content, 1 shown (see --limit): 805 B"
        in run("duplicates", "--limit", 1, "--snapshot", "last").out
    )
    assert "is not a bucket" not in run("duplicates", BUCKET, "--min-size", 900).err
    nowhere = {"inbx": (), f"{BUCKET}/no-such/": ("--prefix", "no-such/")}
    for place, options in nowhere.items():
        bucket = place.partition("/")[0]
        other = run("duplicates", bucket, *options, "--no-listing", "--snapshot", "last")
        other.assert_refused(f"no object in the state hashed under s3://{place}")
    assert "snapshot " in ended.err
    got = run("duplicates", BUCKET, "--members", "--min-size", 5, "--snapshot", "last", "--json")
    first, second = got.document["groups"]
    assert [copy["key"] for copy in first["objects"]] == ["a/one", "a/two", "b/three"]
    assert [copy["member"] for copy in second["objects"]] == [None, None, "m"]
    assert run("duplicates", "--prefix", "b/", "--snapshot", "last").out.startswith("0 groups")
    run("snapshot")
    run("duplicates", BUCKET, "--snapshot", "last").assert_refused(
        "has no listing of s3://inbox/", "bucketsum snapshot --listing"
    )
    listed: dict[str, Any] = run("duplicates", "--listing", "--json").document
    assert {c["storage_class"] for g in listed["groups"] for c in g["objects"]} == {"STANDARD"}
    assert snapshots()[0].listed


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("package", ["duckdb", "prompt_toolkit"])
def test_without_a_package_the_command_says_how_to_install_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, home: Path, package: str
) -> None:
    """Nothing is read that no question could follow."""
    monkeypatch.setitem(sys.modules, package, None)
    run("duplicates").assert_refused("pipx inject bucketsum duckdb prompt-toolkit")
    assert not home.exists()

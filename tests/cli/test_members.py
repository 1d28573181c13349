"""`ls --members`, `show`, `find` and `check` look into archives."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.aws_calls import answered, change_calls
from tests.cli.conftest import Run
from tests.cli.deployed import (
    BUCKET,
    HOSTILE,
    HOSTILE_SHOWN,
    READ,
    hashed,
    put_and_record,
    put_object,
    record_archive,
)

from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.aws.stack import Stack


def test_members_are_listed(run: Run, stack: Stack) -> None:
    """Those of the newest version, by path, and by their beginning; nothing hides in a name."""
    record_archive(stack, {"old": b"1"})
    record_archive(stack, {"d/x": b"x", "d/y": b"yy", "e": b"", HOSTILE: b"!"}, "02")
    lines = [line.split() for line in run("ls", "--members", "a.zip").out.splitlines()]
    assert ["e", "0", "B", hashlib.sha1(b"").hexdigest()] in lines
    assert len(lines) == 5
    assert HOSTILE_SHOWN in run("ls", "--members", "a.zip").out
    ended = run("ls", "--members", "a.zip!/d/", "--json")
    assert [(item["member"], item["size_bytes"]) for item in ended.document["members"]] == [
        ("d/x", 1), ("d/y", 2),
    ]  # fmt: skip


def test_plain_listings_count_the_archive_once(run: Run, stack: Stack) -> None:
    """`show` of the key has no members among its versions."""
    record_archive(stack, {"x": b"x"})
    assert len(run("show", "a.zip", "--json").document["versions"]) == 1


def test_member_is_shown_in_each_version(run: Run, stack: Stack) -> None:
    """KEY!/PATH is what `ls --members` lists, the newest version first."""
    record_archive(stack, {"d/x": b"1"})
    newer = record_archive(stack, {"d/x": b"2"}, "02")
    rows = run("show", "a.zip!/d/x", "--json").document["versions"]
    assert [row["sha1"] for row in rows] == [
        hashlib.sha1(content).hexdigest() for content in (b"2", b"1")
    ]
    lines = [line.split() for line in run("show", "a.zip!/d/x").out.splitlines()]
    assert lines[0] == ["a.zip!/d/x"]
    assert ["version", newer] in lines
    assert run("show", "a.zip!/d/nothing").status == 1


def test_the_key_of_an_archive_is_listed_once(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for each of its members with the content, nor for each of its versions."""
    for sequencer in ("01", "02"):
        record_archive(stack, {"x": b"same", "y": b"same"}, sequencer)
    requests: list[str] = []

    def listed(request: dict[str, Any]) -> None:
        requests.append(request["Prefix"])

    change_calls(monkeypatch, answered({"ListObjectVersions": listed}))
    ended = run("find", hashlib.sha1(b"same").hexdigest())
    assert [ended.out.count(f"a.zip!/{path} ") for path in "xy"] == [2, 2]
    assert requests == ["a.zip"]
    requests.clear()
    versions = run("show", "a.zip!/x", "--json").document["versions"]
    assert ([row["state"] for row in versions], requests) == (["hashed", "hashed"], ["a.zip"])


def test_folder_is_checked_against_an_archive(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Equal only where every file is a member and every member a file."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_bytes(b"x")
    (tmp_path / "y").write_bytes(b"y")
    record_archive(stack, {"d/x": b"x", "y": b"y"})
    assert run("check", str(tmp_path), "--archive", "a.zip").status == 0
    record_archive(stack, {"d/x": b"other", "z": b"z"}, "02")
    ended = run("check", str(tmp_path), "--archive", "a.zip", "--json").assert_no()
    results = {item["key"]: item["result"] for item in ended.document["files"]}
    assert results == {"d/x": "differs", "y": "missing"}
    assert ended.document["missing"] == ["z"]


def test_archive_that_was_overwritten_or_deleted_is_not_compared(
    run: Run, stack: Stack, tmp_path: Path
) -> None:
    """Members of a version that is no longer the newest are not an answer: status 2."""
    (tmp_path / "x").write_bytes(b"x")
    record_archive(stack, {"x": b"x"})
    put_object(stack, "a.zip", b"newer")
    assert "is not recorded yet" in run("check", tmp_path, "--archive", "a.zip").err
    stack.client("s3").delete_object(Bucket=stack.bucket, Key="a.zip")
    ended = run("check", tmp_path, "--archive", "a.zip")
    assert (ended.status, "a.zip is not in the bucket" in ended.err) == (2, True)


@pytest.mark.parametrize("command", [["ls", "--members"], ["check", ".", "--archive"]])
def test_what_is_no_archive_is_refused(
    run: Run, stack: Stack, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text says what to do: status 2, it could not be done."""
    (tmp_path / "a").touch()
    monkeypatch.chdir(tmp_path)
    put_and_record(stack, "plain", b"1")
    for key, reason in (
        ("plain", "bucketsum verify inbox --missing members"),
        ("none", "`bucketsum ls` lists"),
    ):
        run(*command, key).assert_refused(reason)


def test_members_that_are_not_known_are_reported(run: Run, stack: Stack) -> None:
    """An archive that was refused says why, in JSON too, and is not called empty: status 1."""
    archive = replace(READ, status=ArchiveStatus.TOO_DENSE, reason="a bomb", members=0)
    row: Row = hashed(RowKey(BUCKET, "a.zip", "v1"), b"zip", archive=archive)
    stack.digests_table().record(row)
    ended = run("ls", "--members", "a.zip")
    assert (ended.status, "a bomb" in ended.err, "empty" in ended.err) == (1, True, False)
    ended = run("ls", "--members", "a.zip", "--json")
    assert (ended.status, ended.document) == (
        1,
        {"archive": "a.zip", "archive_status": "too-dense", "archive_reason": "a bomb",
         "members": [], "complete": False},
    )  # fmt: skip


def test_members_without_a_row_are_reported(run: Run, stack: Stack, tmp_path: Path) -> None:
    """The archive's row counts its members: fewer rows are status 1, in `ls` and in `check`."""
    (tmp_path / "x").write_bytes(b"x")
    record_archive(stack, {"x": b"x", "y": b"y"})
    assert run("ls", "--members", "a.zip").status == 0
    assert run("check", tmp_path, "--archive", "a.zip").status == 1  # y
    record_archive(stack, {"x": b"x"}, "02", lost=1)
    for command in (["ls", "--members", "a.zip"], ["check", tmp_path, "--archive", "a.zip"]):
        ended = run(*command)
        assert (ended.status, "1 member of a.zip without a row" in ended.err) == (1, True)
    assert run("ls", "--members", "a.zip!/x").status == 0  # no promise about all


def test_odd_names_are_each_a_member(run: Run, stack: Stack, tmp_path: Path) -> None:
    """An empty name can be shown, and `./a` is not mistaken for `a` where both are there."""
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    record_archive(stack, {"a": b"a", "./a": b"other", "./b": b"b", "": b"nameless"})
    [row] = run("show", "a.zip!/", "--json").document["versions"]
    assert row["sha1"] == hashlib.sha1(b"nameless").hexdigest()
    ended = run("check", tmp_path, "--archive", "a.zip", "--json")
    assert {item["key"]: item["result"] for item in ended.document["files"]} == {
        "a": "equal", "b": "equal",
    }  # fmt: skip
    assert ended.document["missing"] == ["", "./a"]

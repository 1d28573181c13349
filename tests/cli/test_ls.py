"""`bucketsum ls`: what is in the bucket beside what is recorded of it."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from tests.cli.conftest import Run
from tests.cli.deployed import (
    BUCKET,
    HOSTILE,
    HOSTILE_SHOWN,
    hashed,
    put_and_record,
    put_object,
    record_deletion,
    unreadable,
)

from bucketsum.hashing.verification import mark
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack


def test_object_is_shown_with_what_is_recorded_of_it(run: Run, stack: Stack) -> None:
    """Hashed, waiting or unreadable: every object is in one of the three, with its reason."""
    row = put_and_record(stack, "a/hashed", b"x" * 2500)
    mark(stack.digests_table(), row, row)
    put_object(stack, "b/waiting", b"")
    locked = put_object(stack, "c/locked", b"z")
    stack.digests_table().record(unreadable(locked, b"z", "archived in Glacier; restore it"))
    first, second, third = run("ls", "--json").document
    assert first == {
        "key": "a/hashed",
        "version": row.entry,
        "latest": True,
        "size_bytes": 2500,
        "etag": row.etag,
        "created_at": first["created_at"],
        "status": "hashed",
        "sha1": hashlib.sha1(b"x" * 2500).hexdigest(),
        "mb_per_s": 12.5,
        "recorded_at": "2026-11-20T10:00:01.250Z",
        "reason": None,
        "verified_at": first["verified_at"],
        "differs_at": None,
    }
    assert first["verified_at"] > "2026-11-20"
    assert (second["key"], second["status"], second["sha1"]) == (
        "b/waiting",
        "not hashed yet",
        None,
    )
    assert (third["status"], third["reason"]) == ("unreadable", "archived in Glacier; restore it")
    table = run("ls").out
    assert "2.5 kB" in table
    assert max(map(len, table.splitlines())) < 110
    assert "unreadable: archived in Glacier; restore it (c/locked)" in run("ls").err
    assert "2026-11-20 10:00:01" in table


def test_prefix_limits_what_is_listed(run: Run, stack: Stack) -> None:
    """A prefix is of the key, not of a folder."""
    for key in ("a1", "a2", "b1"):
        put_object(stack, key, b"")
    assert [version["key"] for version in run("ls", "a", "--json").document] == ["a1", "a2"]


@pytest.mark.usefixtures("stack")
def test_nothing_to_list_is_told_and_is_no_failure(run: Run) -> None:
    """An empty bucket is an answer; what was asked for is shown as text."""
    assert (run("ls").status, run("ls").out) == (0, "")
    assert "the bucket is empty" in run("ls").err
    assert r"begins with x\x9b2J" in run("ls", "x\x9b2J").err
    assert run("ls", "--json").document == []


def test_only_what_a_reader_gets_is_listed(run: Run, stack: Stack) -> None:
    """Overwritten versions and deleted objects are left out."""
    put_and_record(stack, "twice", b"one", "01")
    latest = put_and_record(stack, "twice", b"two", "02")
    put_object(stack, "deleted", b"")
    stack.client("s3").delete_object(Bucket=BUCKET, Key="deleted")
    (version,) = run("ls", "--json").document
    assert (version["version"], version["sha1"]) == (latest.entry, latest.sha1)


def test_all_versions_are_told_apart(run: Run, stack: Stack) -> None:
    """Each version has its own digest."""
    rows = [put_and_record(stack, "twice", text, f"0{n}") for n, text in enumerate((b"1", b"2"))]
    shown = run("ls", "--all-versions", "--json").document
    assert {(version["version"], version["sha1"]) for version in shown} == {
        (row.entry, row.sha1) for row in rows
    }
    table = run("ls", "--all-versions").out
    assert all(row.entry in table and (row.sha1 or "?") in table for row in rows)


def test_bucket_without_versions_shows_no_digest_of_what_was_there_before(
    run: Run, stack: Stack
) -> None:
    """All objects of a key have one place there: the entity tag tells whose row it is."""
    stack.client("s3").delete_bucket(Bucket=BUCKET)
    stack.client("s3").create_bucket(Bucket=BUCKET)
    put_object(stack, "key", b"now")
    stack.digests_table().record(hashed(RowKey(BUCKET, "key", "null"), b"before", "01"))
    assert [version["status"] for version in run("ls", "--json").document] == ["not hashed yet"]
    now = hashed(RowKey(BUCKET, "key", "null"), b"now", "02")
    stack.digests_table().record(replace(now, recorded_at="2026-11-20T11:00:00.000+00:00"))
    assert [version["status"] for version in run("ls", "--json").document] == ["hashed"]
    record_deletion(stack, RowKey(BUCKET, "key", "null"))
    assert [version["status"] for version in run("ls", "--json").document] == ["not hashed yet"]


def test_more_than_a_page_is_listed_once_each(run: Run, stack: Stack) -> None:
    """S3 lists 1,000 at a time, a table is laid out in pieces: none is lost and one heading."""
    assert stack.bucket == BUCKET
    keys = [f"{n:04}" for n in range(1001)]
    for key in keys:  # past the client, which takes 50 times as long
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(BUCKET, key, b"")
    assert [version["key"] for version in run("ls", "--json").document] == keys
    heading, *lines = run("ls").out.splitlines()
    assert heading.startswith("key")
    assert [line.split()[0] for line in lines] == keys


def test_keys_are_shown_as_text_and_kept_exact_in_json(run: Run, stack: Stack) -> None:
    """Nothing in a key colours, moves or clears anything; JSON has it as it is."""
    put_object(stack, HOSTILE, b"")
    assert run("ls").out.splitlines()[1].startswith(HOSTILE_SHOWN)
    ended = run("ls", "--json")
    assert ended.document[0]["key"] == HOSTILE
    assert ended.out.isascii()


@pytest.mark.parametrize("option", [[], ["--all-versions"]])
@pytest.mark.parametrize("columns", [40, 80, 110, 200])
def test_terminal_of_any_width_shows_the_digest_whole(
    run: Run, stack: Stack, terminal: Callable[[int], None], columns: int, option: list[str]
) -> None:
    """Keys and versions are folded where there is no room, digests never."""
    terminal(columns)
    row = put_and_record(stack, "key/" * 30, b"x")
    out = run("ls", *option).out
    assert row.sha1
    assert row.sha1 in out
    plain = out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert max(map(len, plain.splitlines())) <= max(columns, 80)
    assert ("2026-11-20 10:00:01" in out) == (columns >= 110)


def test_a_key_can_be_named_with_its_bucket(run: Run, stack: Stack) -> None:
    """`s3://BUCKET/KEY` is accepted for keys and prefixes, and never for two buckets."""
    put_and_record(stack, "a/b", b"x")
    assert [v["key"] for v in run("ls", f"s3://{BUCKET}/a", "--json").document] == ["a/b"]
    assert run("show", f"s3://{BUCKET}/a/b", "--json").document["key"] == "a/b"
    assert run("ls", "--bucket", f"s3://{BUCKET}/").status == 0
    assert run("ls", f"S3://{BUCKET}").out == run("ls").out
    run("show", f"s3://{BUCKET}/a/b", "--bucket", "other").assert_refused("not in the bucket other")
    run("ls", "--bucket", "s3://").assert_refused("has no bucket")
    run("ls", "s3://").assert_refused("has no bucket")
    run("show", f"s3://{BUCKET}/").assert_refused("has no key")
    run("check", "--archive", f"s3://{BUCKET}", __file__).assert_refused("has no key")

"""`bucketsum show`: everything that is recorded of one key."""

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record, unreadable

from bucketsum.table.row_parts import Difference
from bucketsum.table.rows import RowKey
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum_cli.aws.stack import Stack


def test_every_version_is_shown_with_all_that_is_known_the_newest_first(
    run: Run, stack: Stack
) -> None:
    """JSON has every attribute that a row has; the schema says which there can be."""
    old = hashed(RowKey(BUCKET, "key", "v1"), b"old", "01", digests={"sha256": "ab"})
    new = unreadable(RowKey(BUCKET, "key", "v2"), b"new", "access denied", "02")
    for row in (old, new):
        stack.digests_table().record(row)
    ended = run("show", "key", "--json").assert_done()
    assert ended.document == {
        "bucket": BUCKET,
        "key": "key",
        "versions": [
            dict.fromkeys(shown)
            | {
                "bucket": BUCKET,
                "key": "key",
                "version": row.entry,
                "status": row.status,
                "state": "lost",
                "size_bytes": 3,
                "sequencer": comparable_sequencer(row.sequencer),
                "created_at": "2026-11-20T10:00:00.000Z",
                "recorded_at": "2026-11-20T10:00:01.250Z",
                "etag": row.etag,
                "sha1": row.sha1,
                "digests": row.digests,
                "reason": row.reason,
                "duration_ms": row.timing and 1000.0,
                "mb_per_s": row.timing and 12.5,
                "remarks": [],
            }
            for row, shown in zip((new, old), ended.document["versions"], strict=True)
        ],
        "is_listed": False,
        "in_progress": [],
    }


def test_text_names_what_is_known_and_leaves_out_what_is_not(run: Run, stack: Stack) -> None:
    """A reader sees version, digests and reason, not a list of empty names."""
    stack.digests_table().record(
        hashed(RowKey(BUCKET, "key", "v1"), b"1", digests={"sha256": "abcd"})
    )
    lines = [line.split() for line in run("show", "key").out.splitlines()]
    assert lines[0] == ["key"]
    assert ["version", "v1"] in lines
    assert ["sha256", "abcd"] in lines
    assert not [line for line in lines if line[0] in ("reason", "memory_mb", "digests", "entry")]


@pytest.mark.usefixtures("stack")
def test_nothing_recorded_is_a_no(run: Run) -> None:
    """Exit status 1, a hint for a person, and an empty list for a program."""
    ended = run("show", "none\x1b[31m")
    assert (ended.status, ended.out) == (1, "")
    assert r"nothing is recorded for none\x1b[31m" in ended.err
    ended = run("show", "none", "--json").assert_no()
    assert ended.document["versions"] == []


def test_a_delete_marker_is_not_kept_back(run: Run, stack: Stack) -> None:
    """The versions still exist; that the bucket does not list the key any more is said."""
    put_and_record(stack, "key2", b"a longer key with the same beginning")
    stack.digests_table().record(hashed(RowKey(BUCKET, "key", "v1"), b"old"))
    hidden = run("show", "key").assert_done()
    assert f"{BUCKET} does not list key: it is deleted, or behind a delete marker" in hidden.err
    assert run("show", "key", "--json").document["is_listed"] is False
    assert "does not list" not in run("show", "key2").err
    assert run("show", "key2", "--json").document["is_listed"] is True


def test_copies_of_a_damaged_object_are_looked_for_everywhere(run: Run, stack: Stack) -> None:
    """The good copy may be in another bucket: the next step names none, but keeps the stack."""
    difference = Difference("sha1:" + "0" * 40, "2026-11-21T10:00:00.000Z")
    row = hashed(RowKey(BUCKET, "key", "v1"), b"good", difference=difference)
    stack.digests_table().record(row)
    shown = run("show", "key", "--bucket", BUCKET, "--region", "us-east-1").out
    assert f"`bucketsum find {row.sha1} --region us-east-1`" in " ".join(shown.split())

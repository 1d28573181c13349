"""The hasher through its handler: objects that can be hashed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.hasher.log_lines import objects_in, outcomes_in
from tests.support.events import BUCKET, TEST_EVENT, message_of
from tests.support.sha1 import sha1_of

if TYPE_CHECKING:
    from tests.integration.hasher.hasher_stack import HasherStack


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("a.bin", b"content"),
        ("empty", b""),
        ("dir/with space+plus%25 ünïcode 🙂.bin", b"x" * 100_000),
    ],
)
def test_what_lands_is_hashed(stack: HasherStack, key: str, body: bytes) -> None:
    """Outcome hashed: a row under the decoded key, with the digest that hashlib computes."""
    assert stack.deliver(message_of(stack.put(key, body))) == []
    row = stack.rows()[key, "null"]
    assert (row["object"], row["status"]) == (f"{BUCKET}/{key}", "hashed")
    assert (row["sha1"], row["size_bytes"]) == (sha1_of(body), str(len(body)))
    assert (row["chunk_bytes"], row["streams"], row["memory_mb"]) == ("65536", "1", "512")


def test_extra_digests_are_recorded(stack: HasherStack) -> None:
    """Configured algorithms are computed in the same pass and stored beside the SHA-1."""
    stack.load(EXTRA_ALGORITHMS="md5,sha256")
    stack.deliver(message_of(stack.put("a", b"content")))
    row = stack.rows()["a", "null"]
    assert row["digest_md5"] == hashlib.md5(b"content", usedforsecurity=False).hexdigest()
    assert row["digest_sha256"] == hashlib.sha256(b"content").hexdigest()


def test_the_test_event_costs_nothing(stack: HasherStack) -> None:
    """The message that S3 sends on set-up is success, without a request to anybody."""
    assert stack.deliver(json.dumps(TEST_EVENT)) == []
    assert stack.requests == ()
    assert stack.dead_letters() == {}


def test_a_deleted_object_is_gone(stack: HasherStack, capsys: pytest.CaptureFixture[str]) -> None:
    """Outcome gone: success, no row, a line in the log."""
    arrival = stack.put("a", b"content")
    stack.s3.delete_object(Bucket=BUCKET, Key="a")
    assert stack.deliver(message_of(arrival)) == []
    assert stack.rows() == {}
    [line] = objects_in(capsys.readouterr().out)
    assert (line["outcome"], line["key"]) == ("gone", "a")
    assert "NoSuchKey" in line["reason"]


def test_an_overwritten_object_is_superseded(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome superseded, without versions: the row is the successor's, whoever comes first."""
    first, second = stack.put("a", b"first"), stack.put("a", b"second")
    assert stack.deliver(message_of(second), message_of(first)) == []
    assert stack.rows()["a", "null"]["sha1"] == sha1_of(b"second")
    assert outcomes_in(capsys.readouterr().out) == ["hashed", "superseded"]


def test_an_object_in_glacier_is_unreadable(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome unreadable: success, and a row that tells to restore it."""
    arrival = stack.put("a", b"content")
    stack.s3.put_object(Bucket=BUCKET, Key="a", Body=b"content", StorageClass="GLACIER")
    assert stack.deliver(message_of(arrival)) == []
    row = stack.rows()["a", "null"]
    assert (row["status"], "sha1" in row) == ("unreadable", False)
    assert "restore it" in row["reason"]
    assert outcomes_in(capsys.readouterr().out) == ["unreadable"]


def test_a_duplicate_is_unchanged(stack: HasherStack, capsys: pytest.CaptureFixture[str]) -> None:
    """Outcome unchanged: a message that is delivered twice leaves the row as it was."""
    message = message_of(stack.put("a", b"content"))
    stack.deliver(message)
    rows = stack.rows()
    assert stack.deliver(message) == []
    assert stack.rows() == rows
    assert outcomes_in(capsys.readouterr().out) == ["hashed", "unchanged"]

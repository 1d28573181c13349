"""The hasher through its handler: objects that can be hashed."""

from __future__ import annotations

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.support.events import BUCKET, message_of
from tests.support.sha1 import sha1_of


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

"""Rows to record; each test has keys of its own."""

import hashlib
import uuid
from typing import Any, Final

from bucketsum.events.version import NULL
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import comparable_sequencer

BUCKET: Final = "inbox"


def fresh_key() -> str:
    """A key that no other test and no other example uses."""
    return f"folder/{uuid.uuid4().hex}"


def fresh_sha1() -> str:
    """The digest of content that no other test has."""
    return hashlib.sha1(uuid.uuid4().bytes, usedforsecurity=False).hexdigest()


def row(key: str, sequencer: str, **fields: Any) -> Row:  # noqa: ANN401 - any field of a row
    """A hashed row, with *fields* changed."""
    given = {
        "bucket": BUCKET,
        "entry": NULL.entry,
        "status": Status.HASHED,
        "size_bytes": 1024,
        "arrived_at": "2026-11-20T10:00:00.000Z",
        "recorded_at": "2026-11-20T10:00:01.000+00:00",
        "etag": "d41d8cd98f00b204e9800998ecf8427e",
        "sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        **fields,
    }
    return Row(key=key, sequencer=comparable_sequencer(sequencer), **given)


def unreadable(key: str, sequencer: str, reason: str = "archived") -> Row:
    """A row of an object that could not be read."""
    return row(key, sequencer, status=Status.UNREADABLE, sha1=None, reason=reason)


def place(of: Row) -> RowKey:
    """Where a row is kept."""
    return RowKey(of.bucket, of.key, of.entry)

"""Events of objects that have a row, for another reading."""

from __future__ import annotations

import json

from bucketsum.events.object_events import ObjectCreated
from bucketsum.table.rows import Row


def created_of(row: Row) -> ObjectCreated:
    """Return the event of the object with *row*."""
    return ObjectCreated(
        bucket=row.bucket,
        key=row.key,
        version_id=row.version.id,
        etag=row.etag or None,
        size_bytes=row.size_bytes,
        sequencer=row.sequencer,
        event_time=row.arrived_at,
    )


def event_body(row: Row) -> str:
    """Return the message that lets the object with *row* be hashed again."""
    return json.dumps(created_of(row).message("bucketsum.redrive"))

"""Rows of objects that were read, or could not be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bucketsum.clock import now
from bucketsum.errors import ObjectArchived, ObjectUnreadable
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version
from bucketsum.table.event_order import SECONDS
from bucketsum.table.row_parts import Deletion, ReadSetup, Timing
from bucketsum.table.rows import Row, Status

if TYPE_CHECKING:
    from bucketsum.hashing.result import ReadObject
    from bucketsum.settings import Settings


def hashed_row(read: ReadObject, settings: Settings) -> Row:
    """The row of *read*, as of now."""
    created = read.job.created
    return Row(  # not a changed copy: that takes three times as long
        bucket=created.bucket,
        key=created.key,
        entry=Version(created.version_id).entry,
        status=Status.HASHED,
        size_bytes=read.digest.size_bytes,
        sequencer=created.sequencer,
        arrived_at=created.event_time,
        recorded_at=now(),
        etag=read.etag,
        sha1=read.digest.sha1,
        digests=read.digest.extra,
        remarks=read.summary.remarks if read.summary else (),
        archive=read.summary,
        compared=read.compared,
        timing=Timing(read.measurement.seconds * 1000, read.measurement.mb_per_s),
        setup=ReadSetup(settings.chunk_bytes, read.streams, settings.memory_mb),
    )


def refused_row(created: ObjectCreated, error: ObjectUnreadable, settings: Settings) -> Row:
    """The row of an object that S3 refused to send, as of now."""
    if isinstance(error, ObjectArchived):
        row = _row_of_event(created, Status.ARCHIVED)
        return replace(row, reason=str(error), storage_class=error.storage_class)
    return unreadable_row(created, str(error), settings)


def unreadable_row(created: ObjectCreated, reason: str, settings: Settings | None) -> Row:
    """The row of an object that was not read because of *reason*, as of now."""
    setup = ReadSetup(settings.chunk_bytes, 1, settings.memory_mb) if settings else None
    return replace(_row_of_event(created, Status.UNREADABLE), reason=reason, setup=setup)


def is_newer(row: Row, seen: Row | Deletion | None) -> bool:
    """Whether *row* is newer than *seen* by S3's times, or is about the same object.

    LastModified has whole seconds, and is never later than the object's event.
    """
    if seen is None:
        return True
    is_same = isinstance(seen, Row) and seen.etag == row.etag and not seen.deletion
    moment = seen.at if isinstance(seen, Deletion) else seen.changed_at
    return is_same or moment[:SECONDS] < row.arrived_at[:SECONDS]


def _row_of_event(created: ObjectCreated, status: Status) -> Row:
    """A row of *created* from its event alone, recorded now."""
    return Row(
        bucket=created.bucket,
        key=created.key,
        entry=Version(created.version_id).entry,
        status=status,
        size_bytes=created.size_bytes,
        sequencer=created.sequencer,
        arrived_at=created.event_time,
        recorded_at=now(),
        etag=created.etag,
    )

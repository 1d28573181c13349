"""Endings of long objects, by their progress and their row."""

from __future__ import annotations

from dataclasses import replace

from bucketsum.hashing.ending import Ending, Purpose
from bucketsum.hashing.object_rows import unreadable_row
from bucketsum.hashing.recording import Recording
from bucketsum.hashing.verification import Verification
from bucketsum.long_objects.progress import Progress
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.rows import Row


def ending_of(progress: Progress, table: DigestsTable) -> Ending:
    """Choose the ending of *progress*, by its row now.

    Without a recorded row of the same content, a verification records what it reads.
    """
    if progress.purpose is Purpose.VERIFY and (recorded := _recorded_row(table, progress)):
        return Verification(recorded, progress.started_at)
    return recording_of(progress)


def recording_of(progress: Progress) -> Recording:
    """The recording of *progress*.

    S3 had the object when it was handed over, so it is newer than the row that it replaces.
    """
    if progress.replaces_etag is None:
        return Recording()
    seen = unreadable_row(replace(progress.created, event_time=""), "", None)
    return Recording(replace(seen, etag=progress.replaces_etag or None))


def _recorded_row(table: DigestsTable, progress: Progress) -> Row | None:
    row = table.row_at(progress.row_key, consistent=True)
    return row if row and row.has_digest_of(progress.etag) else None

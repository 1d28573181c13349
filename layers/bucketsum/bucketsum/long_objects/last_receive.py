"""The last receive of a slice's message: an object that S3 did not send cannot be verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.hashing.verification import UNREAD, mark_refused
from bucketsum.long_objects.long_object_rows import recorded_row
from bucketsum.long_objects.slicer import SliceReport

if TYPE_CHECKING:
    from bucketsum.long_objects.progress import Progress
    from bucketsum.long_objects.progress_table import ProgressTable
    from bucketsum.table.digests_table import DigestsTable


def ended_unread(
    table: DigestsTable, progress_table: ProgressTable, message: Progress, error: Exception
) -> SliceReport | None:
    """End the verification of *message* with *error*, as unreadable; None if it is none.

    Raises:
        ClientError: DynamoDB refused.
    """
    if not isinstance(error, UNREAD):
        return None
    progress = progress_table.at(message.row_key)
    if progress is None or (progress.etag, progress.offset) != (message.etag, message.offset):
        return None
    recorded = recorded_row(table, progress)
    if recorded is None:
        return None
    outcome = mark_refused(table, recorded, error)
    progress_table.remove_progress(progress)
    return SliceReport(outcome, message, progress, reason=str(error))

"""The last receive of a slice's message: an object that S3 did not send cannot be verified."""

from __future__ import annotations

from bucketsum.hashing.ending import given_up
from bucketsum.long_objects.long_object_rows import ending_of
from bucketsum.long_objects.progress import Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_result import SliceReport
from bucketsum.table.digests_table import DigestsTable


def ended_unread(
    table: DigestsTable, progress_table: ProgressTable, message: Progress, error: Exception
) -> SliceReport | None:
    """End the verification of *message* with *error*, as unreadable; None if it is none.

    Raises:
        ClientError: DynamoDB refused.
    """
    progress = progress_table.at(message.row_key)
    if progress is None or (progress.etag, progress.offset) != (message.etag, message.offset):
        return None
    end = given_up(ending_of(progress, table), table, progress.created, error)
    if end is None:
        return None
    progress_table.remove_progress(progress)
    return SliceReport(end.outcome, message, progress, reason=end.reason)

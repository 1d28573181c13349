"""Rows of long objects: recorded, or put in the place of the row that they replace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bucketsum.digests_table import WriteResult

if TYPE_CHECKING:
    from bucketsum.digest_rows import Row
    from bucketsum.digests_table import DigestsTable
    from bucketsum.long_objects.progress import Progress


def record_row(table: DigestsTable, progress: Progress, row: Row) -> WriteResult:
    """Write *row*, the object's of *progress*, as its hasher would.

    Raises:
        ClientError: DynamoDB refused.
    """
    if progress.replaces_etag is not None:
        seen = replace(row, etag=progress.replaces_etag or None)
        if (result := table.replace(row, seen)) is not WriteResult.DUPLICATE:
            return result  # else it was replaced before, perhaps by a reason
    return table.record(row)

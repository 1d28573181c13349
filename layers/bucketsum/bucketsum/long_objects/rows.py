"""Rows of long objects: write a new row, or replace an old one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.archives.values import ArchiveStatus
from bucketsum.digest_rows import ArchiveRecord, Status, Timing
from bucketsum.digests_table import WriteResult
from bucketsum.measure import Measurement
from bucketsum.object_rows import row_of_event

if TYPE_CHECKING:
    from bucketsum.digest import Digest
    from bucketsum.digest_rows import ReadSetup, Row
    from bucketsum.digests_table import DigestsTable
    from bucketsum.long_objects.progress import Progress

MEMBERS_NOT_READ: Final = "the archive is too large for one invocation: only it itself was hashed"


def hashed_row(progress: Progress, digest: Digest, setup: ReadSetup) -> Row:
    """The row of an object whose last slice was read, as of now."""
    whole = Measurement(progress.size_bytes, progress.seconds)
    mode = progress.archive_mode
    return replace(
        row_of_event(progress.created, Status.HASHED),
        setup=setup,
        sha1=digest.sha1,
        digests=digest.extra,
        timing=Timing(whole.seconds * 1000, whole.mb_per_s),
        archive=ArchiveRecord(
            ArchiveStatus.OUT_OF_TIME, mode, 0, 0, 0, 0, 0.0, reason=MEMBERS_NOT_READ
        ) if mode else None,
    )  # fmt: skip


def unreadable_row(progress: Progress, reason: str, setup: ReadSetup | None = None) -> Row:
    """The row of an object whose slices ended because of *reason*, as of now."""
    row = row_of_event(progress.created, Status.UNREADABLE)
    return replace(row, reason=reason, setup=setup)


def record_row(table: DigestsTable, progress: Progress, row: Row) -> WriteResult:
    """Write *row*, the result of *progress*, under the same conditions as the hasher.

    Raises:
        ClientError: DynamoDB refused.
    """
    if progress.replaces_etag is not None:
        seen = replace(row, etag=progress.replaces_etag or None)
        if (result := table.replace(row, seen)) is not WriteResult.DUPLICATE:
            return result  # else it was replaced before, perhaps by a reason
    return table.record(row)

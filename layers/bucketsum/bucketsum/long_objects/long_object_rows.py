"""Rows of long objects: write a new row, or replace an old one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.algorithms import SHA1
from bucketsum.hashing import object_rows
from bucketsum.hashing.job import Job, Purpose
from bucketsum.hashing.result import ReadObject
from bucketsum.measure import Measurement
from bucketsum.table.archive_values import ArchiveStatus
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord
from bucketsum.table.rows import Status

if TYPE_CHECKING:
    from bucketsum.checksums.comparison import Witness
    from bucketsum.digest import Digest
    from bucketsum.long_objects.progress import Progress
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable
    from bucketsum.table.rows import Row

MEMBERS_NOT_READ: Final = "the archive is too large for one invocation: only it itself was hashed"


def row_of_long_object(progress: Progress, digest: Digest, streams: int, settings: Settings) -> Row:
    """The row of an object after its last slice, recorded now; *streams* read that slice."""
    whole = Measurement(progress.size_bytes, progress.seconds)
    read = ReadObject(Job(progress.created), progress.etag, digest, whole, streams)
    row = object_rows.hashed_row(read, settings)
    if (mode := progress.archive_mode) is None:
        return row
    status = ArchiveStatus.OUT_OF_TIME
    archive = ArchiveRecord(status, mode, 0, 0, 0, 0, 0.0, reason=MEMBERS_NOT_READ)
    return replace(row, archive=archive)


def with_witness(row: Row, witness: Witness | None) -> Row:
    """Add to *row* what the *witness* says after the last slice."""
    digests = {SHA1.name: row.sha1 or "", **row.digests}
    return replace(row, compared=witness.compared(digests)) if witness else row


def recorded_row(table: DigestsTable, progress: Progress) -> Row | None:
    """The row that a verification compares, if there is still one of the same content."""
    if progress.purpose is not Purpose.VERIFY:
        return None
    row = table.row_at(progress.row_key, consistent=True)
    if row is None or row.status is not Status.HASHED or row.deletion:
        return None
    is_same = row.etag == progress.etag or not row.version.is_null
    return row if is_same else None


def record_row(table: DigestsTable, progress: Progress, row: Row) -> Outcome:
    """Write *row*, the result of *progress*, under the same conditions as the hasher.

    Raises:
        ClientError: DynamoDB refused.
    """
    if progress.replaces_etag is not None:
        seen = replace(row, etag=progress.replaces_etag or None)
        if (result := table.replace(row, seen)) is not Outcome.UNCHANGED:
            return result  # else it was replaced before, perhaps by a reason
    return table.record(row)

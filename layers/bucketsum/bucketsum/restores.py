"""A restored object → its outcome; imported when the first one arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.digest_rows import Status, row_key_of
from bucketsum.hashing import HashResult, Outcome
from bucketsum.notifications import ObjectCreated

if TYPE_CHECKING:
    from bucketsum.deadline import Deadline
    from bucketsum.digest_rows import Row
    from bucketsum.digests_table import DigestsTable
    from bucketsum.hashing import ObjectHasher
    from bucketsum.notifications import ObjectRestored


def hash_restored(
    restored: ObjectRestored, table: DigestsTable, hasher: ObjectHasher, deadline: Deadline
) -> HashResult:
    """Hash *restored* if its row is unreadable, as the event of its creation would.

    Raises:
        Retryable: It could not be read to its end this time.
        ClientError: DynamoDB refused.
    """
    row = table.row_at(row_key_of(restored))
    if row is None or row.status is not Status.UNREADABLE or not _is_same(row, restored):
        return HashResult(restored, Outcome.UNCHANGED)
    created = ObjectCreated(
        bucket=row.bucket,
        key=row.key,
        version_id=restored.version_id,
        etag=row.etag,
        size_bytes=row.size_bytes,
        sequencer=row.sequencer,
        event_time=row.arrived_at,
    )
    return hasher.hash(created, deadline)


def _is_same(row: Row, restored: ObjectRestored) -> bool:
    return None in (row.etag, restored.etag) or row.etag == restored.etag

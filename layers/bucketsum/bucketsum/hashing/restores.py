"""A restored object → its outcome; imported when the first one arrives."""

from __future__ import annotations

from dataclasses import replace

from bucketsum.errors import DamagedRow
from bucketsum.events.object_events import ObjectCreated, ObjectRestored
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.result import HashResult
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row, Status, row_key_of
from bucketsum.table.sequencer import NO_SEQUENCER


def hash_restored(
    restored: ObjectRestored, table: DigestsTable, hasher: ObjectHasher, deadline: Deadline
) -> HashResult:
    """Hash *restored* if its row has no digest, or if nothing is recorded for it.

    With a recorded deletion and no row, nothing is read: the deletion may be of another object.

    Raises:
        Retryable: It could not be read to its end this time.
        ClientError: DynamoDB refused.
        DamagedRow: Another program changed its row.
    """
    row_key = row_key_of(restored)
    record = table.records_at([row_key]).get(row_key)
    if isinstance(record, DamagedRow):
        raise record
    version = restored.bucket, restored.key, restored.version_id
    if record is None:
        content = restored.etag, restored.size_bytes
        created = ObjectCreated(*version, *content, NO_SEQUENCER, restored.event_time)
    elif (
        isinstance(record, Row)
        and record.status is not Status.HASHED
        and record.is_of(restored.etag)
    ):
        content = restored.etag or record.etag, restored.size_bytes
        created = ObjectCreated(*version, *content, record.sequencer, record.arrived_at)
    else:
        return HashResult(restored, Outcome.UNCHANGED)
    return replace(hasher.hash(Job(created), deadline), event=restored)

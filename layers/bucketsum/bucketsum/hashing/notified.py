"""Handle tasks: objects that were created, deleted or restored, and those that were listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bucketsum.errors import DamagedRow
from bucketsum.events.object_events import ObjectDeleted
from bucketsum.hashing.job import Job, State, Task
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.result import HashResult, ReadObject
from bucketsum.hashing.small_objects import SmallObjectHasher
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.digests_table import DigestsTable


@dataclass(frozen=True, slots=True)
class NotifiedHasher:
    """Handles tasks; the `TaskHasher` of both queues.

    Attributes:
        small: Hashes small objects at the same time; None if only botocore reads.
    """

    hasher: ObjectHasher
    table: DigestsTable
    small: SmallObjectHasher | None

    def begin(
        self, tasks: Sequence[Task | HashResult], deadline: Deadline
    ) -> Sequence[State | HashResult]:
        """See `SmallObjectHasher.begin` for the contract."""
        return self.small.begin(tasks, deadline) if self.small else tasks

    def hash(self, task: State, deadline: Deadline) -> HashResult:
        """Hash the object of *task*, or record its deletion; raises the error of a damaged row."""
        if isinstance(task, Job | ReadObject):
            return self.hasher.hash(task, deadline)
        if isinstance(task, DamagedRow):
            raise task
        if isinstance(task, ObjectDeleted):
            from bucketsum.hashing.deletions import record_deletion  # noqa: PLC0415 - rare

            return record_deletion(task, self.table, deadline)
        from bucketsum.hashing.restores import hash_restored  # noqa: PLC0415 - rare

        return hash_restored(task, self.table, self.hasher, deadline)

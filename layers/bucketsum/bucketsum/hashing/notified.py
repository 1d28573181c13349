"""Handle the events that S3 sends: created, deleted, restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum.events.object_events import ObjectCreated, ObjectDeleted

if TYPE_CHECKING:
    from bucketsum.events.object_events import ObjectEvent
    from bucketsum.hashing.object_hasher import ObjectHasher
    from bucketsum.hashing.result import HashResult, ReadObject
    from bucketsum.hashing.small_objects import SmallObjectHasher
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.table.digests_table import DigestsTable


@dataclass(frozen=True, slots=True)
class NotifiedHasher:
    """Handles notified events; the `EventHasher` of the arrivals queue.

    Attributes:
        small: Hashes small objects at the same time; None if only botocore reads.
    """

    hasher: ObjectHasher
    table: DigestsTable
    small: SmallObjectHasher | None

    def begin(
        self, events: Mapping[int, ObjectEvent], deadline: Deadline
    ) -> Mapping[int, HashResult | ReadObject]:
        """See `SmallObjectHasher.begin` for the contract."""
        return self.small.begin(events, deadline) if self.small else {}

    def record(self, read: ReadObject) -> HashResult:
        """See `ObjectHasher.record` for the contract."""
        return self.hasher.record(read)

    def hash(self, event: ObjectEvent, deadline: Deadline) -> HashResult:
        """Hash the object of *event*, or record its deletion."""
        if isinstance(event, ObjectCreated):
            return self.hasher.hash(event, deadline)
        if isinstance(event, ObjectDeleted):
            from bucketsum.hashing.deletions import record_deletion  # noqa: PLC0415 - rare

            return record_deletion(event, self.table, deadline)
        from bucketsum.hashing.restores import hash_restored  # noqa: PLC0415 - rare

        return hash_restored(event, self.table, self.hasher, deadline)

"""Records of a backfill: the run, its parts with their positions, and its counts by outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import add, attrgetter
from typing import Final

from bucketsum.backfill.selection import Selection
from bucketsum.hashing.ending import Purpose
from bucketsum.table.outcome import Outcome
from bucketsum.table.stored_fields import NOT_STORED, stored


class BackfillStatus(StrEnum):
    """State of a backfill."""

    RUNNING = "running"
    """Its objects are being listed and queued."""
    QUEUED = "queued"
    """All of its objects were queued; the last may still be waiting to be hashed."""
    STOPPED = "stopped"
    """A person stopped it; it can be resumed."""
    FAILED = "failed"
    """It could not go on, and its `failure` says why; it can be resumed."""


_NAMES: Final = stored(
    read=lambda text: tuple(text.split(",")), write=lambda names: ",".join(names) or None
)


@dataclass(frozen=True, slots=True)
class Backfill:
    """One run of a backfill.

    Attributes:
        backfill_id: Its ID; it sorts by the time it was started.
        bucket: Bucket whose objects are hashed.
        status: State of its listing.
        started_at: When it was started; ISO 8601 UTC.
        prefix: Beginning of the keys; None for all.
        all_versions: Whether overwritten versions are hashed too.
        inventory: URL of the manifest of an S3 inventory; None if the bucket is listed.
        limit: Most objects to queue; None for all.
        archived: Whether objects of GLACIER and DEEP_ARCHIVE are hashed too.
        purpose: With ``verify``, objects that are recorded are read again.
        older_than: Only objects recorded and verified before, ISO 8601 UTC; None for all.
        missing: Only rows that lack this digest, or with ``members`` those of members.
        sample: Share of the keys, by their hash; None for all.
        storage_classes: Objects of these are read; empty for all.
        expected_objects: Objects that were counted before it was started; None if none were.
        executions: Executions of the state machine so far; each after the first resumes it.
        part_count: Number of its parts; None until it is planned.
        ended_at: When it was stopped, or when its last object was queued; ISO 8601 UTC.
        run: The run that it belongs to, with other buckets; None if it is a run of its own.
        started_by: ARN of the caller, or ``schedule``; None if it is older than this attribute.
        planned_at: When the enqueuer planned it, by the clock that also dates rows; ISO 8601 UTC.
        accounted_at: When each object that it queued was seen to have its row; ISO 8601 UTC.
        rested_at: When nothing of it was in a queue or in slices any more; ISO 8601 UTC.
        failure: Why it was not started, or could not go on.
    """

    backfill_id: str = field(metadata=NOT_STORED)
    bucket: str
    status: BackfillStatus = field(metadata=stored(read=BackfillStatus))
    started_at: str
    prefix: str | None = None
    all_versions: bool = False
    inventory: str | None = None
    limit: int | None = None
    archived: bool = False
    purpose: Purpose = field(default=Purpose.RECORD, metadata=stored(read=Purpose))
    older_than: str | None = None
    missing: str | None = None
    sample: float | None = None
    storage_classes: tuple[str, ...] = field(default=(), metadata=_NAMES)
    expected_objects: int | None = None
    executions: int = 1
    part_count: int | None = None
    ended_at: str | None = None
    run: str | None = None
    started_by: str | None = None
    planned_at: str | None = None
    rested_at: str | None = None
    accounted_at: str | None = None
    failure: str | None = None

    @property
    def run_id(self) -> str:
        """The run that it belongs to: one execution, and one report."""
        return self.run or self.backfill_id

    @property
    def execution_name(self) -> str:
        """Name of the latest execution of its run."""
        return f"{self.run_id}-{self.executions}"

    @property
    def is_partial(self) -> bool:
        """Whether it is about a part of its bucket alone."""
        return bool(self.prefix or self.limit or self.sample or self.missing)

    @property
    def selection(self) -> Selection:
        """The recorded objects that are read."""
        return Selection(self.purpose, self.older_than, self.missing)


SCHEDULE: Final = "schedule"
"""In place of a caller, of runs that `VerifySchedule` starts."""

START: Final = ""
"""The position of a part of which nothing was queued."""


@dataclass(frozen=True, slots=True)
class Part:
    """A range of keys, or a file of an inventory: listed by one enqueuer at a time.

    Attributes:
        number: Its number, from 0.
        after: Keys above this; empty for all.
        until: Keys up to and including this; None for all.
        file: Key of the inventory's file; None for a range of keys.
        position: The last key that was queued, or the number of rows of the file; empty at first.
        version: The last version of this key that was queued; empty if S3 did not say, None before
            the first page and for a file.
        done: Whether all of it is queued.
        objects: Objects that are queued, archived ones included.
        object_hashes: Sum of their hashes: equal to the tally's if all are done.
        size_bytes: Size of those that are to be read.
        messages: Messages that they are in.
        pages: Requests that listed them.
        archived: Archived objects, which are not read: they are queued to be recorded so.
        failure: Why its next page could not be queued, at the last attempt; None if it could.
    """

    number: int = field(metadata=NOT_STORED)
    after: str = START
    until: str | None = None
    file: str | None = None
    position: str = START
    version: str | None = None
    done: bool = False
    objects: int = 0
    object_hashes: int = 0
    size_bytes: int = 0
    messages: int = 0
    pages: int = 0
    archived: int = 0
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Objects of a backfill that are done, by outcome.

    Attributes:
        hashed: Read and recorded.
        hashed_bytes: Their size.
        verified: Read again, with the digests that are recorded.
        verified_bytes: Their size.
        differs: Read twice again, with another digest than the one recorded.
        skipped: Recorded before, so not read.
        superseded: Overwritten since they were listed, or a newer row exists.
        gone: Deleted since they were listed.
        unreadable: S3 refused to send them; their rows say why.
        archived: Not read, as S3 sends them only after a restore.
        long: Read in slices; at the end of the last, it moves to its outcome.
        failed: In the dead-letter queue.
        object_hashes: Sum of the hashes of them all: equal to the parts' if all are done.
        invocations: Invocations of the hasher that did this.
    """

    hashed: int = 0
    hashed_bytes: int = 0
    verified: int = 0
    verified_bytes: int = 0
    differs: int = 0
    skipped: int = 0
    superseded: int = 0
    gone: int = 0
    unreadable: int = 0
    archived: int = 0
    long: int = 0
    failed: int = 0
    object_hashes: int = 0
    invocations: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Add the counts of both."""
        return Tally(*map(add, _counts_of(self), _counts_of(other)))

    @property
    def objects(self) -> int:
        """All objects that are done."""
        done = (self.hashed, self.skipped, self.superseded, self.gone, self.unreadable)
        others = (self.verified, self.differs, self.archived, self.long, self.failed)
        return sum(done) + sum(others)


_counts_of: Final[Callable[[Tally], tuple[int, ...]]] = attrgetter(
    *(field.name for field in fields(Tally))
)


def tally_of(outcome: Outcome, size_bytes: int, object_hash: int) -> Tally:
    """One object of *outcome*, with its hash; its size counts if it was read whole."""
    name = "skipped" if outcome is Outcome.UNCHANGED else outcome.value
    counts = {name: 1, "object_hashes": object_hash}
    if outcome in (Outcome.HASHED, Outcome.VERIFIED):
        counts[f"{name}_bytes"] = size_bytes
    return Tally(**counts)


def is_complete(parts: Iterable[Part], tally: Tally) -> bool:
    """Whether exactly the objects that are queued are done.

    Some are counted twice: a repeated request, a batch that is received again, a page that is sent
    again. Then numbers alone may be equal while others are left; the sums of hashes are not. Where
    an earlier release queued a part, without hashes, numbers alone decide.
    """
    queued = [(part.objects, part.object_hashes) for part in parts]
    if any(number and not hashes for number, hashes in queued):
        return sum(number for number, _ in queued) == tally.objects
    sums = sum(number for number, _ in queued), sum(hashes for _, hashes in queued)
    return sums == (tally.objects, tally.object_hashes)


def is_done(backfill: Backfill, parts: Iterable[Part], tally: Tally) -> bool:
    """Whether each object that *backfill* queued is done, by its rows or by its counts."""
    return bool(backfill.accounted_at) or is_complete(parts, tally)

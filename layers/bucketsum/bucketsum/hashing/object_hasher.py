"""An object-created event → its outcome: look up, read, digest, record."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.digest import digest_of
from bucketsum.errors import (
    DamagedRow,
    NotHashed,
    ObjectArchived,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    OutOfTime,
    RowContended,
    SourceInterrupted,
)
from bucketsum.hashing.object_rows import algorithms_of, hashed_row, is_newer, refused_row
from bucketsum.hashing.result import HashResult, ReadObject
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row, Status, row_key_of
from bucketsum.table.sequencer import comparable_sequencer

if TYPE_CHECKING:
    from bucketsum.archives.archive_hasher import ArchiveHasher
    from bucketsum.events.object_events import ObjectCreated, ObjectRestored
    from bucketsum.hashing.job import Job
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.s3.source import Source
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable

TOO_LATE: Final = (
    "the invocation's time ended before this object's turn; lower BatchSize or raise MemorySize"
)

LOOK_UP_FROM_BYTES: Final = SPLIT_FROM_BYTES
"""Objects of this size or more are looked up before they are read.

A look-up is a request of some 5 ms before every object, and S3 delivers few events twice. Below
this size a needless second read costs about as much as the look-ups that would have avoided it.
"""


def is_long(
    created: ObjectCreated | ObjectRestored, settings: Settings, deadline: Deadline
) -> bool:
    """Whether the object of *created* is hashed in slices from the beginning.

    Smaller objects are sure to be read in one invocation, however slow its network is.
    """
    return (
        settings.long_objects_queue_url is not None
        and created.etag is not None  # without it, slices could be of different objects
        and deadline.invocation_is_too_short(created.size_bytes, settings.memory_mb)
    )


class ObjectHasher:
    """Hashes objects one after the other."""

    def __init__(
        self,
        source: Source,
        table: DigestsTable,
        settings: Settings,
        clock: Callable[[], float] = time.perf_counter,
        archives: ArchiveHasher | None = None,
        hand_over: Callable[[Job], None] | None = None,
    ) -> None:
        self._source = source
        self._table = table
        self._settings = settings
        self._clock = clock
        self._archives = archives
        self._hand_over = hand_over

    def hash(self, job: Job, deadline: Deadline) -> HashResult:
        """Record the digest of the job's object, which is read at most once.

        That S3 still has the object shows that it is newer than what the job expects.

        Raises:
            DamagedRow: The job expects it.
            ObjectUnreadable: Nothing shows that it is newer than what the job expects.
            Retryable: It could not be read to its end this time.
            ClientError: DynamoDB refused.
        """
        deadline.require(STOP_BEFORE_END_SECONDS, TOO_LATE)
        created, expected = job.created, job.expected
        if isinstance(expected, DamagedRow):
            raise expected
        try:
            if created.storage_class and (expected is None or is_newer(created, expected)):
                raise ObjectArchived(created.storage_class)  # else only S3 knows which is newer
            known = None if expected else self._known(created)
            return known or self._hashed_or_handed_over(job, deadline)
        except ObjectUnreadable as error:
            if job.recorded:
                from bucketsum.hashing import verification  # noqa: PLC0415 - rare

                outcome = verification.mark_refused(self._table, job.recorded, error)
                return HashResult(created, outcome, reason=str(error))
            if expected and not is_newer(created, expected):
                raise
            row = refused_row(created, error, self._settings)
            outcome = self._record(row, job)  # an earlier digest of it is kept
            return HashResult(created, outcome, reason=str(error))
        except NotHashed as error:
            return HashResult(created, _OUTCOMES[type(error)], reason=str(error))

    def _known(self, created: ObjectCreated) -> HashResult | None:
        if created.size_bytes < LOOK_UP_FROM_BYTES and not self._as_archive(created):
            return None
        row = self._table.row_at(row_key_of(created))
        if row is None or row.sequencer < comparable_sequencer(created.sequencer):
            return None
        if row.sequencer > comparable_sequencer(created.sequencer):
            if archives := self._as_archive(created):  # an invocation may have died with its rows
                archives.rows.remove_overwritten(created)
            raise ObjectSuperseded("a newer event of this key is recorded")
        return HashResult(created, Outcome.UNCHANGED) if row.status is Status.HASHED else None

    def _as_archive(self, created: ObjectCreated) -> ArchiveHasher | None:
        archives = self._archives
        return archives if archives and archives.reader.settings.takes(created.key) else None

    def _hashed_or_handed_over(self, job: Job, deadline: Deadline) -> HashResult:
        if is_long(job.created, self._settings, deadline):
            return self._handed_over(job, "it may take longer than one invocation")
        try:
            return self._hashed(job, deadline)
        except OutOfTime as error:
            if not (self._hand_over and job.created.etag):
                raise
            return self._handed_over(job, str(error))

    def _handed_over(self, job: Job, reason: str) -> HashResult:
        created = job.created
        if not (self._hand_over and created.etag):
            raise OutOfTime(f"{reason}, and there is no queue of long objects")
        if job.expected:
            self._source.open(created).chunks.close()  # S3 still has it
        if archives := self._as_archive(created):
            job = replace(job, mode=archives.reader.settings.mode)
            if not job.recorded:
                archives.rows.remove_older(created)
        self._hand_over(job)
        return HashResult(created, Outcome.LONG, reason=reason)

    def _record(self, row: Row, job: Job) -> Outcome:
        if job.recorded:
            from bucketsum.hashing import verification  # noqa: PLC0415 - rare

            return verification.mark(self._table, job.recorded, row)
        if isinstance(job.expected, Row):
            return self._table.replace(row, job.expected)
        outcome = self._table.record(row)
        if outcome is Outcome.SUPERSEDED and not (job.created.sequencer or job.expected):
            # No event orders a listed object: another look-up decides whether it replaces the row.
            raise RowContended("the look-up missed a row of another object of this key")
        return outcome

    def _hashed(self, job: Job, deadline: Deadline) -> HashResult:
        archives = self._as_archive(job.created)
        if archives and not (job.recorded and job.recorded.archive):
            return self._hashed_with_members(archives, job, deadline)
        return self.record(self._read(self._source, job, deadline), deadline)

    def _read(self, source: Source, job: Job, deadline: Deadline) -> ReadObject:
        started = self._clock()
        opened = source.open(job.created, doubt=job.doubt)
        with closing(opened.chunks):  # also if time runs out before their end
            chunks = deadline.guard(opened.chunks, opened.size_bytes)
            digest = digest_of(chunks, algorithms_of(job.recorded, self._settings))
        return ReadObject.of(job, opened, digest, self._clock() - started)

    def record(self, read: ReadObject, deadline: Deadline) -> HashResult:
        """Write the row of *read*, unless the table holds this event or a newer one.

        A recorded row is verified. If that differs, or S3's own checksum does, the object is read
        again, over other connections.

        Raises:
            Retryable: It could not be read again to its end this time.
            ClientError: DynamoDB refused.
        """
        if read.job.recorded:
            from bucketsum.hashing import verification  # noqa: PLC0415 - rare

            return verification.verified(
                self._table,
                read,
                self._settings,
                lambda: self._read(self._source.another(), read.job, deadline),
            )
        read = self._confirmed(read, deadline)
        return read.result_of(self._record(hashed_row(read, self._settings), read.job))

    def _confirmed(self, read: ReadObject, deadline: Deadline) -> ReadObject:
        """*read*, or the next reading of its object if S3's checksum contradicts it.

        Raises:
            SourceInterrupted: Two readings have other bytes, and S3's checksum is that of neither.
        """
        if not read.is_contradicted:
            return read
        again = self._read(self._source.another(), read.job, deadline)
        if again.is_contradicted and again.digest.sha1 != read.digest.sha1:
            raise SourceInterrupted(
                f"S3's checksum is {again.compared and again.compared.checksum}, but two readings "
                f"have the SHA-1 {read.digest.sha1} and {again.digest.sha1}"
            )
        return again

    def _hashed_with_members(
        self, archives: ArchiveHasher, job: Job, deadline: Deadline
    ) -> HashResult:
        started, created = self._clock(), job.created
        archive = archives.open(created)
        opened = self._source.open(created)
        with closing(opened.chunks):
            # Other contents had members of this sequencer.
            if job.expected or not created.sequencer:
                archives.rows.remove_overwritten(created)
            chunks = deadline.guard(opened.chunks, opened.size_bytes)
            digest = archives.hash(
                archive, created, chunks, algorithms_of(job.recorded, self._settings)
            )
        summary = archive.summary
        read = ReadObject.of(job, opened, digest, self._clock() - started)
        if self._confirmed(read, deadline).digest != digest:
            archives.rows.remove(created)
            raise SourceInterrupted("the bytes of an archive are not those of its next reading")
        row = replace(hashed_row(read, self._settings), remarks=summary.remarks, archive=summary)
        if job.recorded:
            from bucketsum.hashing import verification  # noqa: PLC0415 - rare

            if verification.difference(job.recorded, row):
                archives.rows.remove(created)
                return self.record(read, deadline)
        outcome = self._record(row, job)
        if outcome is Outcome.HASHED:
            archives.rows.remove_older(created)
        elif outcome is Outcome.SUPERSEDED:
            archives.rows.remove_overwritten(created)
        return replace(read.result_of(outcome), summary=summary)


_OUTCOMES: Final = {ObjectGone: Outcome.GONE, ObjectSuperseded: Outcome.SUPERSEDED}

"""An object-created event → its outcome: look up, read, digest, record."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum import errors
from bucketsum.digest import digest_of
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import UNREAD, End, verification_of
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_rows import hashed_row, refused_row
from bucketsum.hashing.recording import finished
from bucketsum.hashing.result import HashResult, ReadObject
from bucketsum.hashing.size_limits import LOOK_UP_FROM_BYTES, is_long
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS, TOO_LATE, Deadline
from bucketsum.measure import Measurement
from bucketsum.s3.source import Source
from bucketsum.settings import Settings
from bucketsum.table.checksum_values import Compared
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.event_order import MISSED_ROW
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Status, row_key_of
from bucketsum.table.sequencer import comparable_sequencer

if TYPE_CHECKING:
    from bucketsum.archives.archive_hasher import ArchiveHasher
    from bucketsum.archives.member_rows import MemberRows


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

    def hash(self, state: Job | ReadObject, deadline: Deadline) -> HashResult:
        """End the job of an object, which is read, unless it was; again only if it must be.

        Raises:
            ObjectUnreadable: Nothing shows that it is newer than what the job expects.
            Retryable: It could not be read to its end this time.
            ClientError: DynamoDB refused.
        """
        deadline.require(STOP_BEFORE_END_SECONDS, TOO_LATE)
        job = state if isinstance(state, Job) else state.job
        try:
            return self._ended(state, deadline)
        except errors.ObjectUnreadable as error:
            if result := self._refused(job, error):
                return result
            raise
        except errors.NotHashed as error:
            return HashResult(job.created, _OUTCOMES[type(error)], reason=str(error))

    def _refused(self, job: Job, error: errors.ObjectUnreadable) -> HashResult | None:
        end = job.ending.refused(self._table, refused_row(job.created, error, self._settings))
        return HashResult(job.created, end.outcome, reason=end.reason) if end else None

    def _ended(self, state: Job | ReadObject, deadline: Deadline) -> HashResult:
        if not isinstance(state, Job):
            return self._finished(state, deadline)
        storage_class = state.created.storage_class
        if storage_class and (
            archived := self._refused(state, errors.ObjectArchived(storage_class))
        ):
            return archived  # else only S3 knows which object is newer
        known = self._looked_up(state)
        return self._hashed_or_handed_over(known, deadline) if isinstance(known, Job) else known

    def _looked_up(self, job: Job) -> Job | HashResult:
        """*job*, or its result if its row is known; only where a reading costs more than that.

        Raises:
            RowContended: As `Recording.record`.
        """
        created, archives = job.created, self._as_archive(job.created)
        if job.ending.expected or (created.size_bytes < LOOK_UP_FROM_BYTES and not archives):
            return job
        row, sequencer = self._table.row_at(row_key_of(created)), created.sequencer
        if row and row.sequencer > comparable_sequencer(sequencer):
            if not (sequencer or row.has_digest_of(created.etag)):
                raise errors.RowContended(MISSED_ROW)
            if archives:  # an invocation may have died with its rows
                archives.rows.remove_overwritten(created)
            raise errors.ObjectSuperseded("a newer event of this key is recorded")
        if row is None or row.status is not Status.HASHED:
            return job
        if row.sequencer == comparable_sequencer(sequencer):
            return HashResult(created, Outcome.UNCHANGED)
        is_same = not (row.version.is_null or row.deletion)
        return replace(job, ending=verification_of(row)) if is_same else job

    def _as_archive(self, created: ObjectCreated) -> ArchiveHasher | None:
        archives = self._archives
        return archives if archives and archives.reader.settings.takes(created.key) else None

    def _hashed_or_handed_over(self, job: Job, deadline: Deadline) -> HashResult:
        if is_long(job.created, self._settings, deadline):
            return self._handed_over(job, "it may take longer than one invocation")
        try:
            return self._finished(self._read(self._source, job, deadline), deadline)
        except errors.OutOfTime as error:
            if not (self._hand_over and job.created.etag):
                raise
            return self._handed_over(job, str(error))

    def _handed_over(self, job: Job, reason: str) -> HashResult:
        created = job.created
        if not (self._hand_over and created.etag):
            raise errors.OutOfTime(f"{reason}, and there is no queue of long objects")
        if job.ending.expected:
            self._source.open(created).chunks.close()  # S3 still has it
        if archives := self._as_archive(created):
            job = replace(job, mode=archives.reader.settings.mode)
            archives.rows.remove_older(created)
        self._hand_over(job)
        return HashResult(created, Outcome.LONG, reason=reason)

    def _read(self, source: Source, job: Job, deadline: Deadline) -> ReadObject:
        started, created, archive = self._clock(), job.created, None
        archives = self._as_archive(created) if job.ending.reads_members else None
        if archives:
            archive = archives.open(created)
        opened = source.open(created, doubt=job.doubt)
        algorithms = job.ending.algorithms(self._settings.extra_algorithms)
        with closing(opened.chunks):  # also if time runs out before their end
            chunks = deadline.guard(opened.chunks, opened.size_bytes)
            if archives and archive:
                # Other contents had members of this sequencer.
                if job.ending.expected or not created.sequencer:
                    archives.rows.remove_overwritten(created)
                digest = archives.hash(archive, created, chunks, algorithms)
            else:
                digest = digest_of(chunks, algorithms)
        measurement = Measurement(digest.size_bytes, self._clock() - started)
        return ReadObject(
            job, opened.etag, digest, measurement, opened.streams,
            opened.compared(digest.by_name), archive.summary if archive else None,
        )  # fmt: skip

    def _finished(self, read: ReadObject, deadline: Deadline) -> HashResult:
        """End *read*; if it must be confirmed, with the next reading, over other connections."""
        try:
            return self._recorded(read)
        except errors.Unconfirmed as first:
            try:
                again = self._read(self._source.another(), read.job, deadline)
            except UNREAD as error:
                raise first.failed(error) from error
            return self._recorded(again, first.value, read.compared)

    def _recorded(
        self, read: ReadObject, before: str | None = None, compared: Compared | None = None
    ) -> HashResult:
        """End *read*; the reading *before* had a value to confirm, and was *compared*."""
        job, row = read.job, hashed_row(read, self._settings).compared_as(compared)
        rows = self._archives.rows if self._archives and read.summary else None
        try:
            end = finished(job.ending, self._table, self._source, job.created, row, before)
        except errors.Unconfirmed:
            if rows:
                rows.remove(job.created)
            raise
        if rows:
            _settle_members(rows, job.created, end)
        return read.result_of(end.outcome, end.reason)


def _settle_members(rows: MemberRows, created: ObjectCreated, end: End) -> None:
    """Keep the members of the row only."""
    if end.is_row:
        rows.remove_older(created)
    elif end.reason:  # the row has another digest
        rows.remove(created)
    elif end.outcome is Outcome.SUPERSEDED:
        rows.remove_overwritten(created)


_OUTCOMES: Final = {errors.ObjectGone: Outcome.GONE, errors.ObjectSuperseded: Outcome.SUPERSEDED}

"""A message of the long-objects queue → one slice: lease, read, save, send the next or end.

The last slice records the row; a slice that cannot read the object records the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.checksums.comparison import NotCompared
from bucketsum.errors import (
    DamagedProgress,
    NotHashed,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    Released,
    TooManySlices,
)
from bucketsum.events.message_fields import shown
from bucketsum.hashing.job import Purpose
from bucketsum.hashing.object_rows import algorithms_of, refused_row
from bucketsum.hashing.verification import difference, mark, mark_refused, unconfirmed
from bucketsum.invocation.deadline import LONGEST_INVOCATION_SECONDS
from bucketsum.long_objects.long_object_rows import (
    record_row,
    recorded_row,
    row_of_long_object,
    with_witness,
)
from bucketsum.long_objects.portable_digest import BLOCK_BYTES
from bucketsum.long_objects.progress import OTHER_ENDS_SECONDS, ChainStatus
from bucketsum.long_objects.slice_bytes import digest_at, hash_slice
from bucketsum.measure import Measurement
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Status
from bucketsum.table.sequencer import comparable_sequencer

if TYPE_CHECKING:
    from bucketsum.checksums.comparison import Witness
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.long_objects.message import LongObjectsQueue
    from bucketsum.long_objects.progress import Progress
    from bucketsum.long_objects.progress_table import ProgressTable
    from bucketsum.s3.source import Source
    from bucketsum.s3.stored_checksums import StoredChecksums
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable
    from bucketsum.table.rows import Row

END_BEFORE_SECONDS: Final = 45.0
"""A slice ends this long before its invocation does, to save its state; after two thirds of a
shorter invocation. If DynamoDB is silent, saving and ending the lease take `SILENT_SECONDS` each;
then the message returns to the queue."""

LEASE_MARGIN_SECONDS: Final = 5
"""A lease lasts this much longer than the invocation, as clocks of two environments differ."""

LONGEST_LEASE_SECONDS: Final = 2 * (LONGEST_INVOCATION_SECONDS + LEASE_MARGIN_SECONDS)
"""A lease beyond this is none of a worker, even if its clock is wrong by an invocation."""

MINIMUM_SLICE_BYTES: Final = 64 * 1024 * 1024
"""Slices of a healthy chain are larger than this: 75 kB/s would do. Only `SLICE_BYTES`, which is
for tests, allows smaller ones."""


class SliceOutcome(StrEnum):
    """The outcome of a message that leaves its object unfinished."""

    CONTINUED = "continued"
    """The slice is saved, and the message of the next one is sent."""
    RESENT = "resent"
    """The slice was saved before, but the message of the next one perhaps not sent: it is now."""
    SUPERFLUOUS = "superfluous"
    """The slice was done before, or its object is not in progress any more."""
    BEGUN = "begun"
    """Its progress was removed by another program: it begins again."""
    STOPPED = "stopped"
    """A person stopped it."""


@dataclass(frozen=True, slots=True)
class SliceReport:
    """The result of one message.

    Attributes:
        message: The progress in the message.
        progress: The object's progress; None if it is not in progress.
        measurement: Bytes and seconds of the slice, if one was read.
        sha1: The object's digest, if it is hashed.
        reason: Why it was not hashed.
    """

    outcome: SliceOutcome | Outcome
    message: Progress
    progress: Progress | None = None
    measurement: Measurement | None = None
    sha1: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Slicer:
    """Hashes long objects, a slice for each message.

    Attributes:
        slice_bytes: Maximum size of a slice; None if only time ends it.
        checksums: S3's own, to be compared; None if they are not.
        clock: Seconds since 1970.
    """

    source: Source
    progress_table: ProgressTable
    digests_table: DigestsTable
    queue: LongObjectsQueue
    settings: Settings
    slice_bytes: int | None = None
    clock: Callable[[], float] = time.time
    checksums: StoredChecksums | None = None

    def handle_slice(self, message: Progress, deadline: Deadline) -> SliceReport:
        """Hash the slice of *message*, unless that is done.

        Raises:
            Released: Another worker is at it, or at another object of its key.
            Retryable: It could not be read this time.
            TooManySlices: The chain is a loop.
            DamagedProgress: Its saved state does not fit together.
            ClientError: DynamoDB or SQS refused.
        """
        progress = self._due(message)
        if isinstance(progress, SliceReport):
            return progress
        self._require_sense(progress)
        self._lease(progress, deadline)
        try:
            return self._leased(message, progress, deadline)
        except Exception:
            self.progress_table.end_lease(progress)
            raise

    def _due(self, message: Progress) -> Progress | SliceReport:
        """The progress before the slice of *message*; a report if there is nothing to read."""
        progress = self.progress_table.at(message.row_key)
        if progress is None or progress.etag != message.etag:
            return self._begun_again(message)
        if progress.status is ChainStatus.STOPPED:
            return SliceReport(SliceOutcome.STOPPED, message, progress, reason=progress.reason)
        if progress.offset == message.offset:
            return progress
        if progress.sent_offset >= progress.offset:
            return SliceReport(SliceOutcome.SUPERFLUOUS, message, progress)
        self._send(progress)
        return SliceReport(SliceOutcome.RESENT, message, progress)

    def _begun_again(self, message: Progress) -> SliceReport:
        """Begin an object that another program removed from the table, unless it is done."""
        sequencer = comparable_sequencer(message.sequencer)
        row = self.digests_table.row_at(message.row_key, consistent=True)
        is_done = row and row.etag == message.etag and row.status is Status.HASHED
        if is_done or (row and row.sequencer > sequencer):
            return SliceReport(SliceOutcome.SUPERFLUOUS, message)
        progress = self.progress_table.begin(replace(message, offset=0, hop=0))
        if progress.etag != message.etag:
            if progress.sequencer == sequencer and progress.replaces_etag is None:
                raise DamagedProgress(
                    f"the progress of {shown(message.key)} is of {shown(progress.etag)}"
                )
            return self._superseded(message)
        self._send(progress)
        return SliceReport(SliceOutcome.BEGUN, message, progress)

    def _superseded(self, message: Progress) -> SliceReport:
        """The report on an object that another one of its key has replaced in the table.

        Raises:
            Released: S3 still has it. So the other is older, as can be if one was listed: the
                message comes again when the slicer has found that out.
        """
        try:
            self.source.open(message.created).chunks.close()
        except (ObjectGone, ObjectSuperseded):
            return SliceReport(SliceOutcome.SUPERFLUOUS, message)
        raise Released(OTHER_ENDS_SECONDS)

    def _require_sense(self, progress: Progress) -> None:
        smallest = min(self.slice_bytes or MINIMUM_SLICE_BYTES, MINIMUM_SLICE_BYTES)
        smallest -= smallest % BLOCK_BYTES
        if progress.hop > -(-progress.size_bytes // smallest):
            raise TooManySlices(
                f"{progress.hop} slices have read {progress.offset} of {progress.size_bytes} bytes"
            )

    def _lease(self, progress: Progress, deadline: Deadline) -> None:
        at = int(self.clock())
        until = at + int(deadline.seconds_left()) + LEASE_MARGIN_SECONDS
        if not self.progress_table.lease(progress, until, at):
            current = self.progress_table.at(progress.row_key)
            left = current.leased_until - at + 1 if current else 1
            if left > LONGEST_LEASE_SECONDS:
                raise DamagedProgress(
                    f"the progress of {shown(progress.key)} is leased for {left} s"
                )
            raise Released(max(1, left))

    def _leased(self, message: Progress, progress: Progress, deadline: Deadline) -> SliceReport:
        try:
            return self._sliced(message, progress, deadline)
        except ObjectUnreadable as error:
            if progress.differing:
                raise unconfirmed(progress.differing, error) from error
            reason = str(error)
            if progress.purpose is Purpose.VERIFY:
                outcome = Outcome.SUPERSEDED
                if recorded := recorded_row(self.digests_table, progress):
                    outcome = mark_refused(self.digests_table, recorded, error)
                self._remove_progress(progress)
                return SliceReport(outcome, message, progress, reason=reason)
            # First the row: a chain that has stopped is not looked at again.
            row = refused_row(progress.created, error, self.settings)
            outcome = record_row(self.digests_table, progress, row)
            self.progress_table.end_lease(progress)
            if self.progress_table.stop(progress, reason) is None:
                raise Released(1) from error
            return SliceReport(outcome, message, progress, reason=reason)
        except NotHashed as error:
            self._remove_progress(progress)
            outcome = Outcome.GONE if isinstance(error, ObjectGone) else Outcome.SUPERSEDED
            return SliceReport(outcome, message, progress, reason=str(error))

    def _sliced(self, message: Progress, progress: Progress, deadline: Deadline) -> SliceReport:
        started = time.perf_counter()
        reserve_seconds = min(END_BEFORE_SECONDS, deadline.seconds_left() / 3)
        digest = digest_at(
            progress, algorithms_of(recorded_row(self.digests_table, progress), self.settings)
        )
        opened = self.source.open(progress.created, progress.offset)
        with closing(opened.chunks):
            digest.witness = self._witness(progress)
            is_whole = hash_slice(
                digest,
                opened.chunks,
                progress.size_bytes,
                self.slice_bytes or progress.size_bytes,
                lambda: deadline.seconds_left() < reserve_seconds,
            )
        size_bytes = digest.length - progress.offset
        measurement = Measurement(size_bytes, time.perf_counter() - started)
        moved = replace(
            progress,
            offset=digest.length,
            hop=progress.hop + 1,
            seconds=progress.seconds + measurement.seconds,
            mb_per_s=measurement.mb_per_s,
        )
        if is_whole:
            row = row_of_long_object(moved, digest.digest(), opened.streams, self.settings)
            row = with_witness(row, digest.witness)
            outcome = self._ended(progress, row, moved)
            return SliceReport(outcome, message, moved, measurement, row.sha1)
        state = digest.witness.saved() if digest.witness else None
        moved = replace(moved, states=digest.states(), checksum_state=state)
        saved = self.progress_table.advance(progress, moved)
        if saved is None:  # another worker did, or botocore repeated a request that had succeeded
            due = self._due(message)
            if isinstance(due, SliceReport):
                return due
            raise Released(1)
        if saved.status is ChainStatus.STOPPED:
            return SliceReport(SliceOutcome.STOPPED, message, saved, measurement)
        self._send(saved)
        return SliceReport(SliceOutcome.CONTINUED, message, saved, measurement)

    def _ended(self, progress: Progress, row: Row, moved: Progress) -> Outcome | SliceOutcome:
        """Record *row* after the last slice, or mark the recorded one; then end the chain."""
        recorded = recorded_row(self.digests_table, progress)
        differing = difference(recorded, row) if recorded else row.contradiction
        if differing and differing != progress.differing:  # only two readings that agree count
            again = self.progress_table.read_again(progress, differing)
            if again is None:
                raise Released(1)
            self._send(again)
            return SliceOutcome.CONTINUED
        if recorded:
            is_marked = recorded.verified and recorded.verified.at >= progress.started_at
            if differing or not is_marked:  # else this slice comes again
                outcome = mark(self.digests_table, recorded, row, differing)
            else:
                outcome = Outcome.VERIFIED
        else:
            outcome = record_row(self.digests_table, moved, row)
            if differing and outcome is Outcome.HASHED:
                outcome = Outcome.DIFFERS
        self._remove_progress(progress)
        return outcome

    def _witness(self, progress: Progress) -> Witness | None:
        state = progress.checksum_state
        if self.checksums is None:
            return None
        if progress.offset and state is None:
            return NotCompared("it is read in slices, between which its comparison does not go on")
        return self.checksums.witness(progress.created, {}, state if progress.offset else None)

    def _remove_progress(self, progress: Progress) -> None:
        """Remove the item, unless an equal object at the key, which has a newer event, needs it."""
        if not self.progress_table.remove_progress(progress):
            raise Released(1)

    def _send(self, progress: Progress) -> None:
        self.queue.send(progress)
        self.progress_table.mark_sent(progress)

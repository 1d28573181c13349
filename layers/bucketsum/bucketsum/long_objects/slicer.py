"""A message of the long-objects queue → one slice: lease, read, save, send the next or end.

The last slice records the row; a slice that cannot read the object records the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from bucketsum import errors
from bucketsum.events.message_fields import shown
from bucketsum.hashing.ending import End, Ending, given_up
from bucketsum.hashing.object_rows import hashed_row, refused_row
from bucketsum.hashing.recording import finished
from bucketsum.hashing.result import ReadObject
from bucketsum.invocation.deadline import LONGEST_INVOCATION_SECONDS, Deadline
from bucketsum.long_objects.endings import ending_of
from bucketsum.long_objects.message import LongObjectsQueue
from bucketsum.long_objects.progress import OTHER_ENDS_SECONDS, ChainStatus, Progress
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.long_objects.slice_reader import Slice, SliceReader
from bucketsum.long_objects.slice_result import SliceOutcome, SliceReport
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Status
from bucketsum.table.sequencer import comparable_sequencer

LEASE_MARGIN_SECONDS: Final = 5
"""A lease lasts this much longer than the invocation, as clocks of two environments differ."""

LONGEST_LEASE_SECONDS: Final = 2 * (LONGEST_INVOCATION_SECONDS + LEASE_MARGIN_SECONDS)
"""A lease beyond this is none of a worker, even if its clock is wrong by an invocation."""


@dataclass(frozen=True, slots=True)
class Slicer:
    """Hashes long objects, a slice for each message.

    Attributes:
        clock: Seconds since 1970.
    """

    reader: SliceReader
    progress_table: ProgressTable
    digests_table: DigestsTable
    queue: LongObjectsQueue
    settings: Settings
    clock: Callable[[], float] = time.time

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
        self.reader.require_sense(progress)
        self._lease(progress, deadline)
        try:
            return self._leased(message, progress, deadline)
        except Exception:
            self.progress_table.end_lease(progress)
            raise

    def give_up(self, message: Progress, error: Exception) -> SliceReport | None:
        """End a verification after its last receive, as unreadable; see `given_up`.

        Raises:
            ClientError: DynamoDB refused.
        """
        progress = self.progress_table.at(message.row_key)
        if progress is None or (progress.etag, progress.offset) != (message.etag, message.offset):
            return None
        ending, table = ending_of(progress, self.digests_table), self.digests_table
        end = given_up(ending, table, progress.created, error)
        if end is None:
            return None
        self.progress_table.remove_progress(progress)
        return SliceReport(end.outcome, message, progress, reason=end.reason)

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
                raise errors.DamagedProgress(
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
            self.reader.source.open(message.created).chunks.close()
        except (errors.ObjectGone, errors.ObjectSuperseded):
            return SliceReport(SliceOutcome.SUPERFLUOUS, message)
        raise errors.Released(OTHER_ENDS_SECONDS)

    def _lease(self, progress: Progress, deadline: Deadline) -> None:
        at = int(self.clock())
        until = at + int(deadline.seconds_left()) + LEASE_MARGIN_SECONDS
        if not self.progress_table.lease(progress, until, at):
            current = self.progress_table.at(progress.row_key)
            left = current.leased_until - at + 1 if current else 1
            if left > LONGEST_LEASE_SECONDS:
                raise errors.DamagedProgress(
                    f"the progress of {shown(progress.key)} is leased for {left} s"
                )
            raise errors.Released(max(1, left))

    def _leased(self, message: Progress, progress: Progress, deadline: Deadline) -> SliceReport:
        ending = ending_of(progress, self.digests_table)
        try:
            piece = self.reader.read(progress, ending, deadline)
        except errors.ObjectUnreadable as error:
            if progress.differing:
                raise errors.Unconfirmed(progress.differing).failed(error) from error
            # First the row: a chain that has stopped is not looked at again.
            row = refused_row(progress.created, error, self.settings)
            end = ending.refused(self.digests_table, row)
            if end is None:
                raise
            return self._stopped(message, progress, end)
        except errors.NotHashed as error:
            self._remove_progress(progress)
            outcome = Outcome.GONE if isinstance(error, errors.ObjectGone) else Outcome.SUPERSEDED
            return SliceReport(outcome, message, progress, reason=str(error))
        if piece.whole:
            return self._finished(message, progress, ending, piece, piece.whole)
        return self._continued(message, progress, piece)

    def _stopped(self, message: Progress, progress: Progress, end: End) -> SliceReport:
        """Stop the chain, to be continued later, if the row says why; else remove it."""
        if not end.is_row:
            self._remove_progress(progress)
        else:
            self.progress_table.end_lease(progress)
            if self.progress_table.stop(progress, end.reason or "") is None:
                raise errors.Released(1)
        return SliceReport(end.outcome, message, progress, reason=end.reason)

    def _continued(self, message: Progress, progress: Progress, piece: Slice) -> SliceReport:
        saved = self.progress_table.advance(progress, piece.moved)
        if saved is None:  # another worker did, or botocore repeated a request that had succeeded
            due = self._due(message)
            if isinstance(due, SliceReport):
                return due
            raise errors.Released(1)
        outcome = SliceOutcome.STOPPED
        if saved.status is ChainStatus.RUNNING:
            self._send(saved)
            outcome = SliceOutcome.CONTINUED
        return SliceReport(outcome, message, saved, piece.measurement)

    def _finished(
        self, message: Progress, progress: Progress, ending: Ending, piece: Slice, read: ReadObject
    ) -> SliceReport:
        """End the chain after its last slice, or begin the reading that must confirm this one."""
        report = SliceReport(
            SliceOutcome.CONTINUED, message, piece.moved, piece.measurement, read.digest.sha1
        )
        row = hashed_row(read, self.settings).compared_as(progress.compared)
        try:
            source, before = self.reader.source, progress.differing
            end = finished(ending, self.digests_table, source, progress.created, row, before)
        except errors.Unconfirmed as error:
            again = self.progress_table.read_again(progress, error.value, row.compared)
            if again is None:
                raise errors.Released(1) from error
            self._send(again)
            return report
        self._remove_progress(progress)
        return replace(report, outcome=end.outcome, reason=end.reason)

    def _remove_progress(self, progress: Progress) -> None:
        """Remove the item, unless an equal object at the key, which has a newer event, needs it."""
        if not self.progress_table.remove_progress(progress):
            raise errors.Released(1)

    def _send(self, progress: Progress) -> None:
        self.queue.send(progress)
        self.progress_table.mark_sent(progress)

"""Hand a long object over to the slicer, or continue its slices."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from bucketsum.errors import ObjectSuperseded, Released
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import LongObjectsQueue
from bucketsum.long_objects.progress import OTHER_ENDS_SECONDS, ChainStatus, Progress, progress_of
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.settings import Settings
from bucketsum.table.sequencer import NO_SEQUENCER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient


_LONGEST_WAIT_SECONDS: Final = 36_000
"""Longest time until such an event comes again: each costs it a receive, and SQS hides a message
for 43,200 s at most."""


class HandOver:
    """Hands objects over to the long-objects queue."""

    def __init__(
        self, table: ProgressTable, queue: LongObjectsQueue, clock: Callable[[], float] = time.time
    ) -> None:
        self._table = table
        self._queue = queue
        self._clock = clock

    @classmethod
    def of(cls, dynamodb: DynamoDBClient, sqs: SQSClient, settings: Settings) -> Self:
        """A hand-over with the table and the queue in *settings*."""
        queue = LongObjectsQueue(sqs, settings.long_objects_queue_url or "")
        return cls(ProgressTable(dynamodb, settings.digests_table), queue)

    def begin(self, job: Job) -> None:
        """Send the message of the object's first slice, or of the slice at which it was stopped.

        If this is interrupted, the event comes again, and the message is sent then. A message too
        many does no harm: its slice is hashed already when it comes.

        The object has an entity tag.

        Raises:
            ObjectSuperseded: A newer object of this key is in progress.
            Released: Its chain moved on meanwhile, records what is to be verified, or is counted
                in another run; or another object of this key is in progress, and the event's place
                in the order is unknown, so that either may be the newer.
            ClientError: DynamoDB or SQS refused.
        """
        wanted = progress_of(job)
        is_listed = job.ending.expected is not None or job.created.sequencer == NO_SEQUENCER
        progress = self._table.begin(wanted, is_listed=is_listed)
        is_counted = progress.status is ChainStatus.RUNNING and progress.run
        is_of_other_run = is_counted and wanted.run not in (None, progress.run)
        if (progress.etag != wanted.etag and is_listed) or is_of_other_run:
            left = max(progress.seconds_left or 0, OTHER_ENDS_SECONDS)
            raise self._released(progress, min(left, _LONGEST_WAIT_SECONDS))
        if wanted.purpose is Purpose.VERIFY and progress.purpose is Purpose.RECORD:
            raise self._released(progress, OTHER_ENDS_SECONDS)  # its slices may be of long ago
        if progress.etag != wanted.etag:
            raise ObjectSuperseded("a newer object of this key is in progress")
        if progress is not wanted:
            restarted = self._table.restart(progress, wanted)
            if restarted is None:
                raise Released(1)
            if progress.status is ChainStatus.RUNNING and restarted.leased_until > self._clock():
                return  # its worker sends the next slice; that of a stopped chain may be gone
            progress = restarted
        self._send(progress)

    def _released(self, progress: Progress, seconds: float) -> Released:
        """The error that waits for *progress*, whose message is sent if it may never have been.

        Its event does not come again to send it if the object was recorded meanwhile.
        """
        if progress.status is ChainStatus.RUNNING and progress.sent_offset < progress.offset:
            self._send(progress)
        return Released(int(seconds))

    def _send(self, progress: Progress) -> None:
        self._queue.send(progress)
        self._table.mark_sent(progress)

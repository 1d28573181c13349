"""Hash a batch of messages of listed objects, after one look-up of all their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Tally, tally_of
from bucketsum.backfill.counts import BackfillCounts, object_hash
from bucketsum.backfill.listed_tasks import ListedTask, ListedTasks, Record
from bucketsum.backfill.messages import ListedObjects, body_of, listed_objects_in
from bucketsum.errors import MalformedMessage, TableBusy
from bucketsum.hashing.batch import BatchHasher, MessageResult, TaskHasher
from bucketsum.hashing.ending import given_up
from bucketsum.hashing.job import Job, Task
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.size_limits import is_long
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import RowKey, row_key_of

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


@dataclass(slots=True, eq=False)
class ListedResult(MessageResult):
    """A message of listed objects, and the results of its tasks.

    Attributes:
        listed: What it lists; None if it is malformed.
    """

    listed: ListedObjects | None = None

    @classmethod
    def of(cls, received: ReceivedMessage) -> ListedResult:
        """The message *received*; its error, if it is malformed."""
        try:
            return cls(received, listed=listed_objects_in(received.body))
        except MalformedMessage as error:
            return cls(received, results=[error])

    def leave_out_done(self) -> None:
        """Reduce the message to the objects that failed, so that a dead letter names no others."""
        left = {id(task) for task in self.failed if not isinstance(task, HashResult)}
        if left and (whole := self.listed):
            every = zip(whole.objects, self.tasks, strict=True)
            objects = tuple(listed for listed, task in every if id(task) in left)
            self.listed = replace(whole, objects=objects)
            body = body_of(whole.backfill_id, objects, whole.selection)
            self.received = replace(self.received, body=body)


@dataclass(frozen=True, slots=True)
class ListedBatchHasher:
    """Hashes batches of messages of listed objects."""

    hasher: TaskHasher
    table: DigestsTable
    backfills: BackfillCounts
    settings: Settings

    def handle(
        self, messages: Sequence[ReceivedMessage], deadline: Deadline
    ) -> Iterator[ListedResult]:
        """Hash the objects that are not recorded yet; see `BatchHasher.handle` for the contract."""
        pending = [ListedResult.of(message) for message in messages]
        try:
            records = self.table.records_at(
                row_key_of(listed)
                for message in pending
                if message.listed
                for listed in message.listed.objects
            )
        except (BotoCoreError, ClientError, TableBusy) as error:
            for message in pending:
                message.results = [error]
                yield message
            return
        for message in pending:
            message.tasks = self._tasks_of(message, records)
        batch = BatchHasher(self.hasher, self.settings)
        for result in batch.handle_tasks(pending, deadline):
            is_last = result.received.receive_count >= self.settings.max_receives
            if is_last and len(result.results) == len(result.handled):
                result.results = [*map(self._given_up, result.handled, result.results)]
            result.leave_out_done()
            yield result

    def _tasks_of(
        self, message: ListedResult, records: Mapping[RowKey, Record]
    ) -> list[ListedTask]:
        if not (whole := message.listed):
            return []
        sent_ms, archives = message.received.sent_ms, self.settings.archives
        tasks = ListedTasks(whole.selection, sent_ms, archives, whole.backfill_id)
        return [tasks.of(listed, records.get(row_key_of(listed))) for listed in whole.objects]

    def _given_up(
        self, task: Task | HashResult, result: HashResult | Exception
    ) -> HashResult | Exception:
        """The result after the last receive; see `given_up`."""
        if isinstance(task, Job) and isinstance(result, Exception):
            with suppress(BotoCoreError, ClientError):
                if end := given_up(task.ending, self.table, task.created, result):
                    return HashResult(task.created, end.outcome, reason=end.reason)
        return result

    def count(self, results: Iterable[ListedResult], deadline: Deadline, logger: Logger) -> None:
        """Count the objects of messages that are done for their backfills."""
        tallies: dict[str, Tally] = {}
        for result in results:
            if not (whole := result.listed):
                continue  # it was malformed
            run, objects = whole.backfill_id, whole.objects
            tally = tallies.get(run) or Tally(invocations=1)
            if result.failure:
                hashes = sum(map(object_hash, objects))
                tally += Tally(failed=len(objects), object_hashes=hashes)
            for report in result.reports:
                listed: Any = report.event  # an object that was created, as its message lists it
                size_bytes = report.measurement.size_bytes if report.measurement else 0
                if report.outcome is Outcome.LONG or is_long(listed, self.settings, deadline):
                    self.backfills.count_long(run, listed, report.outcome, size_bytes, logger)
                    continue
                tally += tally_of(report.outcome, size_bytes, object_hash(listed))
            tallies[run] = tally
        for run, tally in tallies.items():
            self.backfills.count(run, tally, logger)

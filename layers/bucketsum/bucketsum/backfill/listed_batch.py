"""Hash a batch of messages of listed objects, after one look-up of all their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Tally, tally_of
from bucketsum.backfill.counts import BackfillCounts, object_hash
from bucketsum.backfill.listed_tasks import ListedTasks
from bucketsum.backfill.messages import body_of, listed_objects_in
from bucketsum.errors import MalformedMessage, TableBusy
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.batch import BatchHasher, MessageResult, TaskHasher
from bucketsum.hashing.ending import given_up
from bucketsum.hashing.job import Job, Task
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.turns import is_long
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.settings import Settings
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import row_key_of

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from bucketsum.backfill.listed_tasks import ListedTask


@dataclass(frozen=True, slots=True)
class ListedBatchHasher:
    """Hashes batches of messages of listed objects."""

    hasher: TaskHasher
    table: DigestsTable
    backfills: BackfillCounts
    settings: Settings

    def handle(
        self, messages: Sequence[ReceivedMessage], deadline: Deadline
    ) -> Iterator[MessageResult]:
        """Hash the objects that are not recorded yet; see `BatchHasher.handle` for the contract."""
        try:
            records = self.table.records_at(
                row_key_of(listed) for message in messages for listed in _objects_in(message)
            )
        except (BotoCoreError, ClientError, TableBusy) as error:
            for message in messages:
                yield MessageResult(message, [*map(Job, _objects_in(message))], results=[error])
            return

        def tasks_in(message: ReceivedMessage) -> list[ListedTask]:
            whole = listed_objects_in(message.body)
            tasks = ListedTasks(
                whole.selection, message.sent_ms, self.settings.archives, whole.backfill_id
            )
            return [tasks.of(listed, records.get(row_key_of(listed))) for listed in whole.objects]

        for result in BatchHasher(self.hasher, self.settings, tasks_in).handle(messages, deadline):
            is_last = result.received.receive_count >= self.settings.max_receives
            if is_last and len(result.results) == len(result.handled):
                result.results = [*map(self._given_up, result.handled, result.results)]
            left = {id(task) for task in result.failed if not isinstance(task, HashResult)}
            if left:  # so that a dead letter names no others
                whole = listed_objects_in(result.received.body)
                every = zip(whole.objects, result.tasks, strict=True)
                failed = [listed for listed, task in every if id(task) in left]
                body = body_of(whole.backfill_id, failed, whole.selection)
                result.received = replace(result.received, body=body)
            yield result

    def _given_up(
        self, task: Task | HashResult, result: HashResult | Exception
    ) -> HashResult | Exception:
        """The result after the last receive; see `given_up`."""
        if isinstance(task, Job) and isinstance(result, Exception):
            with suppress(BotoCoreError, ClientError):
                if end := given_up(task.ending, self.table, task.created, result):
                    return HashResult(task.created, end.outcome, reason=end.reason)
        return result

    def count(self, results: Iterable[MessageResult], deadline: Deadline, logger: Logger) -> None:
        """Count the objects of messages that are done for their backfills."""
        tallies: dict[str, Tally] = {}
        for result in results:
            if not result.tasks:
                continue  # it was malformed
            whole = listed_objects_in(result.received.body)
            run, failed = whole.backfill_id, whole.objects if result.failure else ()
            tally = tallies.get(run, Tally(invocations=1))
            tally += Tally(failed=len(failed), object_hashes=sum(map(object_hash, failed)))
            for report in result.reports:
                listed: Any = report.event  # an object that was created, as its message lists it
                size_bytes = report.measurement.size_bytes if report.measurement else 0
                if report.outcome is Outcome.LONG or is_long(listed, self.settings, deadline):
                    self.backfills.count_long(run, listed, report.outcome, size_bytes, logger)
                    continue
                counted = tally_of(report.outcome, size_bytes)
                tally += replace(counted, object_hashes=object_hash(listed))
            tallies[run] = tally
        for run, tally in tallies.items():
            self.backfills.count(run, tally, logger)


def _objects_in(message: ReceivedMessage) -> Sequence[ObjectCreated]:
    try:
        return listed_objects_in(message.body).objects
    except MalformedMessage:
        return ()

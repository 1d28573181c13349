"""Hash a batch of messages of listed objects, after one look-up of all their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.algorithms import ALGORITHMS
from bucketsum.backfill.backfill_records import MEMBERS, Tally, tally_of
from bucketsum.backfill.messages import body_of, listed_objects_in, object_hash
from bucketsum.errors import DamagedRow, MalformedMessage, TableBusy
from bucketsum.events.message_fields import is_moment, shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.batch import BatchHasher, MessageResult
from bucketsum.hashing.job import Job, Purpose
from bucketsum.hashing.object_hasher import is_long
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.verification import UNREAD, mark_refused
from bucketsum.measure import Measurement
from bucketsum.table.event_order import SECONDS
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, Status, row_key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aws_lambda_powertools import Logger

    from bucketsum.backfill.backfill_records import Check
    from bucketsum.backfill.table import BackfillsTable
    from bucketsum.hashing.batch import TaskHasher
    from bucketsum.hashing.job import Task
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.queue.dead_letters import ReceivedMessage
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable


@dataclass(frozen=True, slots=True)
class ListedBatchHasher:
    """Hashes batches of messages of listed objects."""

    hasher: TaskHasher
    table: DigestsTable
    backfills: BackfillsTable
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

        def tasks_in(message: ReceivedMessage) -> list[Job | HashResult]:
            whole = listed_objects_in(message.body)
            tasks = (
                self._task_of(listed, records.get(row_key_of(listed)), whole.check, message.sent_ms)
                for listed in whole.objects
            )
            return [
                replace(task, run=whole.backfill_id)
                if isinstance(task, Job)
                else _counted_once(task, self.settings, deadline)
                for task in tasks
            ]

        for result in BatchHasher(self.hasher, self.settings, tasks_in).handle(messages, deadline):
            is_last = result.received.receive_count >= self.settings.max_receives
            if is_last and len(result.results) == len(result.handled):
                result.results = [*map(self._given_up, result.handled, result.results)]
            if failed := [task.created for task in result.failed if isinstance(task, Job)]:
                whole = listed_objects_in(result.received.body)
                # So that a dead letter names no others:
                body = body_of(whole.backfill_id, failed, whole.check)
                result.received = replace(result.received, body=body)
            yield result

    def _given_up(
        self, task: Task | HashResult, result: HashResult | Exception
    ) -> HashResult | Exception:
        """After the last receive, an object that S3 did not send cannot be verified."""
        if not (isinstance(task, Job) and task.recorded and isinstance(result, UNREAD)):
            return result
        try:
            outcome = mark_refused(self.table, task.recorded, result)
        except (BotoCoreError, ClientError):
            return result
        return HashResult(task.created, outcome, reason=str(result))

    def _task_of(
        self,
        listed: ObjectCreated,
        record: Row | Deletion | DamagedRow | None,
        check: Check | None,
        sent_ms: int | None,
    ) -> Job | HashResult:
        """The task of *listed*; a row that has its digest is verified, or left as it is."""
        if isinstance(record, Row) and _is_hashed(listed, record):
            return self._verification(listed, record, check, sent_ms)
        return _recording(listed, record)

    def _verification(
        self, listed: ObjectCreated, record: Row, check: Check | None, sent_ms: int | None
    ) -> Job | HashResult:
        """The job that verifies *record*, if *check* selects it, or its result.

        So is each row of a version that S3 lists with another size or entity tag: none can change.
        """
        if check and (outcome := _read_since(record, sent_ms)):
            return HashResult(listed, outcome, measurement=Measurement(record.size_bytes, 0))
        is_same = record.etag in (None, listed.etag) and record.size_bytes == listed.size_bytes
        if is_same and not (check and self._is_due(record, check)):
            return HashResult(listed, Outcome.UNCHANGED)
        if listed.storage_class:
            return HashResult(listed, Outcome.ARCHIVED)
        job = Job(replace(listed, sequencer=record.sequencer), record, Purpose.VERIFY)
        for name, value in record.digests.items():
            if name not in ALGORITHMS or not ALGORITHMS[name].is_digest(value):
                text = (
                    f"digest_{name} of {shown(record.key)} is {shown(value)}: nothing compares it"
                )
                return replace(job, expected=DamagedRow(text))
        return job

    def _is_due(self, row: Row, check: Check) -> bool:
        at = row.verified.at if row.verified else row.recorded_at
        if check.older_than and at[:SECONDS] >= check.older_than[:SECONDS]:
            return False
        if check.missing == MEMBERS:
            archives = self.settings.archives
            return bool(archives and archives.takes(row.key) and not row.archive)
        return check.missing is None or check.missing not in row.digests

    def count(self, results: Iterable[MessageResult], logger: Logger) -> None:
        """Count the objects of messages that are done for their backfills."""
        tallies: dict[str, Tally] = {}
        for result in results:
            if result.tasks:  # else it was malformed
                backfill_id = listed_objects_in(result.received.body).backfill_id
                tally = tallies.get(backfill_id, Tally(invocations=1))
                tallies[backfill_id] = tally + _tally_of(result)
        for backfill_id, tally in tallies.items():
            self.backfills.count(backfill_id, tally, logger)


def _is_hashed(listed: ObjectCreated, row: Row) -> bool:
    """Whether *row* has the digest of *listed*; one of version ``null`` may be of another object.

    S3's LastModified does not tell which is newer: it is the time at which an upload in parts was
    begun. A version with an ID is never put again.
    """
    is_same = row.etag == listed.etag or not row.version.is_null
    return is_same and row.status is Status.HASHED and not row.deletion


def _recording(
    listed: ObjectCreated, record: Row | Deletion | DamagedRow | None
) -> Job | HashResult:
    """The job that records *listed*, or its result if there is nothing to record.

    The job replaces a row without a digest; and one of version ``null`` that is deleted, or of
    another entity tag, if S3 still has *listed*. Then its event was lost, as it is newer. It keeps
    the row's sequencer, or that of its deletion, so that late events of the row's object change
    nothing.
    """
    if record is None or isinstance(record, DamagedRow):
        return Job(listed, record)
    if isinstance(record, Deletion):
        if not row_key_of(listed).version.is_null:
            return Job(listed)
        return Job(replace(listed, sequencer=record.sequencer), record)
    if outcome := _known(listed, record):
        return HashResult(listed, outcome)
    if record.deletion:
        return Job(replace(listed, sequencer=record.deletion.sequencer), record)
    time = _time(listed, record)
    return Job(replace(listed, sequencer=record.sequencer, event_time=time), record)


def _known(listed: ObjectCreated, row: Row) -> Outcome | None:
    """The outcome if *row*, without a digest or deleted, says all there is to say of *listed*."""
    if row.deletion:
        return None if row.version.is_null else Outcome.SUPERSEDED
    is_archived = row.status is Status.ARCHIVED and listed.storage_class is not None
    is_same = (row.etag, row.storage_class) == (listed.etag, listed.storage_class)
    return Outcome.ARCHIVED if is_archived and is_same else None


def _read_since(row: Row, sent_ms: int | None) -> Outcome | None:
    """The outcome of a reading since its message was sent, which is received again; None if none.

    So the row and the counts of a verification say the same, and nothing is read twice for it.
    """
    verified_at = row.verified.at if row.verified else ""
    differs_at = row.difference.at if row.difference else ""
    read_at = max(verified_at, differs_at)
    if sent_ms is None or not is_moment(read_at):
        return None
    if datetime.fromisoformat(read_at).timestamp() * 1000 < sent_ms:
        return None
    return Outcome.DIFFERS if differs_at > verified_at else Outcome.VERIFIED


def _counted_once(result: HashResult, settings: Settings, deadline: Deadline) -> HashResult:
    """*result*, or `LONG` if the slicer counts its end."""
    is_of_slicer = (
        result.measurement
        and isinstance(result.event, ObjectCreated)
        and is_long(result.event, settings, deadline)
    )
    return HashResult(result.event, Outcome.LONG) if is_of_slicer else result


def _time(listed: ObjectCreated, row: Row) -> str:
    """The time of *listed*; if *row* is about the same object, the later of their times.

    S3 lists the time at which an upload in parts was begun, and an object that was put between that
    and its end would seem newer.
    """
    if row.etag != listed.etag:
        return listed.event_time
    return max(row.arrived_at, listed.event_time, key=lambda time: time[:SECONDS])


def _objects_in(message: ReceivedMessage) -> Sequence[ObjectCreated]:
    try:
        return listed_objects_in(message.body).objects
    except MalformedMessage:
        return ()


def _tally_of(result: MessageResult) -> Tally:
    """The objects of a message that is done, by outcome."""
    tally = Tally(
        failed=len(result.tasks) - len(result.reports),
        object_hashes=sum(map(object_hash, _listed(result))),
    )
    for report in result.reports:
        size_bytes = report.measurement.size_bytes if report.measurement else 0
        tally += tally_of(report.outcome, size_bytes)
    return tally


def _listed(result: MessageResult) -> Iterator[ObjectCreated]:
    for task in result.tasks:
        listed = task.created if isinstance(task, Job) else task
        listed = listed.event if isinstance(listed, HashResult) else listed
        if isinstance(listed, ObjectCreated):
            yield listed

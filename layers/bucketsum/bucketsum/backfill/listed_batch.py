"""Hash a batch of messages of listed objects, after one look-up of all their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum.backfill.backfill_records import Tally
from bucketsum.backfill.messages import body_of, listed_objects_in, object_hash
from bucketsum.errors import DamagedRow, MalformedMessage, TableBusy
from bucketsum.hashing.batch import BatchHasher, MessageResult
from bucketsum.hashing.object_rows import SECONDS
from bucketsum.hashing.result import HashResult
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Deletion, Status, row_key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from aws_lambda_powertools import Logger

    from bucketsum.backfill.table import BackfillsTable
    from bucketsum.events.object_events import ObjectCreated, ObjectEvent
    from bucketsum.hashing.object_hasher import ObjectHasher
    from bucketsum.hashing.result import ReadObject
    from bucketsum.hashing.small_objects import SmallObjectHasher
    from bucketsum.invocation.deadline import Deadline
    from bucketsum.queue.dead_letters import ReceivedMessage
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable
    from bucketsum.table.rows import Row, RowKey

    Records = Mapping[RowKey, Row | Deletion | DamagedRow]


@dataclass(frozen=True, slots=True)
class ListedBatchHasher:
    """Hashes batches of messages of listed objects."""

    hasher: ObjectHasher
    table: DigestsTable
    backfills: BackfillsTable
    settings: Settings
    small: SmallObjectHasher | None = None

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
                yield MessageResult(message, _objects_in(message), results=[error])
            return
        hasher = _ListedHasher(self.hasher, self.small, records)
        for result in BatchHasher(hasher, self.settings, _parsed).handle(messages, deadline):
            failed = cast("list[ObjectCreated]", result.failed_events)  # `_parsed` has no others
            if failed:
                backfill_id = listed_objects_in(result.received.body).backfill_id
                body = body_of(backfill_id, failed)  # so that a dead letter names no others
                result.received = replace(result.received, body=body)
            yield result

    def count(self, results: Iterable[MessageResult], logger: Logger) -> None:
        """Count the objects of messages that are done for their backfills."""
        tallies: dict[str, Tally] = {}
        for result in results:
            if result.events:  # else it was malformed
                backfill_id = listed_objects_in(result.received.body).backfill_id
                tally = tallies.get(backfill_id, Tally(invocations=1))
                tallies[backfill_id] = tally + _tally_of(result)
        for backfill_id, tally in tallies.items():
            try:
                self.backfills.count(backfill_id, tally)
            except (BotoCoreError, ClientError):
                logger.exception("the counts of the backfill are not recorded; its rows are")


@dataclass(frozen=True, slots=True)
class _ListedHasher:
    """Hashes listed objects, except those whose records show that they need not be read."""

    _hasher: ObjectHasher
    _small: SmallObjectHasher | None
    _records: Records

    def begin(
        self, events: Mapping[int, ObjectEvent], deadline: Deadline
    ) -> Mapping[int, HashResult | ReadObject]:
        """Start to read the small objects that have no record."""
        if not self._small:
            return {}
        unrecorded = {
            number: event
            for number, event in events.items()
            if row_key_of(event) not in self._records
        }
        return self._small.begin(unrecorded, deadline)

    def record(self, read: ReadObject) -> HashResult:
        """See `ObjectHasher.record` for the contract."""
        return self._hasher.record(read)

    def hash(self, event: ObjectEvent, deadline: Deadline) -> HashResult:
        """Hash the listed object, unless its record says that it need not be read."""
        listed = cast("ObjectCreated", event)  # `_parsed` makes no others
        row_key = row_key_of(listed)
        seen = self._records.get(row_key)
        if seen is None or (isinstance(seen, Deletion) and not row_key.version.is_null):
            return self._hasher.hash(listed, deadline)
        if isinstance(seen, DamagedRow):
            raise seen
        if isinstance(seen, Deletion):
            return self._hasher.hash(replace(listed, sequencer=seen.sequencer), deadline, seen)
        if outcome := _known(listed, seen):
            return HashResult(listed, outcome)
        # It keeps the row's sequencer, or that of its deletion, so that late events of the row's
        # object change nothing.
        if seen.deletion:
            listed = replace(listed, sequencer=seen.deletion.sequencer)
        else:
            listed = replace(listed, sequencer=seen.sequencer, event_time=_time(listed, seen))
        return self._hasher.hash(listed, deadline, seen)


def _known(listed: ObjectCreated, row: Row) -> Outcome | None:
    """The outcome if *listed* need not be read; None if it must be read and must replace *row*.

    A row that was unreadable is replaced; and one of version ``null`` that is deleted, or of
    another entity tag, if S3 still has *listed*. Then its event was lost, as it is newer than what
    was recorded before. S3's LastModified does not tell: it is the time at which an upload in parts
    was begun. A version with an ID is never put again.
    """
    if row.deletion:
        return None if row.version.is_null else Outcome.SUPERSEDED
    is_same = row.etag == listed.etag
    return Outcome.UNCHANGED if is_same and row.status is Status.HASHED else None


def _time(listed: ObjectCreated, row: Row) -> str:
    """The time of *listed*; if *row* is about the same object, the later of their times.

    S3 lists the time at which an upload in parts was begun, and an object that was put between that
    and its end would seem newer.
    """
    if row.etag != listed.etag:
        return listed.event_time
    return max(row.arrived_at, listed.event_time, key=lambda time: time[:SECONDS])


def _parsed(body: str) -> Sequence[ObjectCreated]:
    return listed_objects_in(body).objects


def _objects_in(message: ReceivedMessage) -> Sequence[ObjectCreated]:
    try:
        return _parsed(message.body)
    except MalformedMessage:
        return ()


def _tally_of(result: MessageResult) -> Tally:
    """The objects of a message that is done, by outcome."""
    listed = cast("Sequence[ObjectCreated]", result.events)  # `_parsed` has no others
    counts = Counter(report.outcome for report in result.reports)
    hashed = (
        report.measurement.size_bytes
        for report in result.reports
        if report.outcome is Outcome.HASHED and report.measurement
    )
    return Tally(
        hashed=counts[Outcome.HASHED],
        hashed_bytes=sum(hashed),
        skipped=counts[Outcome.UNCHANGED],
        superseded=counts[Outcome.SUPERSEDED],
        gone=counts[Outcome.GONE],
        unreadable=counts[Outcome.UNREADABLE],
        long=counts[Outcome.LONG],
        failed=len(listed) - len(result.reports),
        object_hashes=sum(map(object_hash, listed)),
    )

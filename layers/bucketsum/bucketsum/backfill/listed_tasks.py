"""A listed object and its row → it is recorded, verified, or left as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from bucketsum.algorithms import ALGORITHMS
from bucketsum.backfill.selection import Selection
from bucketsum.errors import DamagedRow
from bucketsum.events.message_fields import is_moment, shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.job import Job
from bucketsum.hashing.recording import Recording
from bucketsum.hashing.result import HashResult
from bucketsum.hashing.verification import Verification
from bucketsum.measure import Measurement
from bucketsum.table.archive_settings import ArchiveSettings
from bucketsum.table.event_order import SECONDS
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, Status, row_key_of

ListedTask: TypeAlias = Job | DamagedRow | HashResult
Record: TypeAlias = Row | Deletion | DamagedRow


@dataclass(frozen=True, slots=True)
class ListedTasks:
    """The tasks of the objects in one message.

    Attributes:
        selection: What is read of recorded objects.
        sent_ms: When the message was sent, in milliseconds since 1970; None if it is not known.
        archives: What the members of archives are read with; None if they are not.
        run: The backfill or verification of the message.
    """

    selection: Selection
    sent_ms: int | None
    archives: ArchiveSettings | None
    run: str

    def of(self, listed: ObjectCreated, record: Record | None) -> ListedTask:
        """The task of *listed*; a row that has its digest is verified, or left as it is."""
        if isinstance(record, DamagedRow):
            return record
        if isinstance(record, Row) and record.has_digest_of(listed.etag):
            return self._verification(listed, record)
        return self._recording(listed, record)

    def _verification(self, listed: ObjectCreated, record: Row) -> ListedTask:
        """The job that verifies *record*, if it is selected, or its result.

        So is each row of a version that S3 lists with another size or entity tag: none can change.
        """
        verifies = self.selection.purpose is Purpose.VERIFY
        if verifies and (outcome := _read_since(record, self.sent_ms)):
            return HashResult(listed, outcome, measurement=Measurement(record.size_bytes, 0))
        is_same = record.etag in (None, listed.etag) and record.size_bytes == listed.size_bytes
        if is_same and not self.selection.has(record, self.archives):
            return HashResult(listed, Outcome.UNCHANGED)
        if listed.storage_class:
            return HashResult(listed, Outcome.ARCHIVED)
        for name, value in record.digests.items():
            if name not in ALGORITHMS or not ALGORITHMS[name].is_digest(value):
                text = f"digest_{name} of {shown(record.key)} is {shown(value)}"
                return DamagedRow(f"{text}: nothing compares it")
        created = replace(listed, sequencer=record.sequencer)
        return Job(created, Verification(record), run=self.run)

    def _recording(self, listed: ObjectCreated, record: Row | Deletion | None) -> Job | HashResult:
        """The job that records *listed*, or its result if there is nothing to record.

        The job replaces a row without a digest; and one of version ``null`` that is deleted, or of
        another entity tag, if S3 still has *listed*. Then its event was lost, as it is newer. It
        keeps the row's sequencer, or that of its deletion, so that late events of the row's object
        change nothing.
        """
        is_old = isinstance(record, Deletion) and not row_key_of(listed).version.is_null
        if record is None or is_old:
            return Job(listed, run=self.run)
        if isinstance(record, Row) and (outcome := _known(listed, record)):
            return HashResult(listed, outcome)
        seen = record.deletion or record if isinstance(record, Row) else record
        created = replace(listed, sequencer=seen.sequencer)
        if isinstance(seen, Row):
            created = replace(created, event_time=_time(listed, seen))
        return Job(created, Recording(record), run=self.run)


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
    return Outcome.DIFFERS if differs_at >= verified_at else Outcome.VERIFIED


def _time(listed: ObjectCreated, row: Row) -> str:
    """The time of *listed*; if *row* is about the same object, the later of their times.

    S3 lists the time at which an upload in parts was begun, and an object that was put between that
    and its end would seem newer.
    """
    if row.etag != listed.etag:
        return listed.event_time
    return max(row.arrived_at, listed.event_time, key=lambda time: time[:SECONDS])

"""An arrival → its outcome: look up, read, digest, record."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.clock import now
from bucketsum.digest import Digest, digest_of
from bucketsum.digests_table import (
    DigestsTable,
    ReadSetup,
    Row,
    Status,
    Timing,
    WriteResult,
    comparable_sequencer,
    row_key_of,
)
from bucketsum.errors import NotHashed, ObjectGone, ObjectSuperseded, ObjectUnreadable, OutOfTime
from bucketsum.measure import Measurement
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from bucketsum.archives.archive_hasher import ArchiveHasher
    from bucketsum.archives.reader import ArchiveSummary
    from bucketsum.notifications import ObjectCreated
    from bucketsum.s3.source import OpenObject, Source
    from bucketsum.settings import Settings

LOOK_UP_FROM_BYTES: Final = SPLIT_FROM_BYTES
"""From this size on a look-up costs less than the chance of reading the object twice.

A look-up is a request of some 5 ms before every object; S3 delivers few events twice. Below this
size a needless second read costs about as much as the look-ups that would have avoided it.
"""


class Outcome(StrEnum):
    """What became of an arrival. Each of these is success for the queue."""

    HASHED = "hashed"
    UNCHANGED = "unchanged"
    """This very event was recorded before."""
    SUPERSEDED = "superseded"
    """A newer object has taken its place; that one has an event of its own."""
    GONE = "gone"
    """It was deleted before it was read."""
    UNREADABLE = "unreadable"
    """It is there, but not for us: a row says why and what to do."""


@dataclass(frozen=True, slots=True)
class HashResult:
    """What was done for one arrival.

    Attributes:
        arrival: The arrival.
        outcome: What became of it.
        sha1: Its digest, where hashed.
        measurement: Bytes and seconds of the reading, where there was one.
        reason: Why it was not hashed.
        contents: What became of its members, where it was read as an archive.
    """

    arrival: ObjectCreated
    outcome: Outcome
    sha1: str | None = None
    measurement: Measurement | None = None
    reason: str | None = None
    contents: ArchiveSummary | None = None


class ObjectHasher:
    """Hashes arrivals one after the other."""

    def __init__(
        self,
        source: Source,
        ledger: DigestsTable,
        settings: Settings,
        clock: Callable[[], float] = time.perf_counter,
        archives: ArchiveHasher | None = None,
    ) -> None:
        self._source = source
        self._ledger = ledger
        self._settings = settings
        self._clock = clock
        self._archives = archives

    def hash(self, arrival: ObjectCreated, remaining_seconds: Callable[[], float]) -> HashResult:
        """Read *arrival* once, if need be, and record its digest.

        Args:
            arrival: What landed.
            remaining_seconds: How long this invocation may still take.

        Raises:
            RetryLater: It could not be read to its end this time.
            ClientError: DynamoDB refused.
        """
        if remaining_seconds() < STOP_BEFORE_END_SECONDS:
            raise OutOfTime(
                "the invocation's time ended before this object's turn; lower BatchSize or "
                "raise MemorySize"
            )
        try:
            return self._known(arrival) or self._hashed(arrival, remaining_seconds)
        except ObjectUnreadable as error:
            row = self._row(arrival, Status.UNREADABLE, reason=str(error))
            recorded = self._ledger.record(row)  # what was hashed before is not forgotten for it
            outcome = Outcome.UNREADABLE if recorded is WriteResult.WRITTEN else _RECORDED[recorded]
            return HashResult(arrival, outcome, reason=str(error))
        except NotHashed as error:
            return HashResult(arrival, _OUTCOMES[type(error)], reason=str(error))

    def _known(self, arrival: ObjectCreated) -> HashResult | None:
        if arrival.size_bytes < LOOK_UP_FROM_BYTES and not self._as_archive(arrival):
            return None
        row = self._ledger.row_at(row_key_of(arrival))
        if row is None or row.sequencer < comparable_sequencer(arrival.sequencer):
            return None
        if row.sequencer > comparable_sequencer(arrival.sequencer):
            raise ObjectSuperseded("a newer event of this key is recorded")
        return HashResult(arrival, Outcome.UNCHANGED) if row.status is Status.HASHED else None

    def _as_archive(self, arrival: ObjectCreated) -> ArchiveHasher | None:
        return self._archives if self._archives and self._archives.takes(arrival) else None

    def _hashed(self, arrival: ObjectCreated, remaining_seconds: Callable[[], float]) -> HashResult:
        if archives := self._as_archive(arrival):
            return self._hashed_with_members(archives, arrival, remaining_seconds)
        started = self._clock()
        opened = self._source.open(arrival)
        with closing(opened.chunks):  # also where time runs out in the middle of them
            chunks = _within(remaining_seconds, opened)
            digest = digest_of(chunks, self._settings.extra_algorithms)
        measurement = Measurement(digest.size_bytes, self._clock() - started)
        row = self._row(arrival, Status.HASHED, digest, measurement, opened)
        outcome = _RECORDED[self._ledger.record(row)]
        return HashResult(arrival, outcome, digest.sha1, measurement)

    def _hashed_with_members(
        self,
        archives: ArchiveHasher,
        arrival: ObjectCreated,
        remaining_seconds: Callable[[], float],
    ) -> HashResult:
        from bucketsum.archives.archive_hasher import archive_record  # noqa: PLC0415 - see `settings`

        started = self._clock()
        opened: list[OpenObject] = []

        def chunks() -> Generator[bytes]:  # opened once they are asked for: the directory is first
            opened.append(self._source.open(arrival))
            with closing(opened[0].chunks):
                yield from _within(remaining_seconds, opened[0])

        digest, contents = archives.hash(arrival, chunks(), remaining_seconds)
        measurement = Measurement(digest.size_bytes, self._clock() - started)
        plain = self._row(arrival, Status.HASHED, digest, measurement, opened[0])
        row = replace(plain, remarks=contents.remarks, archive=archive_record(contents))
        recorded = self._ledger.record(row)
        if recorded is WriteResult.WRITTEN:
            archives.rows.remove_stale(row)
        outcome = _RECORDED[recorded]
        return HashResult(arrival, outcome, digest.sha1, measurement, contents=contents)

    def _row(
        self,
        arrival: ObjectCreated,
        status: Status,
        digest: Digest | None = None,
        measurement: Measurement | None = None,
        opened: OpenObject | None = None,
        reason: str | None = None,
    ) -> Row:
        place = row_key_of(arrival)
        return Row(
            bucket=place.bucket,
            key=place.key,
            entry=place.entry,
            status=status,
            size_bytes=digest.size_bytes if digest else arrival.size_bytes,
            sequencer=arrival.sequencer,
            arrived_at=arrival.event_time,
            recorded_at=now(),
            etag=opened.etag if opened else arrival.etag,
            sha1=digest.sha1 if digest else None,
            digests=digest.extra if digest else {},
            reason=reason,
            timing=Timing(measurement.seconds * 1000, measurement.mb_per_s)
            if measurement
            else None,
            setup=ReadSetup(
                self._settings.chunk_bytes,
                opened.streams if opened else 1,
                self._settings.memory_mb,
            ),
        )


STOP_BEFORE_END_SECONDS: Final = 3.0
"""How long before its time-out an invocation stops reading, so that it can say so."""

_OUTCOMES: Final = {ObjectGone: Outcome.GONE, ObjectSuperseded: Outcome.SUPERSEDED}
_RECORDED: Final = {
    WriteResult.WRITTEN: Outcome.HASHED,
    WriteResult.DUPLICATE: Outcome.UNCHANGED,
    WriteResult.STALE: Outcome.SUPERSEDED,
}


def _within(remaining_seconds: Callable[[], float], opened: OpenObject) -> Iterator[bytes]:
    """Pass the chunks on, but stop in time to give the message back with a reason.

    In time is before a chunk as slow as the slowest would outlast what is left.
    """
    read = 0
    slowest_seconds = 0.0
    before = remaining_seconds()
    for chunk in opened.chunks:
        left = remaining_seconds()
        slowest_seconds, before = max(slowest_seconds, before - left), left
        if left < max(STOP_BEFORE_END_SECONDS, 2 * slowest_seconds):
            raise OutOfTime(
                f"{read} of {opened.size_bytes} bytes were read when the invocation's time ended; "
                "raise MemorySize, lower BatchSize, or hash this object elsewhere"
            )
        read += len(chunk)
        yield chunk

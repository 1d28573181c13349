"""Result of one event, and an object that is read but not yet recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from bucketsum.digest import Digest
    from bucketsum.events.object_events import ObjectEvent
    from bucketsum.hashing.job import Job
    from bucketsum.measure import Measurement
    from bucketsum.table.rows import ArchiveRecord


@dataclass(frozen=True, slots=True)
class HashResult:
    """The result of one event.

    Attributes:
        sha1: The object's digest, if hashed.
        measurement: Bytes and seconds of the reading, if it was read.
        reason: Why it was not hashed.
        summary: Its members, if it was read as an archive.
    """

    event: ObjectEvent
    outcome: Outcome
    sha1: str | None = None
    measurement: Measurement | None = None
    reason: str | None = None
    summary: ArchiveRecord | None = None


@dataclass(frozen=True, slots=True)
class ReadObject:
    """An object that was read to its end, and whose row must be written.

    Attributes:
        etag: Entity tag of the object that was read, without quotes.
    """

    job: Job
    etag: str
    digest: Digest
    measurement: Measurement
    streams: int = 1

    @property
    def result(self) -> HashResult:
        """The result once its row is written."""
        outcome = Outcome.VERIFIED if self.job.recorded else Outcome.HASHED
        return HashResult(self.job.created, outcome, self.digest.sha1, self.measurement)

"""Result of one event, and an object that is read but not yet recorded."""

from __future__ import annotations

from dataclasses import dataclass

from bucketsum.digest import Digest
from bucketsum.events.object_events import ObjectEvent
from bucketsum.hashing.job import Job
from bucketsum.measure import Measurement
from bucketsum.table.checksum_values import Compared
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord


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
        compared: Whether S3's own checksum is that of its bytes; None if S3 was not asked.
        summary: Its members, if they were read.
    """

    job: Job
    etag: str
    digest: Digest
    measurement: Measurement
    streams: int = 1
    compared: Compared | None = None
    summary: ArchiveRecord | None = None

    def result_of(self, outcome: Outcome, reason: str | None = None) -> HashResult:
        """The result of its *outcome*."""
        created, digest = self.job.created, self.digest.sha1
        return HashResult(created, outcome, digest, self.measurement, reason, self.summary)

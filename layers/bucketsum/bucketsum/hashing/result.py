"""Result of one event, and an object that is read but not yet recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from bucketsum.measure import Measurement
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.outcome import Outcome

if TYPE_CHECKING:
    from bucketsum.digest import Digest
    from bucketsum.events.object_events import ObjectEvent
    from bucketsum.hashing.job import Job
    from bucketsum.s3.source import OpenObject
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
    """

    job: Job
    etag: str
    digest: Digest
    measurement: Measurement
    streams: int = 1
    compared: Compared | None = None

    @classmethod
    def of(cls, job: Job, opened: OpenObject, digest: Digest, seconds: float) -> Self:
        """The object of *job*, whose *opened* bytes have *digest*, and came in *seconds*."""
        measurement = Measurement(digest.size_bytes, seconds)
        compared = opened.compared(digest.by_name)
        return cls(job, opened.etag, digest, measurement, opened.streams, compared)

    @property
    def is_contradicted(self) -> bool:
        """Whether S3's checksum is not that of the bytes that came."""
        return self.compared is not None and self.compared.result is ChecksumResult.DIFFERS

    @property
    def result(self) -> HashResult:
        """The result once its row is written."""
        outcome = Outcome.VERIFIED if self.job.recorded else Outcome.HASHED
        return HashResult(self.job.created, outcome, self.digest.sha1, self.measurement)

    def result_of(self, outcome: Outcome) -> HashResult:
        """The result of its row's *outcome*; recorded is not enough if S3's checksum differs."""
        result, compared = replace(self.result, outcome=outcome), self.compared
        if outcome is Outcome.HASHED and compared and self.is_contradicted:
            reason = f"S3's checksum is {compared.checksum}; two readings: {compared.reason}"
            return replace(result, outcome=Outcome.DIFFERS, reason=reason)
        return result

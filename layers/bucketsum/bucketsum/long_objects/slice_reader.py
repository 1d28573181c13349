"""The bytes of one slice of a long object, read, hashed and compared."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from bucketsum.checksums.comparison import NotCompared, Witness
from bucketsum.errors import TooManySlices
from bucketsum.hashing.ending import Ending
from bucketsum.hashing.job import Job
from bucketsum.hashing.result import ReadObject
from bucketsum.invocation.deadline import Deadline
from bucketsum.long_objects.portable_digest import BLOCK_BYTES
from bucketsum.long_objects.progress import Progress
from bucketsum.long_objects.slice_bytes import digest_at, hash_slice
from bucketsum.measure import Measurement
from bucketsum.s3.source import Source
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

MEMBERS_NOT_READ: Final = "the archive is too large for one invocation: only it itself was hashed"

END_BEFORE_SECONDS: Final = 45.0
"""A slice ends this long before its invocation does, to save its state; after two thirds of a
shorter invocation. If DynamoDB is silent, saving and ending the lease take `SILENT_SECONDS` each;
then the message returns to the queue."""

MINIMUM_SLICE_BYTES: Final = 64 * 1024 * 1024
"""Slices of a healthy chain are larger than this: 75 kB/s would do. Only `SLICE_BYTES`, which is
for tests, allows smaller ones."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice that was read.

    Attributes:
        moved: The progress after it; with the states of its digests, unless it was the last.
        measurement: Bytes and seconds of the slice.
        whole: The object after its last slice.
    """

    moved: Progress
    measurement: Measurement
    whole: ReadObject | None = None


@dataclass(frozen=True, slots=True)
class SliceReader:
    """Reads slices of objects.

    Attributes:
        extra_algorithms: Digests in addition to SHA-1.
        slice_bytes: Maximum size of a slice; None if only time ends it.
        checksums: S3's own, to be compared; None if they are not.
    """

    source: Source
    extra_algorithms: tuple[str, ...] = ()
    slice_bytes: int | None = None
    checksums: StoredChecksums | None = None

    def require_sense(self, progress: Progress) -> None:
        """Check that the chain is not a loop.

        Raises:
            TooManySlices: It has had more slices than its size allows.
        """
        smallest = min(self.slice_bytes or MINIMUM_SLICE_BYTES, MINIMUM_SLICE_BYTES)
        smallest -= smallest % BLOCK_BYTES
        if progress.hop > -(-progress.size_bytes // smallest):
            raise TooManySlices(
                f"{progress.hop} slices have read {progress.offset} of {progress.size_bytes} bytes"
            )

    def read(self, progress: Progress, ending: Ending, deadline: Deadline) -> Slice:
        """Read the object of *progress* from its offset on, until its end or that of the time.

        Raises:
            Retryable: It could not be read this time.
            NotHashed: It is gone, superseded or not readable.
            DamagedProgress: Its saved state does not fit together.
        """
        started = time.perf_counter()
        reserve_seconds = min(END_BEFORE_SECONDS, deadline.seconds_left() / 3)
        digest = digest_at(progress, ending.algorithms(self.extra_algorithms))
        opened = self.source.open(progress.created, progress.offset)
        with closing(opened.chunks):
            digest.witness = witness = self._witness(progress)
            is_whole = hash_slice(
                digest,
                opened.chunks,
                progress.size_bytes,
                self.slice_bytes or progress.size_bytes,
                lambda: deadline.seconds_left() < reserve_seconds,
            )
        size_bytes = digest.length - progress.offset
        measurement = Measurement(size_bytes, time.perf_counter() - started)
        moved = replace(
            progress,
            offset=digest.length,
            hop=progress.hop + 1,
            seconds=progress.seconds + measurement.seconds,
            mb_per_s=measurement.mb_per_s,
        )
        if not is_whole:
            state = witness.saved() if witness else None
            moved = replace(moved, states=digest.states(), checksum_state=state)
            return Slice(moved, measurement)
        whole, values = Measurement(moved.size_bytes, moved.seconds), digest.digest()
        compared = witness.compared(values.by_name) if witness else None
        read = ReadObject(
            Job(moved.created), moved.etag, values, whole, opened.streams, compared, _members(moved)
        )
        return Slice(moved, measurement, read)

    def _witness(self, progress: Progress) -> Witness | None:
        if self.checksums is None:
            return None
        if not progress.offset:
            return self.checksums.witness(progress.created, {})
        state = progress.checksum_state
        return NotCompared.continued(state) or self.checksums.witness(progress.created, {}, state)


def _members(progress: Progress) -> ArchiveRecord | None:
    """The summary of the members of an archive, none of which was read."""
    if (mode := progress.archive_mode) is None:
        return None
    status = ArchiveStatus.OUT_OF_TIME
    return ArchiveRecord(status, mode, 0, 0, 0, 0, 0.0, reason=MEMBERS_NOT_READ)

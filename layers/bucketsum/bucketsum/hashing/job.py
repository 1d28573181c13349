"""A job: an object to hash, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from bucketsum.table.rows import Row

if TYPE_CHECKING:
    from bucketsum.errors import BucketsumError, DamagedRow
    from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectRestored
    from bucketsum.table.archive_values import Mode
    from bucketsum.table.row_parts import Deletion

Task: TypeAlias = "Job | ObjectDeleted | ObjectRestored"
"""Work that a message names: the object of a created event is a job."""


class Purpose(StrEnum):
    """Reason for which an object is read."""

    RECORD = "record"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Job:
    """An object to hash.

    Attributes:
        created: The object, with the sequencer that its row will have.
        expected: What the table must still hold when the row is written, see
            `DigestsTable.replace`; a damaged row is the job's error. None if nothing was looked up.
        doubt: The error in the response to a request for the object, which is not repeated.
        purpose: With VERIFY, the expected row is marked as verified, and never replaced.
        mode: Mode in which its members would be read; None if it is not an archive.
        run: Backfill or verification that counts it; None for an event.
    """

    created: ObjectCreated
    expected: Row | Deletion | DamagedRow | None = None
    purpose: Purpose = Purpose.RECORD
    mode: Mode | None = None
    doubt: BucketsumError | None = None
    run: str | None = None

    @property
    def recorded(self) -> Row | None:
        """The row whose digests are compared; None if a row is written."""
        is_verification = self.purpose is Purpose.VERIFY
        return self.expected if is_verification and isinstance(self.expected, Row) else None

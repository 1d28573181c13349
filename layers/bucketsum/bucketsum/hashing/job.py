"""A job: an object to hash, and what is done with its reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from bucketsum.errors import BucketsumError, DamagedRow
from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectRestored
from bucketsum.hashing.ending import Ending
from bucketsum.hashing.recording import Recording
from bucketsum.table.archive_settings import Mode

if TYPE_CHECKING:
    from bucketsum.hashing.result import ReadObject

Task: TypeAlias = "Job | DamagedRow | ObjectDeleted | ObjectRestored"
"""Work that a message names: the object of a created event is a job, if its row is intact."""
State: TypeAlias = "Task | ReadObject"
"""Work that is left of a task."""

_EVENT: Final = Recording()


@dataclass(frozen=True, slots=True)
class Job:
    """An object to hash.

    Attributes:
        created: The object, with the sequencer that its row will have.
        mode: Mode in which its members would be read; None if it is not an archive.
        doubt: The error in the response to a request for the object, which is not repeated.
        run: Backfill or verification that counts it; None for an event.
    """

    created: ObjectCreated
    ending: Ending = _EVENT
    mode: Mode | None = None
    doubt: BucketsumError | None = None
    run: str | None = None

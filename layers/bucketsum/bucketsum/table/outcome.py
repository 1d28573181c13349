"""Outcome and result of one event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bucketsum.events.object_events import ObjectEvent
    from bucketsum.measure import Measurement
    from bucketsum.table.rows import ArchiveRecord


class Outcome(StrEnum):
    """The outcome of an event. Each of these is success for the queue."""

    HASHED = "hashed"
    UNCHANGED = "unchanged"
    """This event was recorded before, or a restored object has a digest or was deleted."""
    SUPERSEDED = "superseded"
    """A newer object has replaced it; that object has an event of its own."""
    GONE = "gone"
    """It was deleted before it was read."""
    UNREADABLE = "unreadable"
    """It exists, but the function may not read it; a row says why and what to do."""
    LONG = "long"
    """It is too large for one invocation, and is hashed in slices by another function."""
    DELETED = "deleted"
    """Its deletion is recorded."""
    HIDDEN = "hidden"
    """A delete marker hides the key; all its versions still exist."""


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

"""The result of a slice's message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bucketsum.long_objects.progress import Progress
from bucketsum.measure import Measurement
from bucketsum.table.outcome import Outcome


class SliceOutcome(StrEnum):
    """The outcome of a message that leaves its object unfinished."""

    CONTINUED = "continued"
    """The slice is saved, and the message of the next one is sent."""
    RESENT = "resent"
    """The slice was saved before, but the message of the next one perhaps not sent: it is now."""
    SUPERFLUOUS = "superfluous"
    """The slice was done before, or its object is not in progress any more."""
    BEGUN = "begun"
    """Its progress was removed by another program: it begins again."""
    STOPPED = "stopped"
    """A person stopped it."""


@dataclass(frozen=True, slots=True)
class SliceReport:
    """The result of one message.

    Attributes:
        message: The progress in the message.
        progress: The object's progress; None if it is not in progress.
        measurement: Bytes and seconds of the slice, if one was read.
        sha1: The object's digest, if it is hashed.
        reason: Why it was not hashed.
    """

    outcome: SliceOutcome | Outcome
    message: Progress
    progress: Progress | None = None
    measurement: Measurement | None = None
    sha1: str | None = None
    reason: str | None = None

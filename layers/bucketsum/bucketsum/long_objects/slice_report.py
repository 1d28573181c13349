"""Result of one message of the long-objects queue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bucketsum.long_objects.message import SliceMessage
    from bucketsum.long_objects.progress import Progress
    from bucketsum.measure import Measurement
    from bucketsum.outcome import Outcome


class SliceOutcome(StrEnum):
    """The outcome of one message after which the object is not at its end."""

    CONTINUED = "continued"
    """The slice is saved, and the message of the next one is sent."""
    RESENT = "resent"
    """The slice was saved before, but the message of the next one perhaps not sent: it is now."""
    SUPERFLUOUS = "superfluous"
    """The slice was done before, or its object is not in progress any more."""
    STOPPED = "stopped"
    """A person stopped it."""


@dataclass(frozen=True, slots=True)
class SliceReport:
    """The result of one message.

    Attributes:
        progress: The object's progress; None if it is not in progress.
        measurement: Bytes and seconds of the slice, if one was read.
        sha1: The object's digest, if it is hashed.
        reason: Why it was not hashed.
    """

    outcome: SliceOutcome | Outcome
    message: SliceMessage
    progress: Progress | None = None
    measurement: Measurement | None = None
    sha1: str | None = None
    reason: str | None = None

"""The possible outcomes of events."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of an event. Each of these is success for the queue."""

    HASHED = "hashed"
    VERIFIED = "verified"
    """It was read again, and its digests are those recorded."""
    DIFFERS = "differs"
    """It was read twice again, and a digest, its size or its entity tag is not as recorded."""
    UNCHANGED = "unchanged"
    """This event was recorded before, or a restored object has a digest or was deleted."""
    SUPERSEDED = "superseded"
    """A newer object has replaced it; that object has an event of its own."""
    GONE = "gone"
    """It was deleted before it was read."""
    UNREADABLE = "unreadable"
    """It exists, but the function may not read it; a row says why and what to do."""
    ARCHIVED = "archived"
    """It exists, but is archived: S3 sends it only after a restore, whose event has it read."""
    LONG = "long"
    """It is too large for one invocation, and is hashed in slices by another function."""
    DELETED = "deleted"
    """Its deletion is recorded."""
    HIDDEN = "hidden"
    """A delete marker hides the key; all its versions still exist."""

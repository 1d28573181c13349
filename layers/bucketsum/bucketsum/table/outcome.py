"""The possible outcomes of events."""

from __future__ import annotations

from enum import StrEnum


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

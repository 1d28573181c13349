"""The status of an archive: the outcome of reading its members, as rows have it."""

from __future__ import annotations

from enum import StrEnum


class ArchiveStatus(StrEnum):
    """Outcome of reading an archive's members; its own SHA-1 is recorded in each case."""

    READ = "read"
    """Every member was read, or has a reason of its own why not."""
    NOT_AN_ARCHIVE = "not-an-archive"
    TRUNCATED = "truncated"
    """It begins as an archive and has no end."""
    BROKEN = "broken"
    """Its central directory is inconsistent."""
    ENCRYPTED = "encrypted"
    """Its central directory is encrypted."""
    SPLIT = "split"
    """It is one of several volumes."""
    OVERLAPPING = "overlapping"
    CONTRADICTORY = "contradictory"
    """As `OVERLAPPING`, only in rows of earlier versions: now a problem of members."""
    TOO_MANY_MEMBERS = "too-many-members"
    TOO_LARGE = "too-large"
    """More output than is allowed."""
    TOO_DENSE = "too-dense"
    """More output for each byte of a member than is allowed, as in a zip bomb."""
    NO_ROOM = "no-room"
    """It does not fit into /tmp."""
    OUT_OF_TIME = "out-of-time"
    """The invocation would have ended before its members did."""

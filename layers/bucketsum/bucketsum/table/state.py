"""State of a version of an object: all that is known of it, in a word."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer


class ObjectState(StrEnum):
    """State of a version of an object; of several that fit, the first in `state_of` holds."""

    HASHED = "hashed"
    DIFFERS = "differs"
    """Its last reading had another digest than the recorded one, or than S3's own checksum."""
    REPAIRED = "repaired"
    """It differs or is lost, and a newer version of the key has the recorded digest."""
    UNREADABLE = "unreadable"
    """Its last reading was refused."""
    ARCHIVED = "archived"
    """It was never read: it must be restored first."""
    LOST = "lost"
    """S3 does not list it, and no deletion was recorded."""
    DELETED = "deleted"
    HIDDEN = "hidden"
    """State of a key: its newest version is a delete marker."""
    NOT_RECORDED = "not recorded"
    """S3 lists it, and no row is about it; see `Row.is_of`."""
    DAMAGED = "damaged"
    """Another program changed its row."""


HELD: Final = frozenset({ObjectState.HASHED, ObjectState.DELETED})
"""States in which the recorded digest is that of the content."""


class Presence(StrEnum):
    """The version of a row in a listing of S3."""

    LISTED = "listed"
    CHANGED = "changed"
    """It is listed with another entity tag: another content has replaced it."""
    ABSENT = "absent"
    """Its key is among those that were listed, the version is not."""
    UNKNOWN = "unknown"
    """Its key was not listed."""


def state_of(
    row: Row | None, presence: Presence = Presence.UNKNOWN, *, is_repaired: bool = False
) -> ObjectState:
    """The state of the version with *row*, by the order of the tests.

    *is_repaired* is that of `is_repaired`.
    """
    if row is None:
        return ObjectState.NOT_RECORDED
    if row.status is Status.DAMAGED:
        return ObjectState.DAMAGED
    if row.deletion:
        return ObjectState.DELETED
    if presence is Presence.ABSENT:
        return ObjectState.REPAIRED if is_repaired else ObjectState.LOST
    if presence is Presence.CHANGED:
        return ObjectState.NOT_RECORDED
    return _state_read(row, is_repaired=is_repaired)


def _state_read(row: Row, *, is_repaired: bool) -> ObjectState:
    """The state of a version that may exist, by its last reading; of two at once, the worse one."""
    verified_at = row.verified.at if row.verified else None
    differs_at = row.difference.at if row.difference else None
    if row.contradiction or (row.difference and not _is_before(differs_at, verified_at)):
        return ObjectState.REPAIRED if is_repaired else ObjectState.DIFFERS
    if row.failed_reading:
        failed_at = row.failed_reading.at
        if not _is_before(failed_at, verified_at) and _is_later(failed_at, differs_at):
            return ObjectState.UNREADABLE
    return ObjectState(row.status)


def is_repaired(row: Row, others: Iterable[Row]) -> bool:
    """Whether a newer version of the key of *row*, among *others*, has its recorded digest."""
    return any(
        other.sha1 == row.sha1 and _is_newer(other, row) and state_of(other) is ObjectState.HASHED
        for other in others
        if (other.bucket, other.key) == (row.bucket, row.key)
    )


def _is_newer(row: Row, than: Row) -> bool:
    """Whether S3 created an object later; by its events, if both had some."""
    first = comparable_sequencer(NO_SEQUENCER)
    if first in (row.sequencer, than.sequencer) or row.sequencer == than.sequencer:
        return _is_later(row.arrived_at, than.arrived_at)
    return row.sequencer > than.sequencer


def _is_later(text: str | None, than: str | None) -> bool:
    """Whether one time is later; also if the other is not there, or either cannot be read."""
    time, other = _time_of(text), _time_of(than)
    return time is None or other is None or time > other


def _is_before(text: str | None, than: str | None) -> bool:
    """Whether one time is earlier; not if either is not there or cannot be read."""
    time, other = _time_of(text), _time_of(than)
    return time is not None and other is not None and time < other


def _time_of(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

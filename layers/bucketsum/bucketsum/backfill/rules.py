"""Rules for a listed object whose row exists: a listing has no sequencer, so every event wins."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.digest_rows import Status

if TYPE_CHECKING:
    from bucketsum.digest_rows import Row
    from bucketsum.notifications import ObjectCreated

_SECONDS: Final = len("2026-11-21T03:04:05")
"""S3 lists LastModified in whole seconds; events have fractions."""


class Known(StrEnum):
    """A reason not to read a listed object."""

    RECORDED = "recorded"
    """Its digest is recorded."""
    NEWER = "newer"
    """The row is of an object that is as new or newer, or is deleted."""


def known(listed: ObjectCreated, row: Row) -> Known | None:
    """The reason not to read *listed*; None if it must be read, and *row* be replaced.

    A row is replaced if its object was unreadable, or if it has another entity tag and arrived
    before *listed* was last modified: then an event was lost.
    """
    if row.deletion:
        return Known.NEWER
    if row.etag == listed.etag:
        return Known.RECORDED if row.status is Status.HASHED else None
    older = row.arrived_at[:_SECONDS] < listed.event_time[:_SECONDS]
    return None if older else Known.NEWER

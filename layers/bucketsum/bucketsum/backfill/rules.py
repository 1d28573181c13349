"""Rules for a listed object whose row exists: a listing has no sequencer, so every event wins."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from bucketsum.digest_rows import NULL_VERSION, Status, row_key_of

if TYPE_CHECKING:
    from bucketsum.digest_rows import Deletion, Row
    from bucketsum.object_events import ObjectCreated

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

    A row is replaced if its object was unreadable; if it has another entity tag and arrived before
    *listed* was last modified: then an event was lost; or if its object was deleted before.
    """
    if row.deletion:
        return None if exists_again(listed, row.deletion) else Known.NEWER
    if row.etag == listed.etag:
        return Known.RECORDED if row.status is Status.HASHED else None
    older = row.arrived_at[:_SECONDS] < listed.event_time[:_SECONDS]
    return None if older else Known.NEWER


def exists_again(listed: ObjectCreated, deletion: Deletion) -> bool:
    """Whether *listed* was put after *deletion*; a version with an id is never put again."""
    is_null = row_key_of(listed).entry == NULL_VERSION
    return is_null and deletion.at[:_SECONDS] < listed.event_time[:_SECONDS]

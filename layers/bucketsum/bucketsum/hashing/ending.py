"""Ending of a reading: what is done with its row, or with the refusal of its object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from bucketsum.errors import (
    ObjectUnreadable,
    OutOfTime,
    SourceInterrupted,
    SourceUnavailable,
    Unconfirmed,
)
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.object_rows import unreadable_row
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row

UNREAD: Final = (ObjectUnreadable, SourceInterrupted, SourceUnavailable)
"""Errors of a reading that say nothing about the object's bytes."""


class Purpose(StrEnum):
    """Reason for which an object is read."""

    RECORD = "record"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class End:
    """The end of a reading.

    Attributes:
        reason: Why its row is not simply hashed or verified.
        is_row: Whether the row is that of the reading, or the reason why there is none.
    """

    outcome: Outcome
    reason: str | None = None
    is_row: bool = False


class Ending(Protocol):
    """Decides what is done with a reading: `Recording` or `Verification`."""

    @property
    def purpose(self) -> Purpose:
        """Why the object is read."""

    @property
    def expected(self) -> Row | Deletion | None:
        """The content of the table that must still hold; None without a look-up."""

    @property
    def replaced(self) -> Row | None:
        """The expected row, if the reading's takes its place."""

    @property
    def reads_members(self) -> bool:
        """Whether the members of an archive are read too."""

    def algorithms(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Digests in addition to SHA-1 that are computed, *extra* among them."""

    @property
    def usual(self) -> Outcome:
        """The outcome if DynamoDB confirms a write."""

    def write(self, table: DigestsTable, row: Row) -> Mapping[str, Any] | None:
        """Parameters of the usual write after a reading of *row*; None if it needs `finish`."""

    def finish(self, table: DigestsTable, row: Row, before: str | None = None) -> End:
        """End a reading of *row*; *before* is the value that the reading before must confirm.

        Raises:
            Unconfirmed: It has a value that another reading must confirm.
            ClientError: DynamoDB refused.
        """

    def refused(self, table: DigestsTable, row: Row) -> End | None:
        """End with *row*, whose reason is why the object could not be read; None if it must not.

        Raises:
            ClientError: DynamoDB refused.
        """


def require_agreement(row: Row, differing: str | None, before: str | None) -> None:
    """Check that what is *differing* in a reading of *row* is the value of the reading *before*.

    If it is S3's own checksum, the value is the digest of the bytes that do not have it.

    Raises:
        Unconfirmed: It is not: one reading proves nothing, and two prove something if they agree.
    """
    is_of_s3 = differing is not None and differing == row.contradiction
    value = f"sha1:{row.sha1}" if is_of_s3 else differing
    if value not in (None, before):
        raise Unconfirmed(value or "", before)


def given_up(
    ending: Ending, table: DigestsTable, created: ObjectCreated, error: Exception
) -> End | None:
    """The end after the last receive: an object that S3 did not send cannot be verified.

    None if the message must become a dead letter, as that of a recording.
    """
    if ending.purpose is Purpose.VERIFY and isinstance(error, (*UNREAD, OutOfTime)):
        return ending.refused(table, unreadable_row(created, str(error), None))
    return None


def verification_of(recorded: Row) -> Ending:
    """The ending that compares a reading with *recorded*, for the rare event that needs it."""
    from bucketsum.hashing.verification import Verification  # noqa: PLC0415 - rare

    return Verification(recorded)

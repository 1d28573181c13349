"""Rows of the digests table, and their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from bucketsum.events.object_events import ObjectEvent
from bucketsum.events.version import Version
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.row_parts import (
    ArchiveRecord,
    Deletion,
    Difference,
    FailedReading,
    MemberRecord,
    ReadByS3,
    ReadSetup,
    Timing,
    Verified,
)
from bucketsum.table.sequencer import SEQUENCER
from bucketsum.table.stored_fields import NOT_STORED, nested, stored


class Status(StrEnum):
    """Whether a row's object could be hashed."""

    HASHED = "hashed"
    UNREADABLE = "unreadable"
    ARCHIVED = "archived"
    """It was never read: S3 sends it only after a restore, which is an event."""
    DAMAGED = "damaged"
    """Another program changed its item; only readers say so, no item has this status."""


def _stored_status(text: str) -> Status:
    if text == Status.DAMAGED:
        raise ValueError("no status of an item")
    return Status(text)


_REMARKS: Final = stored(
    read=lambda text: tuple(text.split(", ")), write=lambda remarks: ", ".join(remarks) or None
)


@dataclass(frozen=True, slots=True)
class Row:
    """One version of an object, or one member of an archive, as recorded.

    Attributes:
        entry: Version id, or ``null``; for a member, the archive's and its path.
        status: Whether it could be hashed.
        size_bytes: Size as hashed; if unreadable or archived, as in the event or the listing.
        sequencer: Orders the events of one key; see `comparable_sequencer`.
        arrived_at: Time at which S3 created the object, ISO 8601 UTC.
        recorded_at: Time at which this row was made, ISO 8601 UTC.
        etag: Entity tag without quotes.
        sha1: 40 lower-case hexadecimal characters; None unless hashed.
        digests: Names of further algorithms → hexadecimal digests.
        reason: Why it is not hashed, and the remedy; None if hashed.
        storage_class: Of an archived object, if S3 said it; None otherwise.
        timing: Time of reading; None for members, and if unreadable.
        setup: Settings of reading; None for members.
        member: The central directory's description of a member; None for objects.
        remarks: Oddities of a member's name or of an archive, such as ``duplicate``.
        archive: Result for its members; None if it was not read as an archive.
        compared: Whether S3's own checksum is that of its bytes; None if S3 was not asked.
        deletion: Its deletion; None if it exists. That of a member is in its archive's row.
        read_by_s3: The job of S3 that read it; None if a function did.
        verified: Its verification; None if it was never verified.
        difference: What verifications found instead of its digest; None if nothing.
        failed_reading: Why a verification could not read it; None if the last one could.
    """

    bucket: str = field(metadata=NOT_STORED)
    key: str = field(metadata=NOT_STORED)
    entry: str = field(metadata=NOT_STORED)
    status: Status = field(metadata=stored(read=_stored_status))
    size_bytes: int
    sequencer: str = field(metadata=SEQUENCER)
    arrived_at: str
    recorded_at: str
    etag: str | None = None
    sha1: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict, metadata=NOT_STORED)
    reason: str | None = None
    storage_class: str | None = None
    timing: Timing | None = field(default=None, metadata=nested(Timing))
    setup: ReadSetup | None = field(default=None, metadata=nested(ReadSetup))
    member: MemberRecord | None = field(default=None, metadata=nested(MemberRecord))
    remarks: tuple[str, ...] = field(default=(), metadata=_REMARKS)
    archive: ArchiveRecord | None = field(default=None, metadata=nested(ArchiveRecord))
    compared: Compared | None = field(default=None, metadata=nested(Compared))
    deletion: Deletion | None = field(default=None, metadata=nested(Deletion))
    read_by_s3: ReadByS3 | None = field(default=None, metadata=nested(ReadByS3))
    verified: Verified | None = field(default=None, metadata=nested(Verified))
    difference: Difference | None = field(default=None, metadata=nested(Difference))
    failed_reading: FailedReading | None = field(default=None, metadata=nested(FailedReading))

    @property
    def version(self) -> Version:
        """The version of the object; meaningless for a member."""
        return Version.of_entry(self.entry)

    @property
    def changed_at(self) -> str:
        """Time of its deletion, or else of its object's creation."""
        return self.deletion.at if self.deletion else self.arrived_at

    @property
    def read_at(self) -> str:
        """Time of the last reading that had its digests."""
        return self.verified.at if self.verified else self.recorded_at

    @property
    def contradiction(self) -> str | None:
        """The value that was read instead of S3's own checksum; None if there is no such."""
        if self.compared is None or self.compared.result is not ChecksumResult.DIFFERS:
            return None
        return self.compared.reason or "another value"

    def compared_as(self, before: Compared | None) -> Row:
        """This row; if its bytes were not compared, with the comparison of the reading *before*.

        Whether both read the same bytes, their digests say.
        """
        both = (compared for compared in (self.compared, before) if compared)
        results = [c for c in both if c.result is not ChecksumResult.NOT_COMPARED]
        return replace(self, compared=results[0]) if results else self

    @property
    def mb_per_s(self) -> float | None:
        """Speed in 10⁶ bytes per second, if it was measured."""
        return self.timing.mb_per_s if self.timing else None

    def is_of(self, etag: str | None) -> bool:
        """Whether S3's object with *etag*, at its key and version, is its own.

        A version with an ID is never put again; if its tag is another, a program changed the row.
        """
        return not self.version.is_null or None in (self.etag, etag) or self.etag == etag

    def is_archive_of(self, member: Row) -> bool:
        """Whether *member*, of its key and version, is in it, and not in an earlier archive.

        Members of a version with an ID may be older than its event, whose sequencer it has.
        """
        is_known = self.version.is_null and self.status is not Status.DAMAGED
        return not is_known or self.sequencer == member.sequencer

    def has_digest_of(self, etag: str | None) -> bool:
        """Whether it has the digest of the object with *etag*, and no deletion of that.

        One of version ``null`` may be of another object; a version with an ID is never put again.
        """
        is_same = self.etag == etag or not self.version.is_null
        return is_same and self.status is Status.HASHED and not self.deletion


@dataclass(frozen=True, slots=True)
class RowKey:
    """Primary key of a row: one version of one object."""

    bucket: str
    key: str
    entry: str

    @property
    def version(self) -> Version:
        """The version of the object; meaningless for a member."""
        return Version.of_entry(self.entry)


def row_key_of(event: ObjectEvent) -> RowKey:
    """The key of the row of the object in *event*."""
    return RowKey(event.bucket, event.key, Version(event.version_id).entry)

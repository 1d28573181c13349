"""The objects that a verification or a backfill reads."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.hashing.ending import Purpose
from bucketsum.table.archive_settings import ArchiveSettings
from bucketsum.table.event_order import SECONDS
from bucketsum.table.rows import Row

if TYPE_CHECKING:
    from bucketsum.backfill.backfill_records import Backfill

ARCHIVED: Final = frozenset({"GLACIER", "DEEP_ARCHIVE"})
"""Storage classes whose objects cannot be read unless they are restored, which is an event."""

MEMBERS: Final = "members"


@dataclass(frozen=True, slots=True)
class Selection:
    """The recorded objects that are read again: none, unless the purpose is VERIFY.

    Attributes:
        older_than: ISO 8601 UTC: those recorded and verified before. None for all.
        missing: Those that lack this digest, or with `MEMBERS` the rows of their members.
    """

    purpose: Purpose = Purpose.RECORD
    older_than: str | None = None
    missing: str | None = None

    def has(self, row: Row, archives: ArchiveSettings | None) -> bool:
        """Whether the object of *row* is read; *archives* are those whose members are recorded."""
        if self.purpose is not Purpose.VERIFY:
            return False
        if self.older_than and row.read_at[:SECONDS] >= self.older_than[:SECONDS]:
            return False
        if self.missing == MEMBERS:
            return bool(archives and archives.takes(row.key) and not row.archive)
        return self.missing is None or self.missing not in row.digests


def is_sampled(backfill: Backfill, key: str) -> bool:
    """Whether *key* is in the backfill's sample: always the same share of the keys."""
    return backfill.sample is None or zlib.crc32(key.encode()) < backfill.sample * 2**32


def is_selected(backfill: Backfill, storage_class: str) -> bool:
    """Whether the backfill is about objects of *storage_class*."""
    return not backfill.storage_classes or storage_class in backfill.storage_classes


def is_read(backfill: Backfill, storage_class: str) -> bool:
    """Whether it reads those of *storage_class*; others are recorded as archived."""
    return backfill.archived or storage_class not in ARCHIVED

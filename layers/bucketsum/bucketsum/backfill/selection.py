"""The recorded objects that a verification reads again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.hashing.ending import Purpose
from bucketsum.table.archive_settings import ArchiveSettings
from bucketsum.table.event_order import SECONDS
from bucketsum.table.rows import Row

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

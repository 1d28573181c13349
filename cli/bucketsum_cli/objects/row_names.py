"""Names of objects and of members of archives, as people write them."""

from __future__ import annotations

from bucketsum.archives.member_rows import MEMBER_MARK, archive_entry
from bucketsum.table.rows import Row


def full_name(row: Row) -> str:
    """Return the key of *row*; for a member, ``KEY!/path``."""
    return f"{row.key}{MEMBER_MARK}{row.member.path}" if row.member else row.key


def split_name(name: str) -> tuple[str, str | None]:
    """Split ``KEY!/path``; the path is None if there is none, and may be empty."""
    archive, mark, path = name.partition(MEMBER_MARK)
    return archive, path if mark else None


def version_of(row: Row) -> str:
    """Return the version of the object, or of the archive with the member."""
    return archive_entry(row.entry) if row.member else row.entry

"""Members of archives in the commands: ``KEY!/path``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bucketsum.archives.member_rows import MEMBER_MARK, MemberRows, member_entry
from bucketsum.archives.model import ArchiveStatus
from bucketsum.digests_table import RowKey
from bucketsum_cli.bucket import newest_version
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.files import FileSelection, files_under
from bucketsum_cli.output import (
    SHA1,
    SIZE,
    Cell,
    Column,
    note,
    print_json_array,
    print_table,
    size_text,
)
from bucketsum_cli.rows import digest_cell, status_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bucketsum.digests_table import Row
    from bucketsum_cli.stack import Stack

MEMBER = Column("member")
REMARKS = Column("remarks", 14)


def split_name(name: str) -> tuple[str, str]:
    """Split ``KEY!/path``; the path is empty if there is none."""
    archive, _, path = name.partition(MEMBER_MARK)
    return archive, path


def archive_at(stack: Stack, key: str) -> Row:
    """Return the newest recorded version of *key*, which must be an archive.

    Raises:
        CannotDoError: Nothing is recorded of it, or it was not read as an archive.
    """
    recorded = next(iter(stack.digests_table().versions_of(stack.bucket, key)), None)
    if recorded is None:
        raise CannotDoError(
            f"nothing is recorded of {key}; `bucketsum ls` lists the objects in the bucket"
        )
    return _required_archive(key, recorded)


def _required_archive(key: str, recorded: Row) -> Row:
    if recorded.archive is None:
        raise CannotDoError(
            f"{key} was not read as an archive; deploy with its suffix in ArchiveSuffixes, then "
            "put it again"
        )
    return recorded


def members_of(stack: Stack, archive: Row, beginning: str = "") -> Iterator[Row]:
    """Yield the members of *archive* whose paths begin so, by path; notes if some are unknown."""
    if archive.archive and archive.archive.status is not ArchiveStatus.READ:
        note(f"not all members of {archive.key} are known: {archive.archive.reason}")
    yield from MemberRows(stack.client("dynamodb"), stack.table).of(archive, beginning)


def members_by_path(stack: Stack, key: str, folder: str) -> dict[str, Row]:
    """Return the members of the archive that is at *key* now, if their paths begin with *folder*.

    Raises:
        CannotDoError: It is not in the bucket, not recorded yet, or was not read as an archive.
    """
    newest = newest_version(stack.client("s3"), stack.digests_table(), stack.bucket, key)
    if newest is None:
        raise CannotDoError(f"{key} is not in the bucket; `bucketsum ls` lists the objects in it")
    if newest.row is None:
        raise CannotDoError(
            f"the newest version of {key} is not recorded yet; see `bucketsum ls {key}` and "
            "`bucketsum failures`"
        )
    rows = members_of(stack, _required_archive(key, newest.row))
    paths = {row.member.path.removeprefix("./"): row for row in rows if row.member}
    return {path: row for path, row in paths.items() if path.startswith(folder)}


def files_as_members(paths: Iterable[Path], folder: str) -> FileSelection:
    """Return the files at and under *paths*, with their paths in an archive of them as keys.

    Paths are relative to the given folder; *folder*, in the archive, comes before.

    Raises:
        CannotDoError: As `files_under`.
    """
    selection = FileSelection()
    for path in paths:
        part = files_under([path])
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - as `files_under`
        outer = f"{name}/" if path.is_dir() else ""
        selection.files.extend(
            replace(file, key=folder + file.key.removeprefix(outer)) for file in part.files
        )
        selection.skipped.extend(part.skipped)
    return selection


def versions_of_member(stack: Stack, key: str) -> list[Row]:
    """Return the rows of ``KEY!/path`` in each version of the archive, the newest first."""
    archive, path = split_name(key)
    if not path:
        return []
    table = stack.digests_table()
    rows = []
    for version in table.versions_of(stack.bucket, archive):
        row = table.row_at(RowKey(stack.bucket, archive, member_entry(version.entry, path)))
        if row and row.sequencer == version.sequencer:
            rows.append(row)
    return rows


def list_members(stack: Stack, key: str, *, as_json: bool) -> None:
    """Show the members of an archive, ``KEY`` or those of ``KEY!/beginning``."""
    name, beginning = split_name(key)
    rows = members_of(stack, archive_at(stack, name), beginning)
    if as_json:
        print_json_array(map(_as_json, rows))
    elif not print_table([MEMBER, SIZE, SHA1, REMARKS], map(_as_cells, rows)):
        note(f"no member of {name} begins with {beginning}" if beginning else f"{name} is empty")


def _as_cells(row: Row) -> list[str | Cell]:
    remarks = Cell(", ".join(row.remarks), "yellow") if row.remarks else ""
    path = row.member.path if row.member else ""
    return [path, size_text(row.size_bytes), digest_cell(row), remarks]


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "member": row.member.path if row.member else None,
        "size_bytes": row.size_bytes,
        "compressed_bytes": row.member.compressed_bytes if row.member else None,
        "method": row.member.method if row.member else None,
        "crc32": row.member.crc32 if row.member else None,
        "status": status_of(row),
        "sha1": row.sha1,
        "reason": row.reason,
        "remarks": list(row.remarks),
    }

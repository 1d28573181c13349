"""Members of archives, for the commands that know them: ``KEY!/path``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bucketsum.archives.member_rows import MEMBER_MARK, MemberRows, member_entry
from bucketsum.archives.model import ArchiveStatus
from bucketsum.digests_table import RowKey
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.files import Found, files_under
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
from bucketsum_cli.rows import digest_cell, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bucketsum.digests_table import Row
    from bucketsum_cli.stack import Stack

MEMBER = Column("member")
REMARKS = Column("remarks", 14)


def parted(key: str) -> tuple[str, str]:
    """``KEY!/path`` in its two parts; the path is empty where there is none."""
    archive, _, path = key.partition(MEMBER_MARK)
    return archive, path


def archive_at(stack: Stack, key: str) -> Row:
    """The newest version that is recorded of *key*, which must be an archive.

    Raises:
        CannotDoError: Nothing is recorded of it, or it was not read as an archive.
    """
    newest = next(iter(stack.ledger().versions_of(stack.bucket, key)), None)
    if newest is None:
        raise CannotDoError(
            f"nothing is recorded of {key}; `bucketsum ls` lists what is in the bucket"
        )
    if newest.archive is None:
        raise CannotDoError(
            f"{key} was not read as an archive; deploy with its suffix in ArchiveSuffixes, then "
            "put it again"
        )
    return newest


def members_of(stack: Stack, archive: Row, beginning: str = "") -> Iterator[Row]:
    """The members of *archive* whose paths begin so, by path; says what is not known of it."""
    if archive.archive and archive.archive.status is not ArchiveStatus.READ:
        note(f"not all members of {archive.key} are known: {archive.archive.reason}")
    yield from MemberRows(stack.client("dynamodb"), stack.table).of(archive, beginning)


def members_by_path(stack: Stack, key: str, folder: str) -> dict[str, Row]:
    """Members of the archive *key* whose paths begin with *folder*.

    Raises:
        CannotDoError: Nothing is recorded of it, or it was not read as an archive.
    """
    rows = members_of(stack, archive_at(stack, key))
    paths = {row.member.path.removeprefix("./"): row for row in rows if row.member}
    return {path: row for path, row in paths.items() if path.startswith(folder)}


def files_as_members(paths: Iterable[Path], folder: str) -> Found:
    """The files at and under *paths*, with the paths that they have in an archive of them.

    A folder's files are named from inside of it, as archiving its content names them; *folder*,
    in the archive, comes before.

    Raises:
        CannotDoError: As `files_under`.
    """
    found = Found()
    for path in paths:
        one = files_under([path])
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - as `files_under`
        outer = f"{name}/" if path.is_dir() else ""
        found.files.extend(
            replace(file, key=folder + file.key.removeprefix(outer)) for file in one.files
        )
        found.skipped.extend(one.skipped)
    return found


def versions_of_member(stack: Stack, key: str) -> list[Row]:
    """What is recorded of ``KEY!/path`` in each version of the archive, the newest first."""
    archive, path = parted(key)
    if not path:
        return []
    ledger = stack.ledger()
    found = []
    for version in ledger.versions_of(stack.bucket, archive):
        row = ledger.row_at(RowKey(stack.bucket, archive, member_entry(version.entry, path)))
        if row and row.sequencer == version.sequencer:
            found.append(row)
    return found


def list_members(stack: Stack, key: str, *, as_json: bool) -> None:
    """Show the members of an archive, ``KEY`` or those of ``KEY!/beginning``."""
    name, beginning = parted(key)
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
        "state": state_of(row),
        "sha1": row.sha1,
        "reason": row.reason,
        "remarks": list(row.remarks),
    }

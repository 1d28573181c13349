"""Members of archives in the commands: ``KEY!/path``."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Final

import click

from bucketsum.archives.member_rows import MemberRows, archive_entry, member_entry
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, state_of
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.files import FileSelection, LocalFile, files_under
from bucketsum_cli.objects.rows import (
    Reasons,
    digest_cell,
    digest_state,
    listing_hint,
    recorded_row,
    split_name,
)
from bucketsum_cli.objects.versions import ListedKey, listed_key, newest_version
from bucketsum_cli.terminal.columns import SHA1, SIZE, Cell, Column
from bucketsum_cli.terminal.documents import fields_of, json_text
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.formatting import count_text, moment_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import with_bar
from bucketsum_cli.terminal.output import note, print_json_array
from bucketsum_cli.terminal.tables import print_table

_NUMBER: Final = re.compile(r"~\d+$")
"""What makes the path of a duplicate unique."""
_AT_A_TIME: Final = 8
_ASKED_MAX: Final = 1000  # requests for more would take longer than a listing
_SETTLED: Final = (ObjectState.DELETED, ObjectState.DAMAGED)
"""States that S3's listing does not change."""
_COLUMNS: Final = (Column("member", shrinks=True), SIZE, SHA1, Column("remarks"))


@dataclass(frozen=True, slots=True)
class ListedMember:
    """A member of an archive."""

    member: str | None
    size_bytes: int
    compressed_bytes: int | None
    method: str | None
    crc32: str | None
    status: str
    sha1: str | None
    reason: str | None
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemberListing:
    """The members of an archive, as `ls --members` prints them."""

    archive: Annotated[str, "Key of the archive."]
    archive_status: str | None
    archive_reason: str | None
    members: Annotated[tuple[ListedMember, ...], "Its members by path."]
    complete: Annotated[bool, "Whether all requested members are listed."]


def _required_archive(key: str, recorded: Row) -> Row:
    if recorded.archive is None:
        verify = command_line("verify", recorded.bucket, "--missing", "members")
        raise CannotDoError(
            f"{key} was not read as an archive; deploy with its suffix in ArchiveSuffixes, then "
            f"`{verify}`"
        )
    return recorded


class ArchiveMembers:
    """The rows of an archive's members whose paths start with *beginning*, by path."""

    def __init__(self, stack: Stack, archive: Row, beginning: str = "") -> None:
        self._rows = MemberRows(stack.client("dynamodb"), stack.table)
        self._beginning = beginning
        self.archive = archive
        self.problem: str | None = None
        """Why some members are unknown; complete when the rows have been iterated."""
        record = archive.archive
        if record and record.status is not ArchiveStatus.READ:
            self.problem = f"not all members of {archive.key} are known: {record.reason}"

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows; counts them if all were requested."""
        rows = missing = 0
        for row in self._rows.of(self.archive, self._beginning):
            rows += 1
            missing += row.archive.members if row.archive else 0
            yield row
        missing += (self.archive.archive.members if self.archive.archive else 0) - rows
        if missing and not (self._beginning or self.problem):
            self.problem = (
                f"{count_text(missing, 'member')} of {self.archive.key} without a row: put it again"
            )


@dataclass(frozen=True, slots=True)
class Members:
    """Members of an archive by their paths; of identical duplicates, extracting leaves one.

    Attributes:
        folder: Only members below this folder of the archive are meant.
        all_known: Whether all members have a row.
        archive: The archive's own row.
    """

    rows: Mapping[str, Row]
    folder: str
    all_known: bool
    archive: Row

    @property
    def links(self) -> set[str]:
        """Paths of symbolic links: the content of such a member is the path of its target."""
        links = [path for path, row in self.rows.items() if "symlink" in row.remarks]
        return {form for path in links for form in (path, _extracted(path))}

    def on_disk(self, files: Collection[str]) -> dict[str, Row]:
        """Return the members by the paths that extracting gave them, of which *files* are there."""
        named = {}
        for path, row in self.rows.items():
            plain = _extracted(path)
            is_as_recorded = (
                path in files or plain in self.rows
            )  # with both names, both are members
            named[path if is_as_recorded else plain] = row
        return {path: row for path, row in named.items() if path.startswith(self.folder)}


def _extracted(path: str) -> str:
    """The path that extractors give a member: below their folder, with ``/`` between the parts."""
    return path.replace("\\", "/").lstrip("/").removeprefix("./") or path


def members_by_path(stack: Stack, key: str, folder: str) -> Members:
    """Return the members in *folder* of the archive that is at *key* now.

    Notes it if not all members are known.

    Raises:
        CannotDoError: It is not in the bucket, not recorded yet, or was not read as an archive.
    """
    newest = newest_version(stack.client("s3"), stack.digests_table(), stack.bucket, key)
    if newest is None:
        raise CannotDoError(f"{key} is not in the bucket; {listing_hint()}")
    _, archive = newest
    if archive is None:
        raise CannotDoError(
            f"the newest version of {key} is not recorded yet; see "
            f"`{command_line('ls', key)}` and `{command_line('failures')}`"
        )
    members = ArchiveMembers(stack, _required_archive(key, archive))
    listed = with_bar(members, "reading the archive's rows")
    paths = {row.member.path: row for row in listed if row.member}
    if members.problem:
        note(members.problem)
    unique = {
        path: row
        for path, row in paths.items()
        if "duplicate" not in row.remarks
        or (first := paths.get(_NUMBER.sub("", path))) is None
        or first.sha1 != row.sha1
    }
    return Members(unique, folder, members.problem is None, archive)


def files_as_members(paths: Iterable[Path], folder: str, links: Iterable[str]) -> FileSelection:
    """Return the files at and under *paths*, as if they were in an archive: keys are member paths.

    Paths are relative to the given folder; *folder*, in the archive, comes before. The member paths
    *links* are symbolic links: those on the disk are returned wherever they lead to.

    Raises:
        CannotDoError: As `files_under`.
    """
    selection = FileSelection()
    for path in paths:
        part = files_under([path])
        name = os.path.basename(os.path.abspath(path))  # noqa: PTH100, PTH119 - as `files_under`
        outer = f"{name}/" if path.is_dir() else ""
        linked = {path / link.removeprefix(folder): link for link in links} if outer else {}
        linked = {place: link for place, link in linked.items() if place.is_symlink()}
        selection.files.extend(
            replace(file, key=folder + file.key.removeprefix(outer))
            for file in part.files
            if file.path not in linked
        )
        selection.files.extend(LocalFile(place, link, 0) for place, link in linked.items())
        selection.skipped.extend(skip for skip in part.skipped if skip.path not in linked)
    return selection


def versions_of_member(stack: Stack, key: str) -> list[tuple[Row, ObjectState]]:
    """Return ``KEY!/path`` in each version of the archive, the newest first, with its state."""
    archive, path = split_name(key)
    if path is None:
        return []
    table = stack.digests_table()
    rows = []
    for version in table.versions_of(stack.bucket, archive):
        row = table.row_at(
            RowKey(stack.bucket, archive, member_entry(version.entry, version.sequencer, path))
        )
        if row and row.sequencer == version.sequencer:
            rows.append(row)
    return with_states(stack, rows)


def with_states(stack: Stack, rows: Sequence[Row]) -> list[tuple[Row, ObjectState]]:
    """Return *rows* with their states; a member is known only as well as its archive.

    Members are left out if their archive has no row (it expired, or is not recorded yet), or if
    that is of a later archive at this key; they have its deletion.
    """
    stack.client("s3")  # threads cannot make one
    archives = stack.digests_table().rows_at(_archive_key(row) for row in rows if row.member)
    pairs = [(row, archives.get(_archive_key(row)) if row.member else row) for row in rows]
    known = [(row, at) for row, at in pairs if at and at.sequencer == row.sequencer]
    few = known if len(known) <= _ASKED_MAX else []
    if known and not few:
        note(f"S3 was not asked whether these {len(known):,} exist: `--snapshot last` lists it")
    objects = (at for _, at in few if state_of(at) not in _SETTLED)
    keys = dict.fromkeys((at.bucket, at.key) for at in objects)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        answers = pool.map(lambda key: Reads()(lambda: listed_key(stack, *key)), keys)
        listed = dict(zip(keys, answers, strict=True))
    return [
        (replace(row, deletion=at.deletion), _state_in(row, at, listed.get((at.bucket, at.key))))
        for row, at in known
    ]


def _state_in(row: Row, at: Row, listed: ListedKey | None) -> ObjectState:
    """The state of *row*, an object or a member of the object with the row *at*.

    *listed* is that object's key, if S3 was asked and allows it.
    """
    state = listed.state_of(at) if listed else state_of(at)
    return state_of(row) if row.member and state is ObjectState.HASHED else state


def _archive_key(member: Row) -> RowKey:
    return RowKey(member.bucket, member.key, archive_entry(member.entry))


def list_members(stack: Stack, key: str, *, as_json: bool) -> None:
    """Show the members of archive ``KEY``, or those whose paths start as in ``KEY!/beginning``.

    Raises:
        CannotDoError: Nothing is recorded for it, or it was not read as an archive.
        SystemExit: Some members are not known.
    """
    name, beginning = split_name(key)
    archive = next(iter(stack.digests_table().versions_of(stack.bucket, name)), None)
    if archive is None:
        raise CannotDoError(f"nothing is recorded for {name}; {listing_hint()}")
    members = ArchiveMembers(stack, _required_archive(name, archive), beginning or "")
    if archive.deletion:
        note(f"{name} was deleted at {moment_text(archive.deletion.at)} UTC")
    reasons = Reasons()
    if as_json:
        _show_json(members)
    elif not print_table(_COLUMNS, (_as_cells(row, reasons) for row in members)):
        if beginning:
            note(f"no member of {name} begins with {beginning}")
        elif not members.problem:
            note(f"{name} is empty")
    reasons.note()
    if members.problem:
        note(members.problem)
        raise SystemExit(ANSWER_IS_NO)


def _show_json(members: ArchiveMembers) -> None:
    """A `MemberListing`; the first member is shown before the last is known."""
    record = members.archive.archive
    head = {
        "archive": members.archive.key,
        "archive_status": record.status if record else None,
        "archive_reason": record.reason if record else None,
    }
    click.echo(f'{json_text(head, indent=None)[:-1]}, "members": ', nl=False)
    print_json_array(map(_listed, members))
    click.echo(f', "complete": {json_text(members.problem is None)}}}')


def _as_cells(row: Row, reasons: Reasons) -> list[str | Cell]:
    remarks = Cell(", ".join(row.remarks), "yellow") if row.remarks else ""
    path = row.member.path if row.member else ""
    state = digest_state(row)
    reasons.add(path, state)
    return [path, size_text(row.size_bytes), digest_cell(state), remarks]


def _listed(row: Row) -> ListedMember:
    values = fields_of(recorded_row(row))
    return ListedMember(**{field.name: values[field.name] for field in fields(ListedMember)})

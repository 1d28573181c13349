"""The members of an archive as `ls --members` shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final

import click

from bucketsum.table.rows import Row
from bucketsum.table.state import HELD
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.digest_state import (
    FINDINGS,
    DigestState,
    Reasons,
    digest_cell,
    digest_state,
    reason_of,
)
from bucketsum_cli.objects.members import ArchiveMembers
from bucketsum_cli.objects.pending import listing_hint
from bucketsum_cli.objects.recorded_row import recorded_row
from bucketsum_cli.objects.row_names import split_name
from bucketsum_cli.objects.row_states import with_states
from bucketsum_cli.terminal.columns import SHA1, SIZE, Cell, Column
from bucketsum_cli.terminal.documents import document_of, json_text
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import moment_text, size_text
from bucketsum_cli.terminal.output import note, print_json_array
from bucketsum_cli.terminal.tables import print_table

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
    members = ArchiveMembers(stack, archive, beginning or "")
    [(_, state)] = with_states(stack, [archive])
    of_archive = None if state in HELD else DigestState(state.value, reason=reason_of(archive))
    if archive.deletion:
        note(f"{name} was deleted at {moment_text(archive.deletion.at)} UTC")
    reasons = Reasons()
    if as_json:
        _show_json(members, of_archive)
    elif not print_table(_COLUMNS, (_as_cells(row, reasons, of_archive) for row in members)):
        if beginning:
            note(f"no member of {name} begins with {beginning}")
        elif not members.problem:
            note(f"{name} is empty")
    reasons.note()
    if members.problem:
        note(members.problem)
    end_if(members.problem or state in FINDINGS)


def _show_json(members: ArchiveMembers, of_archive: DigestState | None) -> None:
    """A `MemberListing`; the first member is shown before the last is known."""
    head = {
        "archive": members.archive.key,
        "archive_status": members.record.status,
        "archive_reason": members.record.reason,
    }
    click.echo(f'{json_text(head, indent=None)[:-1]}, "members": ', nl=False)
    rows = (recorded_row(row) for row in members)
    if of_archive:
        rows = (replace(row, status=of_archive.status) for row in rows)
    print_json_array(document_of(ListedMember, row) for row in rows)
    click.echo(f', "complete": {json_text(members.problem is None)}}}')


def _as_cells(row: Row, reasons: Reasons, of_archive: DigestState | None) -> list[str | Cell]:
    remarks = Cell(", ".join(row.remarks), "yellow") if row.remarks else ""
    path = row.member.path if row.member else ""
    state = of_archive or digest_state(row)
    reasons.add(path, state)
    return [path, size_text(row.size_bytes), digest_cell(state), remarks]

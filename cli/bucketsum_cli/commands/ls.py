"""`bucketsum ls`: the objects in the bucket, with their digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import Target, bucket_options, json_option
from bucketsum_cli.buckets.attachments.coverage import coverage_of
from bucketsum_cli.objects.members import MemberListing, list_members
from bucketsum_cli.objects.rows import DigestState, any_damaged, digest_cell, digest_state
from bucketsum_cli.objects.sums import sums_line
from bucketsum_cli.objects.versions import ObjectVersion, versions_in
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.formatting import count_text, moment_text, size_text, speed_text
from bucketsum_cli.terminal.output import note, print_json_array, print_text
from bucketsum_cli.terminal.screen import width_of
from bucketsum_cli.terminal.tables import (
    KEY,
    MOMENT,
    SHA1,
    SIZE,
    SPEED,
    VERSION,
    Cell,
    Column,
    print_table,
)

if TYPE_CHECKING:
    from bucketsum.table.rows import Row

_WIDE: Final = 110
"""Lines of this many characters have room for the time of the record."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """A version of an object in the bucket."""

    version: ObjectVersion = field(metadata=INLINE)
    digest: DigestState = field(metadata=INLINE)


@click.command("ls")
@click.argument("prefix", default="", shell_complete=complete_key)
@click.option("--all-versions", is_flag=True, help="Also list overwritten versions.")
@click.option("--members", is_flag=True, help="List the members of an archive; PREFIX is its key.")
@click.option("--sums", is_flag=True, help="Print the lines that `sha1sum --check` reads.")
@json_option(list[ListedObject], MemberListing)
@bucket_options
def ls(
    target: Target, prefix: str, all_versions: bool, members: bool, sums: bool, as_json: bool
) -> None:
    """List the objects in the bucket, with their SHA-1.

    An object that has no digest yet is shown as `waiting`. If no notification to the stack covers
    its key, it is shown as `not covered`: it will not be hashed. An object that could not be read
    is shown as `unreadable`, with the reason. Exits with 1 if another program damaged a record.

    With --members, lists the members of the newest recorded version of an archive. PREFIX is then
    the archive's key, or KEY!/TEXT to list only members whose path begins with TEXT. Exits with 1
    if not all members have been recorded.

    With --sums, prints the SHA-1 and the key of each object that has a SHA-1, as `sha1sum` does.
    Exits with 1 if an object has none.

    Example: bucketsum ls photos/ --local
    """
    if sums and (all_versions or members or as_json):
        raise click.UsageError("--sums cannot be used with --all-versions, --members or --json")
    if members:
        if not prefix:
            raise click.UsageError("--members needs the key of an archive")
        list_members(target.find(), prefix, as_json=as_json)
        return
    stack = target.find()
    versions = versions_in(stack, prefix, all_versions=all_versions)
    listed = _Listed(versions, coverage_of(stack))
    if sums:
        _print_sums(listed)
    elif as_json:
        print_json_array(listed)
    else:
        _print_table(listed, prefix, all_versions=all_versions)
    if listed.has_damaged:
        raise SystemExit(ANSWER_IS_NO)


class _Listed:
    """Iterates over versions, and remembers whether any has a damaged row."""

    def __init__(
        self,
        versions: Iterator[tuple[ObjectVersion, Row | None]],
        is_covered: Callable[[str], bool],
    ) -> None:
        self._versions = versions
        self._is_covered = is_covered
        self.has_damaged = False

    def __iter__(self) -> Iterator[ListedObject]:
        for version, row in self._versions:
            self.has_damaged |= any_damaged([row])
            yield ListedObject(version, digest_state(row, covered=self._is_covered(version.key)))


def _print_sums(listed: Iterable[ListedObject]) -> None:
    without = 0
    for item in listed:
        if item.digest.sha1:
            print_text(sums_line(item.digest.sha1, item.version.key))
        else:
            without += 1
    if without:
        note(f"{count_text(without, 'object')} without a SHA-1; `bucketsum ls` shows why")
        raise SystemExit(ANSWER_IS_NO)


def _print_table(listed: Iterable[ListedObject], prefix: str, *, all_versions: bool) -> None:
    columns = [KEY, VERSION, SIZE, SHA1] if all_versions else [KEY, SIZE, SHA1, SPEED]
    if (width_of() or _WIDE) >= _WIDE:
        columns.append(MOMENT)
    if not print_table(columns, (_as_cells(item, columns) for item in listed)):
        note(f"no key in the bucket begins with {prefix}" if prefix else "the bucket is empty")


def _as_cells(item: ListedObject, columns: Sequence[Column]) -> list[str | Cell]:
    version, digest = item.version, item.digest
    cells: dict[Column, str | Cell] = {
        KEY: version.key,
        VERSION: version.version,
        SIZE: size_text(version.size_bytes),
        SHA1: digest_cell(digest),
        SPEED: speed_text(digest.mb_per_s, missing=""),
        MOMENT: moment_text(digest.recorded_at) if digest.recorded_at else "",
    }
    return [cells[column] for column in columns]

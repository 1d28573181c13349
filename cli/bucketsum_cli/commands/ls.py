"""`bucketsum ls`: the objects in the bucket, with their digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

import click

from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import Target, bucket_options, json_option
from bucketsum_cli.attachments.coverage import coverage_of
from bucketsum_cli.objects.members import MemberListing, list_members
from bucketsum_cli.objects.rows import DigestState, any_damaged, digest_cell, digest_state
from bucketsum_cli.objects.sums import sums_line
from bucketsum_cli.objects.versions import ObjectVersion, versions_in
from bucketsum_cli.terminal.documents import INLINE, Moment
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.output import (
    moment_text,
    note,
    print_json_array,
    print_text,
    size_text,
    speed_text,
)
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

_WIDE: Final = 110
"""Lines of this many characters have room for the time of the record."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """A version of an object in the bucket."""

    key: str
    version: str
    latest: Annotated[bool, "Whether a GET of the key returns this version."]
    size_bytes: int
    etag: str
    created_at: Moment
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
    is_covered = coverage_of(stack)
    versions = _Listed(versions_in(stack, prefix, all_versions=all_versions))
    if sums:
        _print_sums(versions)
    elif as_json:
        print_json_array(_document_of(version, is_covered) for version in versions)
    else:
        _print_table(versions, prefix, is_covered, all_versions=all_versions)
    if versions.has_damaged:
        raise SystemExit(ANSWER_IS_NO)


class _Listed:
    """Iterates over versions, and remembers whether any has a damaged row."""

    def __init__(self, versions: Iterator[ObjectVersion]) -> None:
        self._versions = versions
        self.has_damaged = False

    def __iter__(self) -> Iterator[ObjectVersion]:
        for version in self._versions:
            self.has_damaged |= any_damaged([version.row])
            yield version


def _print_sums(versions: Iterable[ObjectVersion]) -> None:
    without = 0
    for version in versions:
        if sha1 := version.row and version.row.sha1:
            print_text(sums_line(sha1, version.row_key.key))
        else:
            without += 1
    if without:
        note(f"{count_text(without, 'object')} without a SHA-1; `bucketsum ls` shows why")
        raise SystemExit(ANSWER_IS_NO)


def _print_table(
    versions: Iterable[ObjectVersion],
    prefix: str,
    is_covered: Callable[[str], bool],
    *,
    all_versions: bool,
) -> None:
    columns = [KEY, VERSION, SIZE, SHA1] if all_versions else [KEY, SIZE, SHA1, SPEED]
    if (width_of() or _WIDE) >= _WIDE:
        columns.append(MOMENT)
    if not print_table(columns, (_as_cells(v, columns, is_covered) for v in versions)):
        note(f"no key in the bucket begins with {prefix}" if prefix else "the bucket is empty")


def _as_cells(
    version: ObjectVersion, columns: Sequence[Column], is_covered: Callable[[str], bool]
) -> list[str | Cell]:
    row = version.row
    cells: dict[Column, str | Cell] = {
        KEY: version.row_key.key,
        VERSION: version.row_key.entry,
        SIZE: size_text(version.size_bytes),
        SHA1: digest_cell(row, covered=is_covered(version.row_key.key)),
        SPEED: speed_text(row.mb_per_s if row else None),
        MOMENT: moment_text(row.recorded_at) if row else "",
    }
    return [cells[column] for column in columns]


def _document_of(version: ObjectVersion, is_covered: Callable[[str], bool]) -> ListedObject:
    return ListedObject(
        key=version.row_key.key,
        version=version.row_key.entry,
        latest=version.latest,
        size_bytes=version.size_bytes,
        etag=version.etag,
        created_at=version.created_at,
        digest=digest_state(version.row, covered=is_covered(version.row_key.key)),
    )

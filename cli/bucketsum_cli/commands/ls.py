"""`bucketsum ls`: the objects in the bucket, with their digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import click

from bucketsum.table.rows import Row
from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.buckets.attachments.coverage import pending_of
from bucketsum_cli.buckets.served_buckets import bucket_hint
from bucketsum_cli.objects.digest_state import (
    FINDINGS,
    DigestState,
    Reasons,
    digest_cell,
    digest_state,
)
from bucketsum_cli.objects.member_listing import MemberListing, list_members
from bucketsum_cli.objects.pending import Pending
from bucketsum_cli.objects.versions import ObjectVersion, versions_in
from bucketsum_cli.terminal.columns import KEY, MOMENT, SHA1, SIZE, SPEED, VERSION
from bucketsum_cli.terminal.documents import INLINE, Moment
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import moment_text, size_text, speed_text
from bucketsum_cli.terminal.output import note, print_json_array
from bucketsum_cli.terminal.screen import width_of
from bucketsum_cli.terminal.tables import RowTexts, print_items

_WIDE: Final = 110
"""Lines of this many characters have room for the time of the record."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """A version of an object in the bucket."""

    version: ObjectVersion = field(metadata=INLINE)
    digest: DigestState = field(metadata=INLINE)
    verified_at: Moment | None = None
    differs_at: Moment | None = None


_TEXTS: Final[RowTexts[ListedObject]] = {
    KEY: lambda item: item.version.key,
    VERSION: lambda item: item.version.version,
    SIZE: lambda item: size_text(item.version.size_bytes),
    SHA1: lambda item: digest_cell(item.digest),
    SPEED: lambda item: speed_text(item.digest.mb_per_s, missing=""),
    MOMENT: lambda item: moment_text(item.digest.recorded_at) if item.digest.recorded_at else "",
}


@click.command("ls")
@click.argument("prefix", default="", shell_complete=complete_key)
@click.option("--all-versions", is_flag=True, help="Also list overwritten versions.")
@click.option("--members", is_flag=True, help="List the members of an archive; PREFIX is its key.")
@json_option(list[ListedObject], MemberListing)
@bucket_options
def ls(target: Target, prefix: str, all_versions: bool, members: bool, as_json: bool) -> None:
    """List the objects in the bucket, with their SHA-1.

    In place of a SHA-1 that does not hold, the state is shown, with its reason below the table:
    `differs`, `repaired`, `unreadable`, `archived`, `damaged`, `not hashed yet`, `needs a backfill`
    (the object is from before `bucketsum attach`) or `not covered` (no notification covers its key:
    it will not be hashed). Exits with 1 if an object differs, or another program damaged a record.

    With --members, lists the members of the newest recorded version of an archive. PREFIX is then
    the archive's key, or KEY!/TEXT to list only members whose path begins with TEXT. Exits with 1
    if not all members have been recorded.

    `bucketsum export` prints a list that `sha1sum --check` reads.

    Example: bucketsum ls photos/ --local
    """
    if members:
        if not prefix:
            raise click.UsageError("--members needs the key of an archive")
        list_members(target.find(), prefix, as_json=as_json)
        return
    stack = target.find()
    versions = versions_in(stack, prefix, all_versions=all_versions)
    listed = _Displayed(versions, pending_of(stack))
    if as_json:
        print_json_array(listed)
    else:
        if not _print_table(listed, all_versions=all_versions):
            hint = bucket_hint(stack, prefix)
            note(
                f"no key in the bucket begins with {prefix}{hint}"
                if prefix
                else "the bucket is empty"
            )
        listed.reasons.note()
    end_if(listed.has_findings)


@dataclass(slots=True)
class _Displayed:
    """Iterates over versions, newest first, and remembers which have no digest, by reason."""

    versions: Iterator[tuple[ObjectVersion, Row | None]]
    pending: Callable[[ObjectVersion], Pending]
    has_findings: bool = False
    reasons: Reasons = field(default_factory=Reasons)

    def __iter__(self) -> Iterator[ListedObject]:
        newer: list[Row] = []
        for version, row in self.versions:
            newer = [other for other in newer if other.key == version.key]
            state = digest_state(row, self.pending(version), newer)
            newer += [row] if row else []
            self.has_findings |= state.status in FINDINGS
            self.reasons.add(version.key, state)
            yield ListedObject(
                version,
                state,
                verified_at=row.verified.at if row and row.verified else None,
                differs_at=row.difference.at if row and row.difference else None,
            )


def _print_table(listed: Iterable[ListedObject], *, all_versions: bool) -> bool:
    columns = [KEY, VERSION, SIZE, SHA1] if all_versions else [KEY, SIZE, SHA1, SPEED]
    if (width_of() or _WIDE) >= _WIDE:
        columns.append(MOMENT)
    return print_items({column: _TEXTS[column] for column in columns}, listed)

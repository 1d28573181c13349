"""`bucketsum find`: all objects with the same content."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum.algorithms import SHA1
from bucketsum_cli.arguments.options import Target, bucket_options, json_option
from bucketsum_cli.objects.files import sha1_of_file
from bucketsum_cli.objects.members import with_archive_deletions
from bucketsum_cli.objects.rows import (
    RecordedRow,
    any_damaged,
    digest_cell,
    digest_state,
    full_name,
    recorded_row,
    version_of,
)
from bucketsum_cli.objects.sums import sums_in
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CANNOT_DO, CannotDoError
from bucketsum_cli.terminal.formatting import moment_text, size_text
from bucketsum_cli.terminal.output import note, print_json, progress, say, with_bar
from bucketsum_cli.terminal.tables import KEY, SIZE, VERSION, Cell, Column, print_table

if TYPE_CHECKING:
    from bucketsum.table.rows import Row
    from bucketsum_cli.aws.stack import Stack


_NO_INDEX: Final = (
    "the stack has Sha1Index=no: only objects that were recorded before are found here; "
    "a snapshot of the table has all of them"
)


@dataclass(frozen=True, slots=True)
class FindResult:
    """The objects and members with a SHA-1."""

    sha1: str
    objects: Sequence[RecordedRow]


@click.command("find")
@click.argument("contents", metavar="SHA1|FILE...", nargs=-1, required=True)
@json_option(FindResult, list[FindResult])
@partial(bucket_options, bucket_help="Only this bucket; by default all buckets of the stack.")
def find(target: Target, contents: tuple[str, ...], as_json: bool) -> None:
    """Find every object with a given SHA-1, or with a file's content.

    Lists every object version and every archive member with this SHA-1. Deleted versions, and the
    members of deleted archives, are marked. Versions that were overwritten, or hidden by a delete
    marker, still exist, so they are not marked.

    An argument of 40 hexadecimal digits is a SHA-1, even if a file has that name (write ./NAME for
    the file). Any other argument is a file, which is hashed locally. With -, the SHA-1s are read
    from stdin, as `sha1sum` prints them. With several SHA-1s or files, --json prints an array.

    Exits with 1 if a SHA-1 is not recorded, or if another program damaged a record. With the
    stack's parameter Sha1Index=no, only rows from before it are found: if there is none, exits
    with 2.

    Example: bucketsum find ~/Downloads/cat.jpg
    """
    wanted = [*_wanted(contents)]
    stack = target.find()
    table = stack.digests_table()
    unknown = _NO_INDEX if stack.parameters.get("Sha1Index") == "no" else ""
    matches = {
        sha1: [
            row
            for row in with_archive_deletions(table, table.with_sha1(sha1))
            if target.bucket in (None, row.bucket)
        ]
        for _, sha1 in with_bar(wanted, "finding", len(wanted))
    }
    if as_json:
        results = [FindResult(sha1, [*map(recorded_row, matches[sha1])]) for _, sha1 in wanted]
        print_json(results[0] if contents == (wanted[0][0],) else results)
    for name, sha1 in wanted:
        if not as_json:
            if len(wanted) > 1:
                say(name, "bold")
            _print_table(stack, matches[sha1])
        if not matches[sha1]:
            note(
                unknown
                or f"no object with the SHA-1 {sha1} is recorded; `bucketsum put FILE` uploads a "
                "file, `bucketsum backfill BUCKET` records objects that are in a bucket"
            )
    _end(matches.values(), unknown)


def _end(results: Collection[list[Row]], unknown: str) -> None:
    """Exit with the status; what is *unknown* makes a digest without rows no answer."""
    if not all(results):
        raise SystemExit(CANNOT_DO if unknown else ANSWER_IS_NO)
    if unknown:
        note(unknown)
    if any(map(any_damaged, results)):
        raise SystemExit(ANSWER_IS_NO)


def _wanted(contents: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each name with its SHA-1."""
    for content in contents:
        if content == "-":
            stdin = click.get_text_stream("stdin", encoding="utf-8", errors="surrogateescape")
            lines = [*sums_in(stdin)]
            if not lines:
                raise CannotDoError("stdin has no lines of `sha1sum`")
            yield from lines
        else:
            sha1 = content.lower()
            yield content, sha1 if SHA1.is_digest(sha1) else _sha1_of(content)


def _print_table(stack: Stack, rows: Sequence[Row]) -> None:
    columns = [KEY, VERSION, SIZE, Column("created (UTC)")]
    if any(row.deletion for row in rows):
        columns.append(Column("deleted (UTC)"))
    print_table(columns, (_as_cells(row, stack)[: len(columns)] for row in rows))


def _sha1_of(content: str) -> str:
    path = Path(content)
    try:
        with progress(passing=True) as shown:
            task = shown.add_task("hashing", total=path.stat().st_size)
            return sha1_of_file(path, shown, task)
    except OSError as error:
        raise CannotDoError(
            f"{content!r} is neither {SHA1.hex_digits} hexadecimal digits nor a file that can be "
            f"read: {error.strerror}"
        ) from None


def _as_cells(row: Row, stack: Stack) -> list[str | Cell]:
    moment: str | Cell = moment_text(row.arrived_at)
    if any_damaged([row]):
        moment = digest_cell(digest_state(row))
    deleted = Cell(moment_text(row.deletion.at), "red") if row.deletion else ""
    name = full_name(row) if row.bucket == stack.bucket else f"s3://{row.bucket}/{full_name(row)}"
    return [name, version_of(row), size_text(row.size_bytes), moment, deleted]

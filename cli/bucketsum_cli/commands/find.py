"""`bucketsum find`: all objects with the same content."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import click

from bucketsum.algorithms import ALGORITHMS, SHA1
from bucketsum.table.rows import Row
from bucketsum.table.state import HELD, ObjectState
from bucketsum_cli.arguments.target import bucket_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.commands.asking import Asking, question
from bucketsum_cli.commands.find_list import (
    ListedDigest,
    algorithms_of,
    find_in_snapshot,
    note_first,
    wanted_in,
)
from bucketsum_cli.commands.lists import ListForm, list_options
from bucketsum_cli.manifests.entries import BadLine
from bucketsum_cli.objects.digest_state import reason_of
from bucketsum_cli.objects.file_digests import sha1_of_file
from bucketsum_cli.objects.recorded_row import RecordedRow, recorded_row
from bucketsum_cli.objects.row_names import full_name, version_of
from bucketsum_cli.objects.row_states import with_states
from bucketsum_cli.terminal.columns import KEY, SIZE, VERSION, Cell, Column
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import moment_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import progress, with_bar
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_BUCKET_HELP: Final = "Only this bucket; by default all buckets of the stack."

Matches: TypeAlias = Mapping[str, Sequence[tuple["Row", ObjectState]]]
"""SHA-1 → its places, with their states."""


@dataclass(frozen=True, slots=True)
class FindResult:
    """The objects and members with a SHA-1."""

    sha1: str
    objects: Sequence[RecordedRow]


@click.command("find")
@click.argument("contents", metavar="[DIGEST|FILE...]", nargs=-1)
@click.option(
    "--list",
    "listed",
    type=click.File("rb"),
    metavar="FILE",
    help="Find each digest in FILE: alone in lines, a manifest, or NSRL's CSV.",
)
@list_options
@question(
    FindResult,
    list[FindResult],
    list[ListedDigest],
    of=partial(bucket_options, bucket_help=_BUCKET_HELP),
)
def find(
    asking: Asking,
    contents: tuple[str, ...],
    listed: BinaryIO | None,
    form: ListForm,
    as_json: bool,
) -> None:
    """Find every object with a given SHA-1, or with a file's content.

    Lists every object version and every archive member with this SHA-1. Deleted versions, and the
    members of deleted archives, are marked. Versions that were overwritten, or hidden by a delete
    marker, still exist, so they are not marked.

    An argument of 40 hexadecimal digits is a SHA-1, even if a file has that name (write ./NAME for
    the file). Any other argument is a file, which is hashed locally. With -, the SHA-1s are read
    from stdin, as `sha1sum` prints them. With several SHA-1s or files, --json prints an array.

    With --list or --snapshot, or for a digest of another recorded algorithm (only SHA-1 has an
    index), this reads all rows into a snapshot and lists the buckets, for up to a million digests.

    With the stack's parameter Sha1Index=no, this reads a snapshot too.

    Exits with 1 if a SHA-1 is not recorded, or only where the content no longer holds (differs,
    unreadable, repaired), if one of several files or lines cannot be read, or if another program
    damaged a record.

    Example: bucketsum find ~/Downloads/cat.jpg
    """
    for url in filter(S3Place.is_url, contents):
        raise click.UsageError(f"{url} is in S3: `{command_line('show', url)}` has its digests")
    with_sha1 = bool(asking.snapshot_name or asking.athena)
    if listing := _for_a_snapshot(contents, listed, form, with_sha1=with_sha1):
        find_in_snapshot(asking, *listing, as_json=as_json)
        return
    wanted, bad = _wanted(contents)
    stack = asking.target.find()
    if stack.parameters.get("Sha1Index") == "no":
        rows = [
            {"place": place, "name": name, "digest": sha1, SHA1.name: sha1}
            for place, (name, sha1) in enumerate(wanted)
        ]
        find_in_snapshot(asking, rows, bad, as_json=as_json)
        return
    table = stack.digests_table()
    sha1s = dict.fromkeys(sha1 for _, sha1 in wanted)
    everywhere = {
        sha1: with_states(stack, table.with_sha1(sha1))
        for sha1 in with_bar(sha1s, "finding", len(sha1s))
    }
    matches = {
        sha1: [place for place in places if asking.target.bucket in (None, place[0].bucket)]
        for sha1, places in everywhere.items()
    }
    if as_json:
        results = [
            FindResult(sha1, [recorded_row(*place) for place in matches[sha1]])
            for _, sha1 in wanted
        ]
        print_json(results[0] if contents == (wanted[0][0],) else results)
    for name, sha1 in wanted:
        if not as_json:
            if len(wanted) > 1:
                say(name, "bold")
            _print_table(stack, matches[sha1])
    _note_each(matches, bad)
    _note_absent(matches, everywhere, asking.target.bucket)
    states = [{state for _, state in places} for places in matches.values()]
    end_if(bad or ObjectState.DAMAGED in set().union(*states) or not all(s & HELD for s in states))


def _note_each(matches: Matches, bad: Iterable[str]) -> None:
    for row, state in chain.from_iterable(matches.values()):
        if row.difference:
            show = command_line("show", row.key, "--bucket", row.bucket)
            note(f"{row.key} was read twice with other bytes: `{show}` has both digests")
        elif state not in HELD:
            reason = reason_of(row)
            note(f"{full_name(row)} is {state}{f': {reason}' if reason else ''}")
    note_first([f"skipped {reason}" for reason in bad])


def _note_absent(matches: Matches, everywhere: Matches, bucket: str | None) -> None:
    absent = [sha1 for sha1, rows in matches.items() if not rows]
    for sha1 in absent:
        place = f" in {bucket}" if bucket else ""
        others = Counter(row.bucket for row, _ in everywhere[sha1])
        elsewhere = ", ".join(f"{number:,} in {name}" for name, number in others.items())
        but = f", but {elsewhere}" if elsewhere else ""
        note(f"no object with the SHA-1 {sha1} is recorded{place}{but}")
    if any(not everywhere[sha1] for sha1 in absent):
        note(
            f"`{command_line('put', 'FILE')}` uploads a file, "
            f"`{command_line('backfill', 'BUCKET')}` records objects that are in a bucket"
        )


def _for_a_snapshot(
    contents: Sequence[str],
    listed: BinaryIO | None,
    form: ListForm,
    *,
    with_sha1: bool,
) -> tuple[list[dict[str, Any]], list[str]] | None:
    """Return the digests for a snapshot, and why lines have none; None if the table is asked.

    Raises:
        click.UsageError: There are digests of both kinds, or none.
    """
    if (listed is None) == (not contents):
        raise click.UsageError("give digests or files, or a list with --list")
    if listed is not None:
        return wanted_in(listed, listed.name, form)
    if form != ListForm():
        raise click.UsageError("--format and --algorithm are about the list of --list")
    digests = [
        {"place": place, "name": content, "digest": content.lower(), name: content.lower()}
        for place, content in enumerate(contents)
        for name in algorithms_of(content)
        if (with_sha1 or name != SHA1.name) and not Path(content).exists()
    ]
    if digests and len(digests) < len(contents):
        raise click.UsageError("only digests can be looked up in a snapshot: leave out the files")
    return (digests, []) if digests else None


def _wanted(contents: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return each name with its SHA-1, and why files and lines of a list have none."""
    wanted = []
    bad = []
    for content in contents:
        if content != "-":
            try:
                sha1 = content.lower() if SHA1.is_digest(content.lower()) else _sha1_of(content)
                wanted.append((content, sha1))
            except CannotDoError as error:
                bad.append(error.message)
            continue
        for entry in ListForm().entries_in(click.get_binary_stream("stdin"), content):
            if isinstance(entry, BadLine):
                bad.append(entry.reason)
            elif SHA1.name in entry.digests:
                sha1 = entry.digests[SHA1.name]
                wanted.append((os.fsdecode(entry.name) or sha1, sha1))
            else:
                algorithms = ", ".join(entry.digests)
                bad.append(
                    f"line {entry.line}: it has {algorithms}, and objects are found by SHA-1"
                )
    if not wanted:
        reason = bad[0] if bad else "it is empty"
        raise CannotDoError(f"stdin has no SHA-1; {reason}" if "-" in contents else reason)
    return wanted, bad


def _print_table(stack: Stack, places: Sequence[tuple[Row, ObjectState]]) -> None:
    columns = [KEY, VERSION, SIZE, Column("created (UTC)")]
    if any(row.deletion for row, _ in places):
        columns.append(Column("deleted (UTC)"))
    print_table(columns, (_as_cells(*place, stack)[: len(columns)] for place in places))


def _sha1_of(content: str) -> str:
    path = Path(content)
    try:
        with progress(passing=True) as shown:
            task = shown.add_task("hashing", total=path.stat().st_size)
            return sha1_of_file(path, shown, task)
    except OSError as error:
        lengths = ", ".join(f"{kind.hex_digits} ({kind.label})" for kind in ALGORITHMS.values())
        raise CannotDoError(
            f"{content!r} is neither a digest, which has as many hexadecimal digits as {lengths}, "
            f"nor a file that can be read: {error.strerror}"
        ) from None


def _as_cells(row: Row, state: ObjectState, stack: Stack) -> list[str | Cell]:
    moment: str | Cell = moment_text(row.arrived_at)
    if state not in HELD:
        moment = Cell(state, "red")
    deleted = Cell(moment_text(row.deletion.at), "red") if row.deletion else ""
    name = full_name(row) if row.bucket == stack.bucket else f"s3://{row.bucket}/{full_name(row)}"
    return [name, version_of(row), size_text(row.size_bytes), moment, deleted]

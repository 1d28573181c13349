"""`bucketsum check`: compare local files with the objects in the bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import click

from bucketsum_cli.arguments.options import (
    Target,
    bucket_options,
    exclude_option,
    json_option,
    prefix_option,
)
from bucketsum_cli.objects.comparison import (
    ComparedFile,
    Comparison,
    Counterpart,
    Result,
    compare_files,
    compare_sums,
    objects_of,
    results_of,
)
from bucketsum_cli.objects.files import Skipped, files_under, note_skipped
from bucketsum_cli.objects.members import files_as_members, members_by_path
from bucketsum_cli.objects.sums import sums_in
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import KEY, Cell, Column, print_table

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack

_STYLES: Final = {
    Result.EQUAL: "green",
    Result.DIFFERS: "bold red",
    Result.WAITING: "yellow",
    Result.FAILED: "bold red",
    Result.UNREADABLE: "red",
    Result.DAMAGED: "bold red",
    Result.DELETED: "red",
    Result.NOT_RECORDED: "yellow",
}

_COLUMNS: Final = (KEY, Column("result"), Column("SHA-1 of the file"))


_HINTS: Final = {
    Result.DIFFERS: "`bucketsum show KEY` has all its versions; `bucketsum put FILE` uploads again",
    Result.WAITING: "repeat this later; `bucketsum status` shows how many messages wait",
    Result.FAILED: "`bucketsum failures` shows the reasons, `bucketsum redrive` tries again",
    Result.UNREADABLE: "`bucketsum ls` shows why, `bucketsum redrive --key KEY` tries again",
    Result.NOT_RECORDED: "`bucketsum put FILE` uploads it",
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of `check`."""

    bucket: str
    archive: str | None
    all_equal: Annotated[bool, "Whether all files are equal."]
    files: Annotated[Sequence[ComparedFile], "The compared files."]
    missing: Annotated[Sequence[str], "With --archive: paths in the archive without a local file."]
    skipped: Sequence[Skipped]


@click.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--sums",
    type=click.File(encoding="utf-8", errors="surrogateescape"),
    metavar="FILE",
    help="Instead of files, compare the SHA-1s in FILE, the output of `sha1sum`; - is stdin.",
)
@prefix_option("Prefix of all keys, for example photos/; with --archive, a folder in the archive.")
@exclude_option
@click.option("--archive", metavar="KEY", help="Compare with the members of this archive.")
@json_option(CheckResult)
@bucket_options
def check(
    target: Target,
    paths: tuple[Path, ...],
    sums: TextIO | None,
    prefix: str,
    exclude: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Compare local files with the objects in the bucket.

    The key of a file is the one that `put` gives it. A file is compared with the recorded SHA-1 of
    the newest version of its key; the object itself is not read.

    Results: equal; differs; waiting (the newest version has no digest yet); failed (the object's
    message is in the dead-letter queue); unreadable (the hashing function could not read the
    object); damaged (another program changed its record); deleted (recorded, but no longer in the
    bucket); not recorded (there is no such object and no record of one).

    Exits with 1 if a file is not equal to its object.

    With --archive, files are compared with the members of an archive in the bucket. For a folder
    `photos`, the file `photos/a/b.txt` is compared with the member `a/b.txt`, or, with --prefix
    old/, with `old/a/b.txt`. A file that is not in the archive is `not recorded`. A member without
    a local file is listed too, and the exit status is then 1.

    With --sums FILE, no local file is hashed: the SHA-1 that FILE has for `a/b.txt` is compared
    with the object `a/b.txt`, or, with --prefix old/, with `old/a/b.txt`.

    Example: bucketsum check photos --prefix 2026/
    """
    if archive and exclude:
        raise click.UsageError("--exclude cannot be used with --archive")
    if sums is not None:
        if paths or archive or exclude:
            raise click.UsageError("--sums cannot be used with PATH, --archive or --exclude")
        listed = [*sums_in(sums)]
        if not listed:
            raise CannotDoError(f"{sums.name} has no lines of `sha1sum`: nothing was compared")
        stack = target.find()
        _report(stack, compare_sums(objects_of(stack), listed, prefix), as_json=as_json)
        return
    if not paths:
        raise click.UsageError("name files or folders, or a list with --sums")
    selection = files_as_members(paths, prefix) if archive else files_under(paths, prefix, exclude)
    stack = target.find()
    members, all_known = members_by_path(stack, archive, prefix) if archive else ({}, True)
    counterpart_of = (
        objects_of(stack) if not archive else lambda path: Counterpart(members.get(path))
    )
    comparisons, unread = compare_files(counterpart_of, selection.files)
    missing = sorted(members.keys() - {comparison.file.key for comparison in comparisons})
    _report(
        stack,
        comparisons,
        skipped=[*selection.skipped, *unread],
        missing=missing,
        archive=archive,
        all_known=all_known,
        as_json=as_json,
    )


def _report(
    stack: Stack,
    comparisons: Sequence[Comparison],
    *,
    skipped: Sequence[Skipped] = (),
    missing: Sequence[str] = (),
    archive: str | None = None,
    all_known: bool = True,
    as_json: bool,
) -> None:
    """Show what was compared, and end the command with 1 unless all is equal."""
    files = results_of(stack, comparisons)
    counts = Counter(file.result for file in files)
    all_equal = all_known and not (skipped or missing) and counts[Result.EQUAL] == len(files)
    if as_json:
        print_json(CheckResult(stack.bucket, archive, all_equal, files, missing, skipped))
    else:
        for member in missing:
            note(f"{member} is in the archive, but there is no local file for it")
        print_table(_COLUMNS, map(_as_cells, files))
        say(_summary(counts, len(skipped)), "bold green" if all_equal else "bold red")
    note_skipped(skipped)
    for result, hint in _HINTS.items():
        if counts[result] and not archive:
            note(f"{result}: {hint}")
    if not all_equal:
        raise SystemExit(ANSWER_IS_NO)


def _as_cells(file: ComparedFile) -> list[str | Cell]:
    return [file.key, Cell(file.result, _STYLES[file.result]), file.sha1]


def _summary(counts: Counter[Result], skipped: int) -> str:
    parts = [f"{counts[result]} {result}" for result in Result if counts[result]]
    return ", ".join([*parts, *([f"{skipped} skipped"] if skipped else [])])

"""`bucketsum check`: do the local files equal what the bucket recorded?"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click
from rich.progress import DownloadColumn, TransferSpeedColumn

from bucketsum.digests_table import Status
from bucketsum_cli.errors import ANSWER_IS_NO
from bucketsum_cli.files import Skipped, files_under, note_skipped, sha1_of_file
from bucketsum_cli.members import files_as_members, members_by_path
from bucketsum_cli.options import json_option, paths_argument, prefix_option, stack_options
from bucketsum_cli.output import (
    KEY,
    SHA1,
    Cell,
    Column,
    note,
    print_json,
    print_table,
    progress,
    say,
)
from bucketsum_cli.rows import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from bucketsum.digests_table import DigestsTable, Row
    from bucketsum_cli.files import LocalFile
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_FILES_AT_A_TIME: Final = 8


class Verdict(StrEnum):
    """How a local file stands to the newest version that is recorded of its key."""

    EQUAL = "equal"
    DIFFERS = "differs"
    NOT_RECORDED = "not recorded"
    UNREADABLE = "unreadable"
    """The hasher could not read the object."""


_STYLES: Final = {
    Verdict.EQUAL: "green",
    Verdict.DIFFERS: "bold red",
    Verdict.NOT_RECORDED: "yellow",
    Verdict.UNREADABLE: "red",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A local file beside what is recorded.

    Attributes:
        file: The file.
        sha1: Its SHA-1, computed here.
        row: The newest version that is recorded of its key; None where none is.
    """

    file: LocalFile
    sha1: str
    row: Row | None

    @property
    def verdict(self) -> Verdict:
        """How they stand to each other."""
        if self.row is None:
            return Verdict.NOT_RECORDED
        if self.row.status is Status.UNREADABLE:
            return Verdict.UNREADABLE
        return Verdict.EQUAL if self.row.sha1 == self.sha1 else Verdict.DIFFERS


@click.command("check")
@paths_argument
@prefix_option
@click.option("--archive", metavar="KEY", help="Compare with the members of this archive.")
@json_option
@stack_options
def check(
    target: Target,
    paths: tuple[Path, ...],
    prefix: str,
    archive: str | None,
    as_json: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Compare local files with what is recorded.

    Keys are as `put` makes them. A file is compared with the newest version that is recorded;
    the object itself is not read, and may have been deleted since. Exits with 0 only where all
    are equal, else with 1.

    With --archive, files are compared with the members of an archive in the bucket, and members
    that have no file are told too. A folder's files are then named from inside of it, and
    --prefix is the folder in the archive that they are compared with.

    Example: bucketsum check photos --prefix 2026/
    """
    found = files_as_members(paths, prefix) if archive else files_under(paths, prefix)
    stack = target.find()
    members = members_by_path(stack, archive, prefix) if archive else {}
    look_up = members.get if archive else partial(_newest, stack.ledger(), stack.bucket)
    checked, unread = _check_all(look_up, found.files)
    skipped = [*found.skipped, *unread]
    counts = Counter(one.verdict for one in checked)
    missing = sorted(members.keys() - {one.file.key for one in checked})
    all_equal = not (skipped or missing) and counts[Verdict.EQUAL] == len(checked)
    if as_json:
        document = _as_json(stack, checked, skipped, all_equal=all_equal)
        print_json(document | ({"archive": archive, "missing": missing} if archive else {}))
    else:
        for member in missing:
            note(f"{member} is in the archive and not among the files")
        print_table([KEY, Column("result", 12), SHA1], map(_as_cells, checked))
        say(_summary(counts, len(skipped)), "bold green" if all_equal else "bold red")
    note_skipped(skipped)
    if not all_equal:
        raise SystemExit(ANSWER_IS_NO)


def _newest(ledger: DigestsTable, bucket: str, key: str) -> Row | None:
    return next(iter(ledger.versions_of(bucket, key)), None)


def _check_all(
    look_up: Callable[[str], Row | None], files: Sequence[LocalFile]
) -> tuple[list[Checked], list[Skipped]]:
    checked: list[Checked] = []
    skipped: list[Skipped] = []
    for one in _side_by_side(look_up, files):
        if isinstance(one, Checked):
            checked.append(one)
        else:
            skipped.append(one)
    return checked, skipped


def _side_by_side(
    look_up: Callable[[str], Row | None], files: Sequence[LocalFile]
) -> Iterator[Checked | Skipped]:
    with progress(DownloadColumn(), TransferSpeedColumn(), passing=True) as shown:
        task = shown.add_task("hashing", total=sum(file.size_bytes for file in files))

        def check_one(file: LocalFile) -> Checked | Skipped:
            return _check_one(look_up, file, lambda size: shown.advance(task, size))

        pool = ThreadPoolExecutor(_FILES_AT_A_TIME)
        try:
            yield from pool.map(check_one, files)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _check_one(
    look_up: Callable[[str], Row | None], file: LocalFile, on_bytes: Callable[[int], None]
) -> Checked | Skipped:
    try:
        sha1 = sha1_of_file(file.path, on_bytes)
    except OSError as error:
        return Skipped(file.path, error.strerror or str(error))
    return Checked(file, sha1, look_up(file.key))


def _as_cells(one: Checked) -> list[str | Cell]:
    return [one.file.key, Cell(one.verdict, _STYLES[one.verdict]), one.sha1]


def _summary(counts: Counter[Verdict], skipped: int) -> str:
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    return ", ".join([*parts, *([f"{skipped} skipped"] if skipped else [])])


def _as_json(
    stack: Stack, checked: Sequence[Checked], skipped: Sequence[Skipped], *, all_equal: bool
) -> dict[str, Any]:
    return {
        "bucket": stack.bucket,
        "all_equal": all_equal,
        "files": [
            {
                "path": str(one.file.path),
                "key": one.file.key,
                "result": one.verdict,
                "sha1": one.sha1,
                "recorded_sha1": one.row.sha1 if one.row else None,
                "version": version_of(one.row) if one.row else None,
                "reason": one.row.reason if one.row else None,
            }
            for one in checked
        ],
        "skipped": [{"path": str(one.path), "reason": one.reason} for one in skipped],
    }

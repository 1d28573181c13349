"""`bucketsum check`: compare local files with the objects in the bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Final

import click

from bucketsum.algorithms import SHA1
from bucketsum.table.rows import Row
from bucketsum_cli.arguments.options import exclude_option, json_option, prefix_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.bags.results import BagResult
from bucketsum_cli.buckets.attachments.coverage import pending_of
from bucketsum_cli.commands.check_bags import check_bags
from bucketsum_cli.commands.check_hints import note_hints
from bucketsum_cli.commands.lists import ListForm, list_options, note_all_differ
from bucketsum_cli.manifests.entries import BadLine, Entry, by_name, without_names
from bucketsum_cli.objects.comparison import ComparedFile, Comparison, results_of
from bucketsum_cli.objects.counterparts import Counterpart, Result, objects_of
from bucketsum_cli.objects.extracted_files import files_as_members, members_by_path
from bucketsum_cli.objects.file_digests import files_listed, hashed_files
from bucketsum_cli.objects.files import LocalFile, Skipped, files_under, note_left_out, note_skipped
from bucketsum_cli.terminal.columns import KEY, Cell, Column
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, tally_text
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_STYLES: Final = {
    Result.EQUAL: "green",
    Result.DIFFERS: "bold red",
    Result.FAILED: "bold red",
    Result.UNREADABLE: "red",
    Result.DAMAGED: "bold red",
    Result.HIDDEN: "red",
    Result.LOST: "bold red",
    Result.DELETED: "red",
    Result.MISSING: "red",
}
"""Others are yellow."""

_COLUMNS: Final = (KEY, Column("result"), Column("digest"))


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
    type=click.File("rb"),
    metavar="FILE",
    help="Instead of files, compare the digests in FILE, a list of `sha1sum`; - is stdin.",
)
@list_options
@prefix_option("Prefix of all keys, for example photos/; with --archive, a folder in the archive.")
@exclude_option
@click.option("--archive", metavar="KEY", help="Compare with the members of this archive.")
@click.option("--bag", metavar="URL", help="Validate the BagIt bag in this folder of a bucket.")
@click.option("--bags", metavar="URL", help="Validate all bags below this folder.")
@click.option("--all", "show_all", is_flag=True, help="Also show the files that are equal.")
@json_option(CheckResult, list[BagResult])
@bucket_options
def check(
    target: Target,
    paths: tuple[Path, ...],
    sums: IO[bytes] | None,
    form: ListForm,
    prefix: str,
    exclude: tuple[str, ...],
    archive: str | None,
    bag: str | None,
    bags: str | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Compare local files with the objects in the bucket.

    The key of a file is the one that `put` gives it. A file is compared with the recorded SHA-1 of
    the newest version of its key; the object itself is not read. Files that are equal are only
    counted, unless --all is given. Links to folders are not followed, and .git is skipped; a
    note says how many of each were left out.

    Results: equal; differs; missing (there is no such object); deleted (recorded, but no longer in
    the bucket); not hashed yet; needs a backfill (the object is from before `bucketsum attach`);
    not covered (no notification covers the key); failed (the object's message is in the dead-letter
    queue); unreadable (its last reading failed); archived (it was never read, and must be restored
    first); damaged (another program changed its record); hidden (the newest version of the key is a
    delete marker); lost (recorded, not in the bucket, and no deletion was reported); no such digest
    (the record has no digest of the list's algorithm). What a verification found to differ from its
    record differs, whatever the file is.

    Exits with 1 if a file is not equal to its object.

    With --archive, files are compared with the members of an archive in the bucket. For a folder
    `photos`, the file `photos/a/b.txt` is compared with the member `a/b.txt`, or, with --prefix
    old/, with `old/a/b.txt`. A file that is not in the archive is `missing`. A member without a
    local file is listed too, and the exit status is then 1.

    With --sums FILE, no local file is hashed: the digest that FILE has for `a/b.txt` is compared
    with the object `a/b.txt`, or, with --prefix old/, with `old/a/b.txt`. FILE may be a list of
    `sha1sum`, `sha256sum`, `md5sum`, BSD, OpenSSL, hashdeep or rclone, a BagIt manifest, CSV or
    JSON lines, also compressed by gzip, bzip2 or xz, or in UTF-16. A name KEY!/PATH is a member of
    the archive KEY. Objects that FILE does not name are not looked for.

    With --bag, the bag is validated where it lies, by what is recorded; only its tag files are read
    (up to 100 MB each): all manifests whose algorithms are recorded, files beyond them, missing
    and fetched ones, Payload-Oxum, and the rules of its version. A bag is valid, invalid, or that
    cannot be told, if an object is not recorded, or with other algorithms. --bags validates all
    below a folder; a folder without bagit.txt is invalid too. Exits with 1 unless all are valid.

    Example: bucketsum check photos --prefix 2026/

    Example: bucketsum check --bags s3://archive/bags/
    """
    if bag is not None or bags is not None:
        if sums or paths or archive or exclude or None not in (bag, bags):
            raise click.UsageError("--bag and --bags are used alone")
        check_bags(target.find(), bag, bags, as_json=as_json)
        return
    if archive and exclude:
        raise click.UsageError("--exclude cannot be used with --archive")
    if sums is not None:
        if paths or archive or exclude:
            raise click.UsageError("--sums cannot be used with PATH, --archive or --exclude")
        checked = _check_list(target, sums, form, prefix)
    elif not paths:
        raise click.UsageError("name files or folders, or a list with --sums")
    elif archive:
        checked = _check_archive(target, paths, archive, prefix)
    else:
        selection = files_under(paths, prefix, exclude)
        note_left_out(selection)
        files, unread = hashed_files(selection.files)
        stack = target.find()
        objects = objects_of(stack, [file.key for file, _ in files])
        checked = _Checked(stack, _with(files, objects), [*selection.skipped, *unread])
    _report(checked, show_all=show_all, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Checked:
    """Comparisons of a command; ``missing`` and ``all_known`` are of an archive."""

    stack: Stack
    comparisons: Sequence[Comparison]
    skipped: Sequence[Skipped]
    archive: str | None = None
    missing: Sequence[str] = field(default=())
    all_known: bool = True
    is_list: bool = False


def _with(
    files: Sequence[tuple[LocalFile, Mapping[str, str]]], objects: Mapping[str, Counterpart]
) -> list[Comparison]:
    return [
        Comparison(file, digests, objects.get(file.key, Counterpart())) for file, digests in files
    ]


def _check_list(target: Target, stream: IO[bytes], form: ListForm, prefix: str) -> _Checked:
    file = str(getattr(stream, "name", "-"))
    listed = [*form.entries_in(stream, file)]
    bad = [line for line in listed if isinstance(line, BadLine)]
    entries, repeated = by_name(entry for entry in listed if isinstance(entry, Entry))
    if not entries:
        reason = bad[0].reason if bad else "it is empty"
        raise CannotDoError(f"nothing was compared: {file} is not a list of digests; {reason}")
    if not any(entry.name for entry in entries):
        raise without_names(file)
    if repeated:
        note(f"{count_text(repeated, 'line')} of the list left out: the name is in another line")
    files, skipped = files_listed(entries, prefix)
    skipped += [Skipped(Path(file), line.reason) for line in bad]
    stack = target.find()
    objects = objects_of(stack, [file.key for file, _ in files])
    comparisons = [
        Comparison(file, entry.digests, objects.get(file.key, Counterpart()), entry.size_bytes)
        for file, entry in files
    ]
    return _Checked(stack, comparisons, skipped, is_list=True)


def _check_archive(target: Target, paths: Sequence[Path], archive: str, prefix: str) -> _Checked:
    stack = target.find()
    members = members_by_path(stack, archive, prefix)
    selection = files_as_members(paths, prefix, members.links)
    files, unread = hashed_files(selection.files, members.links)
    rows = members.on_disk({file.key for file in selection.files})
    objects = {path: Counterpart(row, archive=members.archive) for path, row in rows.items()}
    absent = rows.keys() - {file.key for file, _ in files}
    missing = sorted(key for key in absent if not _is_folder(rows[key], key, paths, prefix))
    skipped = [*selection.skipped, *unread]
    return _Checked(stack, _with(files, objects), skipped, archive, missing, members.all_known)


def _is_folder(row: Row, member: str, paths: Sequence[Path], prefix: str) -> bool:
    """Whether an empty *member* is a folder on the disk, as archives without a slash have them."""
    return row.size_bytes == 0 and any(
        (path / member.removeprefix(prefix)).is_dir() for path in paths
    )


def _report(checked: _Checked, *, show_all: bool, as_json: bool) -> None:
    """Show what was compared, and end the command with 1 unless all is equal."""
    if checked.is_list:
        note("objects that the list does not name are not looked for")
    stack, skipped, missing = checked.stack, checked.skipped, checked.missing
    files = results_of(stack, checked.comparisons, pending_of(stack))
    counts = Counter(file.result for file in files)
    all_equal = (
        checked.all_known and not (skipped or missing) and counts[Result.EQUAL] == len(files)
    )
    if as_json:
        print_json(CheckResult(stack.bucket, checked.archive, all_equal, files, missing, skipped))
    else:
        for member in missing:
            note(f"{member} is in the archive, but there is no local file for it")
        shown = (file for file in files if show_all or file.result is not Result.EQUAL)
        print_table(_COLUMNS, (line for file in shown for line in _lines(file)))
        numbers = {result.value: counts[result] for result in Result} | {"skipped": len(skipped)}
        say(tally_text(numbers), "bold green" if all_equal else "bold red")
    note_skipped(skipped)
    if checked.is_list and counts[Result.DIFFERS] == len(files):
        note_all_differ()
    if not checked.archive:
        note_hints(stack, files)
    end_if(not all_equal)


def _lines(file: ComparedFile) -> Iterator[list[str | Cell]]:
    """Yield the row of *file*; if it differs, a second one has the recorded digest."""
    own = {**({SHA1.name: file.sha1} if file.sha1 else {}), **file.digests}
    recorded = {SHA1.name: file.recorded_sha1, **file.recorded_digests}
    differing = [name for name in own if recorded.get(name) not in (None, own[name])]
    name = next(iter([*differing, *own]))
    yield [file.key, Cell(file.result, _STYLES.get(file.result, "yellow")), own[name]]
    if differing:
        yield ["", "recorded", recorded[name] or ""]
    elif file.result is Result.DIFFERS:
        yield ["", "", file.reason or ""]

"""`bucketsum put`: upload files and wait for their digests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Annotated, Final

import click

from bucketsum.errors import DamagedItem
from bucketsum.table.rows import Row, RowKey
from bucketsum_cli.arguments.options import FiniteRange, exclude_option, json_option, prefix_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.coverage import coverage_of
from bucketsum_cli.buckets.served_buckets import serves
from bucketsum_cli.objects.digest_state import DigestState, Reasons, digest_cell, digest_state
from bucketsum_cli.objects.files import (
    FileSelection,
    LocalFile,
    Skipped,
    files_under,
    note_left_out,
    note_skipped,
)
from bucketsum_cli.objects.long_objects import long_object, progress_text
from bucketsum_cli.objects.upload import Upload, put_files, wait_for_rows
from bucketsum_cli.terminal.columns import KEY, SHA1, SIZE, SPEED
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, size_text, speed_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import progress
from bucketsum_cli.terminal.output import note, print_json, printable, say
from bucketsum_cli.terminal.tables import RowTexts, print_items, print_table

DEFAULT_TIMEOUT_SECONDS = 900
"""The time-out of the hasher."""
_ANNOUNCED_BYTES: Final = 10**9
_PERHAPS_LONG_BYTES: Final = 10**8
"""Smaller objects are hashed in one invocation, at any memory size."""
_LOOKED_AT: Final = 10


@dataclass(frozen=True, slots=True)
class UploadedObject:
    """An uploaded file, with its digest if it has one already."""

    file: LocalFile = field(metadata=INLINE)
    version: str
    etag: str
    digest: DigestState = field(metadata=INLINE)


_TEXTS: Final[RowTexts[UploadedObject]] = {
    KEY: lambda item: item.file.key,
    SIZE: lambda item: size_text(item.file.size_bytes),
    SHA1: lambda item: digest_cell(item.digest),
    SPEED: lambda item: speed_text(item.digest.mb_per_s, missing=""),
}


@dataclass(frozen=True, slots=True)
class PutPlan:
    """The uploads that `put --dry-run` shows and does not make."""

    bucket: str
    files: Annotated[Sequence[LocalFile], "Files that would be uploaded."]
    skipped: Sequence[Skipped]


@dataclass(frozen=True, slots=True)
class PutResult:
    """The result of `put`."""

    bucket: str
    objects: Annotated[Sequence[UploadedObject], "The objects."]
    skipped: Annotated[Sequence[Skipped], "Files that cannot be read or uploaded."]


@click.command("put")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@prefix_option("Prefix of all keys, for example photos/.")
@exclude_option
@click.option("--dry-run", is_flag=True, help="Only show the files and their keys.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the digests.")
@click.option(
    "--timeout",
    "timeout_seconds",
    type=FiniteRange(min=0),
    default=DEFAULT_TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Maximum time to wait for the digests.",
)
@json_option(PutResult, PutPlan)
@bucket_options
def put(
    target: Target,
    paths: tuple[Path, ...],
    prefix: str,
    exclude: tuple[str, ...],
    dry_run: bool,
    no_wait: bool,
    timeout_seconds: float,
    as_json: bool,
) -> None:
    """Upload files to the bucket and wait for their SHA-1.

    The key of the file `a/b.txt` is `b.txt`. For a folder `photos`, each file's key is `photos/`
    followed by its path in the folder; inside it, symbolic links to folders are not followed, and
    folders named .git are left out.

    In the result, MB/s is the speed of reading and hashing, not of the upload.

    Exits with 1 if a file could not be read, or had no digest when the timeout ended.

    Example: bucketsum put report.pdf photos --prefix 2026/
    """
    selection = files_under(paths, prefix, exclude)
    note_left_out(selection)
    stack = target.find()
    if dry_run:
        _show_plan(stack, selection, as_json=as_json)
        return
    if not serves(stack, stack.bucket):
        raise CannotDoError(
            f"objects in {stack.bucket} get no digest: run "
            f"`{command_line('attach', stack.bucket)}` first"
        )
    size_bytes = sum(file.size_bytes for file in selection.files)
    if size_bytes >= _ANNOUNCED_BYTES:
        note(f"uploading {count_text(len(selection.files), 'file')}, {size_text(size_bytes)}")
    _require_coverage(stack, [file.key for file in selection.files], no_wait=no_wait)
    uploaded, unsent = put_and_wait(stack, selection.files, None if no_wait else timeout_seconds)
    skipped = [*selection.skipped, *unsent]
    objects = [
        UploadedObject(upload.file, upload.row_key.entry, upload.etag, digest_state(upload.row))
        for upload in uploaded
    ]
    if as_json:
        print_json(PutResult(stack.bucket, objects, skipped))
    else:
        _show_objects(objects)
    note_skipped(skipped)
    waiting = 0 if no_wait else sum(upload.row is None for upload in uploaded)
    if waiting:
        note(
            f"no digest after {timeout_seconds:g} s: {waiting} of {len(uploaded)}; it may still "
            f"come: see `{command_line('ls')}` and `{command_line('failures')}`. S3 sends "
            "no events in the first minutes of a new notification: after a deployment or `attach`, "
            f"run `{command_line('backfill', stack.bucket)}` ten minutes later"
        )
    end_if(skipped or not (no_wait or all(item.digest.sha1 for item in objects)))


def _show_plan(stack: Stack, selection: FileSelection, *, as_json: bool) -> None:
    if as_json:
        print_json(PutPlan(stack.bucket, selection.files, selection.skipped))
    else:
        print_table([KEY, SIZE], ([f.key, size_text(f.size_bytes)] for f in selection.files))
        total = size_text(sum(file.size_bytes for file in selection.files))
        say(f"{count_text(len(selection.files), 'file')}, {total}; nothing was uploaded")
    note_skipped(selection.skipped)


def _require_coverage(stack: Stack, keys: Sequence[str], *, no_wait: bool) -> None:
    """Refuse keys for which the stack gets no event, before they are uploaded and waited for."""
    is_covered = coverage_of(stack)
    outside = [key for key in keys if not is_covered(key)]
    if not outside:
        return
    text = (
        f"no digest for {len(outside)} of {len(keys)}, such as {outside[0]}: the notifications of "
        f"{stack.bucket} do not cover it"
    )
    backfill = command_line("backfill", stack.bucket)
    if not no_wait:
        raise CannotDoError(
            f"{text}. Nothing was uploaded; choose a --prefix that `{command_line('buckets')}` "
            f"shows, or upload with --no-wait and run `{backfill}`"
        )
    note(f"{text}; `{backfill}` hashes them")


def put_and_wait(
    stack: Stack, files: Sequence[LocalFile], timeout_seconds: float | None
) -> tuple[list[Upload], list[Skipped]]:
    """Send *files* and wait for their rows, with live progress on stderr.

    With *timeout_seconds* None it does not wait. Returns the uploads in the order of *files*, and
    the files that could not be read.
    """
    uploads, skipped = _send(stack, files)
    if timeout_seconds is not None:
        rows = _await_rows(stack, uploads, timeout_seconds)
        uploads = [replace(upload, row=rows.get(upload.row_key)) for upload in uploads]
    return uploads, skipped


def _send(stack: Stack, files: Sequence[LocalFile]) -> tuple[list[Upload], list[Skipped]]:
    counts = "{task.fields[ended]} of {task.fields[files]} files"
    with progress(counts, in_bytes=True) as shown:
        total_bytes = sum(file.size_bytes for file in files)
        task = shown.add_task("sending", total=total_bytes, ended=0, files=len(files))
        ended = count(1)
        return put_files(
            stack,
            files,
            on_bytes=lambda size_bytes: shown.advance(task, size_bytes),
            on_file=lambda: shown.update(task, ended=next(ended)),
        )


def _await_rows(
    stack: Stack, uploads: Sequence[Upload], timeout_seconds: float
) -> dict[RowKey, Row]:
    with progress("{task.completed} of {task.total} recorded{task.fields[slices]}") as shown:
        task = shown.add_task("hashing", total=len(uploads), slices="")

        def pause(seconds: float) -> None:
            shown.update(task, slices=slices_text(stack, uploads))
            time.sleep(seconds)

        rows = wait_for_rows(stack.digests_table(), uploads, timeout_seconds, pause=pause)
        return dict(shown.track(rows, task_id=task))


def slices_text(stack: Stack, uploads: Iterable[Upload]) -> str:
    """Return the progress of the first long object among *uploads*; empty if there is none."""
    large = (upload for upload in uploads if upload.file.size_bytes >= _PERHAPS_LONG_BYTES)
    for upload in islice(large, _LOOKED_AT):
        with suppress(DamagedItem):
            if item := stack.progress_table().at(upload.row_key):
                return f"; {printable(upload.file.key)}: {progress_text(long_object(item))}"
    return ""


def _show_objects(objects: Iterable[UploadedObject]) -> None:
    reasons = Reasons()
    for item in objects:
        reasons.add(item.file.key, item.digest)
    print_items(_TEXTS, objects)
    reasons.note()

"""`bucketsum stop`: end the slices of a long object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import click

from bucketsum.hashing.object_rows import unreadable_row
from bucketsum.long_objects.endings import recording_of
from bucketsum.long_objects.progress import ChainStatus, Progress
from bucketsum.table.digests_table import attempts_at
from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.served_buckets import bucket_hint
from bucketsum_cli.objects.long_objects import LongObject, in_progress, long_object, progress_text
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say


@dataclass(frozen=True, slots=True)
class StopResult:
    """The long objects that `stop` ended."""

    bucket: str
    key: str
    stopped_versions: Annotated[Sequence[LongObject], "The versions of the key that were stopped."]


@click.command("stop")
@click.argument("key", shell_complete=complete_key)
@json_option(StopResult)
@bucket_options
def stop(target: Target, key: str, as_json: bool) -> None:
    """Stop hashing KEY, a long object.

    A long object is too large for one invocation, so it is hashed in slices, one in each
    invocation. The current slice is hashed to its end, and the progress is saved; no further slice
    begins. The object is then shown as `unreadable`, with the reason that it was stopped.
    `bucketsum redrive --key KEY` resumes hashing it.

    Exits with 1 if KEY is not being hashed in slices.

    Example: bucketsum stop backups/2026.tar
    """
    stack = target.find()
    progresses, damaged = in_progress(stack, key)
    running = [p for p in progresses if p.status is ChainStatus.RUNNING]
    stopped = [ended for progress in running if (ended := _stopped(stack, progress))]
    documents = [*map(long_object, stopped)]
    if as_json:
        print_json(StopResult(stack.bucket, key, documents))
    else:
        for item in documents:
            say(f"{item.key}  version {item.version}  {progress_text(item)}")
    for error in damaged:
        note(str(error))
    if not (stopped or damaged):
        note(
            f"{key} is not being hashed in slices; `{command_line('status')}` lists those that are"
            f"{bucket_hint(stack, key)}"
        )
    end_if(damaged or not stopped)


def _stopped(stack: Stack, progress: Progress) -> Progress | None:
    """Stop the slices and record why; None if they have ended. Raises like `attempts_at`."""
    table = stack.progress_table()
    seen: Progress | None = progress
    for _ in attempts_at(progress.row_key):
        if seen is None:
            break
        done = f"{size_text(seen.offset)} of {size_text(seen.size_bytes)}"
        reason = f"stopped by a person after {done}; `bucketsum redrive --key KEY` continues it"
        row = unreadable_row(seen.created, reason, settings=None)
        recording_of(seen).record(stack.digests_table(), row)  # first: see `Slicer`
        if stopped := table.stop(seen, reason):
            return stopped
        seen = table.at(progress.row_key)  # a slice ended meanwhile
    return None

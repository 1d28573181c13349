"""`bucketsum show`: everything that is recorded for a key."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

import click

from bucketsum.table.rows import Row
from bucketsum.table.state import ObjectState, is_repaired, state_of
from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.errors import AWS_ERRORS, Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.coverage import pending_of
from bucketsum_cli.buckets.served_buckets import bucket_hint
from bucketsum_cli.objects.digest_state import FINDINGS
from bucketsum_cli.objects.long_objects import LongObject, in_progress, long_object, progress_text
from bucketsum_cli.objects.pending import listing_hint, pending_hints
from bucketsum_cli.objects.recorded_row import RecordedRow, recorded_row
from bucketsum_cli.objects.row_names import full_name
from bucketsum_cli.objects.row_states import versions_of_member
from bucketsum_cli.objects.similar_keys import similar_keys
from bucketsum_cli.objects.versions import listed_key, newest_version
from bucketsum_cli.terminal.documents import fields_of
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, end_if
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say


@dataclass(frozen=True, slots=True)
class ShowResult:
    """All that is recorded for a key."""

    bucket: str
    key: str
    versions: Annotated[Sequence[RecordedRow], "Its versions, newest first."]
    is_listed: Annotated[bool | None, "Whether the bucket lists the key; null if not known."]
    in_progress: Annotated[Sequence[LongObject], "Its versions that are hashed in slices."]


@click.command("show")
@click.argument("key", shell_complete=complete_key)
@json_option(ShowResult)
@bucket_options
def show(target: Target, key: str, as_json: bool) -> None:
    """Show everything recorded for KEY.

    Shows all versions of KEY, newest first. For a member of an archive, write KEY!/PATH. If a
    long object is still being hashed, its progress is shown above the versions.

    Exits with 1 if there is nothing to show, if a version differs, or if another program damaged a
    record of KEY.

    Example: bucketsum show photos/cat.jpg
    """
    stack = target.find()
    objects, is_listed = _objects(stack, key)
    rows = objects or versions_of_member(stack, key)
    progresses, damaged = in_progress(stack, key)
    unfinished = [*map(long_object, progresses), *map(long_object, damaged)]
    versions = [recorded_row(row, state) for row, state in rows]
    if as_json:
        print_json(ShowResult(stack.bucket, key, versions, is_listed, unfinished))
    else:
        for progress in unfinished:
            version = f"  version {progress.version}" if progress.version else ""
            say(f"{key}{version}", "bold")
            say(f"  {progress_text(progress)}")
        for (row, _), recorded in zip(rows, versions, strict=True):
            _show_row(row, recorded)
        if is_listed is False:
            note(f"{stack.bucket} does not list {key}: it is deleted, or behind a delete marker")
    if not (rows or unfinished):
        why = listing_hint()
        with suppress(*AWS_ERRORS):  # a hint that cannot be had is none
            why = _why(stack, key)
        note(f"nothing is recorded for {key}; {why}")
        raise SystemExit(ANSWER_IS_NO)
    end_if(damaged or any(state in FINDINGS for _, state in rows))


def _why(stack: Stack, key: str) -> str:
    newest = newest_version(stack.client("s3"), stack.digests_table(), stack.bucket, key)
    if newest is None:
        similar = similar_keys(stack, [key]).get(key)
        if similar:
            return f"there is {similar!a}"
        return f"it is missing: {listing_hint()}{bucket_hint(stack, key)}"
    pending = pending_of(stack)(newest[0])
    return f"{pending}: {pending_hints(stack.bucket)[pending]}"


def _objects(stack: Stack, key: str) -> tuple[list[tuple[Row, ObjectState]], bool | None]:
    """The rows of *key*, each with its state, and whether S3 lists the key, if that is known."""
    rows = stack.digests_table().versions_of(stack.bucket, key)
    listed = Reads()(lambda: listed_key(stack, stack.bucket, key)) if rows else None
    if listed is None:
        return [(row, state_of(row, is_repaired=is_repaired(row, rows))) for row in rows], None
    return [(row, listed.state_of(row)) for row in rows], listed.is_current


def _show_row(row: Row, recorded: RecordedRow) -> None:
    say(full_name(row), "bold")
    fields = fields_of(recorded)
    del fields["key"], fields["bucket"]
    digests, remarks = fields.pop("digests"), ", ".join(fields.pop("remarks")) or None
    for name, value in {**fields, **digests, "remarks": remarks}.items():
        if value is not None:
            say(f"  {name:<18}  {value}")
    if row.difference:
        find = command_line("find", row.sha1 or "", all_buckets=True)
        repair = command_line("repair", row.key, "--bucket", row.bucket)
        say("  differs: two readings found other bytes than were recorded. Copies that still have "
            f"the recorded digest: `{find}`. `{repair}` makes one the newest version")  # fmt: skip

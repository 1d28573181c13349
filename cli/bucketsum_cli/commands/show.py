"""`bucketsum show`: everything that is recorded for a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bucketsum.long_objects.progress import Progress
from bucketsum_cli.completion import complete_key
from bucketsum_cli.objects.long_objects import all_as_json, in_progress, progress_text
from bucketsum_cli.objects.members import versions_of_member
from bucketsum_cli.objects.rows import any_damaged, full_name, row_as_json
from bucketsum_cli.options import Target, bucket_options, json_option
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.output import note, print_json, say

if TYPE_CHECKING:
    from bucketsum.errors import DamagedItem
    from bucketsum.table.rows import Row


@click.command("show")
@click.argument("key", shell_complete=complete_key)
@json_option
@bucket_options
def show(target: Target, key: str, as_json: bool) -> None:
    """Show everything recorded for KEY.

    Shows all versions of KEY, newest first. For a member of an archive, write KEY!/PATH. If a
    long object is still being hashed, its progress is shown above the versions.

    Exits with 1 if there is nothing to show, or if something of it is damaged.

    Example: bucketsum show photos/cat.jpg
    """
    stack = target.find()
    rows = stack.digests_table().versions_of(stack.bucket, key) or versions_of_member(stack, key)
    progresses, damaged = in_progress(stack, key)
    unfinished: list[Progress | DamagedItem] = [*progresses, *damaged]
    if as_json:
        print_json(
            {
                "bucket": stack.bucket,
                "key": key,
                "versions": [row_as_json(row) for row in rows],
                "in_progress": all_as_json(unfinished),
            }
        )
    else:
        for progress in unfinished:
            version = f"  version {progress.version}" if isinstance(progress, Progress) else ""
            say(f"{key}{version}", "bold")
            say(f"  {progress_text(progress)}")
        for row in rows:
            _show_row(row)
    if not (rows or unfinished):
        note(f"nothing is recorded for {key}; `bucketsum ls` lists the objects in the bucket")
        raise SystemExit(ANSWER_IS_NO)
    if damaged or any_damaged(rows):
        raise SystemExit(ANSWER_IS_NO)


def _show_row(row: Row) -> None:
    say(full_name(row), "bold")
    fields = row_as_json(row)
    del fields["key"], fields["bucket"]
    digests, remarks = fields.pop("digests"), ", ".join(fields.pop("remarks")) or None
    for name, value in {**fields, **digests, "remarks": remarks}.items():
        if value is not None:
            say(f"  {name:<18}  {value}")

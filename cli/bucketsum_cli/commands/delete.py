"""`bucketsum delete`: empty the buckets of a stack, and delete all that it created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import click

from bucketsum_cli.arguments.options import count_option, json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack_changes import deleted_stack
from bucketsum_cli.buckets.attachments.notifications import change_notifications
from bucketsum_cli.buckets.attachments.queue_notification import without_queue
from bucketsum_cli.buckets.bucket_contents import BucketContents, counted, emptied, exists
from bucketsum_cli.buckets.bucket_figures import SOURCE, figures_of_large
from bucketsum_cli.stacks.teardown import StackParts, delete_table, stack_parts
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.formatting import count_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import notes, progress, spinner
from bucketsum_cli.terminal.output import note, print_json, say

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class EmptiedBucket:
    """A bucket that was emptied and deleted."""

    bucket: str
    deleted: Annotated[int, "Deleted object versions and delete markers."]


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """The result of `delete`."""

    stack: str
    stack_deleted: Annotated[bool, "False if the stack was gone already."]
    buckets: Sequence[EmptiedBucket]
    notifications_removed_from: Annotated[Sequence[str], "Buckets that are kept."]
    tables_deleted: Annotated[Sequence[str], "Names of tables."]
    tables_kept: Annotated[Sequence[str], "Names of tables."]


@click.command("delete")
@click.option(
    "--tables",
    is_flag=True,
    help="Also delete the tables of digests, of runs with their reports, and of measurements.",
)
@count_option
@yes_option
@json_option(DeleteResult)
@stack_options
def delete(target: Target, tables: bool, count: bool, yes: bool, as_json: bool) -> None:
    """Delete a stack and the buckets that it created.

    Shows the number of objects that will be deleted, and asks for confirmation. Buckets that the
    stack did not create are not touched, except that their notifications to the stack's queue are
    removed. The tables of digests, of runs with their reports, and of measurements stay unless
    --tables is given. After an interruption, run the command again to continue.

    Exits with 1 if you decline.

    Example: bucketsum delete --stack photo-sums
    """
    connection, name = target.connect()
    parts = stack_parts(connection, name)
    s3: S3Client = connection.client("s3")
    contents = {
        bucket: _contents(connection, s3, bucket, exactly=count) for bucket in parts.buckets
    }
    _show_plan(parts, contents, tables=tables)
    confirm("Delete all of this permanently?", "nothing was deleted", yes=yes)
    detached = _detach(s3, parts)
    versions = dict.fromkeys(parts.buckets, 0)
    for bucket in parts.buckets:  # CloudFormation deletes no bucket with objects
        if bucket != parts.inbox:
            versions[bucket] = _empty(s3, bucket, contents[bucket])
    for stack in filter(None, (parts.access_stack, parts.stack_id)):
        _delete_stack(connection, stack)
    for bucket in parts.buckets:  # with the queue gone, no deletion is an event, nor marks a row
        if exists(s3, bucket):
            versions[bucket] += _empty(s3, bucket, contents[bucket])
            s3.delete_bucket(Bucket=bucket)
    removed = [table for table in parts.tables if tables and _delete_table(connection, table)]
    kept = [table for table in parts.tables if not tables]
    result = DeleteResult(
        name,
        parts.stack_id is not None,
        [EmptiedBucket(bucket, count) for bucket, count in versions.items()],
        detached,
        removed,
        kept,
    )
    if as_json:
        print_json(result)
        return
    for line in _lines(result):
        say(line)


def _contents(
    connection: Connection, s3: S3Client, bucket: str, *, exactly: bool
) -> BucketContents:
    if not exactly and (figures := figures_of_large(connection, bucket)):
        return BucketContents(figures.objects, size_bytes=figures.size_bytes, is_exact=False)
    last = BucketContents()
    with notes().status("counting ...") as status:
        for last in counted(s3, bucket):
            status.update(f"counting {last.versions + last.delete_markers} in {bucket}")
    return last


def _show_plan(parts: StackParts, contents: Mapping[str, BucketContents], *, tables: bool) -> None:
    for bucket, counts in contents.items():
        size = size_text(counts.size_bytes)
        note(
            f"bucket  {bucket}: {count_text(counts.versions, 'object version')} ({size}), "
            f"{count_text(counts.delete_markers, 'delete marker')}"
            if counts.is_exact
            else f"bucket  {bucket}: about {count_text(counts.versions, 'object')}, {size} "
            f"({SOURCE})"
        )
    if parts.stack_id:
        note(f"stack   {parts.name}")
    else:
        note(f"the stack {parts.name} is already deleted; these parts remain")
    for bucket in parts.foreign_buckets:
        note(f"{bucket} was not created by the stack: its objects stay")
    for table in parts.tables:
        note(f"table   {table}" if tables else f"stays   {table} (--tables deletes it too)")


def _detach(s3: S3Client, parts: StackParts) -> list[str]:
    """Remove the notifications to our queue; return the names of the buckets that had any."""
    if parts.queue_arn is None:
        return []
    change = partial(without_queue, queue_arn=parts.queue_arn)
    return [
        bucket
        for bucket in parts.foreign_buckets
        if exists(s3, bucket) and change_notifications(s3, bucket, change, validate=False)
    ]


def _empty(s3: S3Client, bucket: str, contents: BucketContents) -> int:
    total = contents.versions + contents.delete_markers
    deleted = 0
    with progress("{task.completed}/{task.total}", passing=True) as bar:
        task = bar.add_task("emptying", total=total or None)
        for count in emptied(s3, bucket):
            deleted += count
            bar.update(task, completed=deleted, total=max(total, deleted))
    return deleted


def _delete_stack(connection: Connection, stack_id: str) -> None:
    with notes().status("deleting the stack ...") as shown:
        for status in deleted_stack(connection, stack_id):
            shown.update(f"stack: {status}")


def _delete_table(connection: Connection, table: str) -> bool:
    with spinner(f"deleting {table} ..."):
        return delete_table(connection.client("dynamodb"), table)


def _lines(result: DeleteResult) -> Iterator[str]:
    for emptied_bucket in result.buckets:
        bucket, count = emptied_bucket.bucket, emptied_bucket.deleted
        yield f"deleted  bucket {bucket} with {count_text(count, 'version')} and markers"
    if result.stack_deleted:
        yield f"deleted  stack {result.stack}"
    for bucket in result.notifications_removed_from:
        yield f"removed  notifications of {bucket}"
    for table in result.tables_deleted:
        yield f"deleted  table {table}"
    for table in result.tables_kept:
        yield f"kept     table {table}"
    if result.tables_kept:
        report, snapshot = command_line("verify", "list"), command_line("snapshot")
        yield f"`{report}` lists their reports, `{snapshot}` copies their rows"
        yield f"`{command_line('delete', '--tables')}` deletes them"

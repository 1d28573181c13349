"""`bucketsum redrive`: send failed messages back to their queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Final

import click
from click.core import ParameterSource

from bucketsum.table.rows import Row, Status
from bucketsum_cli.arguments.options import json_option, limit_option, yes_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.served_buckets import bucket_hint
from bucketsum_cli.dead_letters.messages import NamedObject, headline
from bucketsum_cli.dead_letters.queue import received
from bucketsum_cli.dead_letters.redrive import SentMessages, send_back
from bucketsum_cli.objects.row_events import event_body
from bucketsum_cli.objects.versions import entries_of
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say

_HOLD_SECONDS: Final = 600
"""Longest time that messages are hidden from others: a user's answer may take a while."""


@dataclass(frozen=True, slots=True)
class QueuedVersions:
    """The result of `redrive --key`."""

    queued: Annotated[Sequence[NamedObject], "Versions that are queued again."]
    not_unreadable: Annotated[Sequence[str], "Keys without unreadable versions."]


@click.command("redrive")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Retry the unreadable versions of KEY instead of failed messages; may be repeated.",
)
@yes_option
@limit_option("messages to send back; not with --key", default=10_000, most=100_000)
@json_option(SentMessages, QueuedVersions)
@partial(bucket_options, bucket_help="With --key: an attached bucket; by default the stack's own.")
def redrive(target: Target, keys: tuple[str, ...], yes: bool, limit: int, as_json: bool) -> None:
    """Retry the messages that failed.

    The messages of the dead-letter queue go back to the queues that they came from. A message is
    deleted from the dead-letter queue only after it has been sent to its queue.

    With --key, the command does not touch the dead-letter queue and does not ask for confirmation:
    it requeues the versions of KEY that are recorded as unreadable, for example after you granted
    a missing permission.

    Exits with 1 if a message was not sent, if KEY has no unreadable version, or if you decline.

    Example: bucketsum redrive --key archive/2019.zip
    """
    if target.bucket and not keys:
        raise click.UsageError("--bucket needs --key: all buckets share the dead-letter queue")
    limit_source = click.get_current_context().get_parameter_source("limit")
    if keys and limit_source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--limit cannot be used with --key")
    stack = target.find()
    if keys:
        _requeue(stack, keys, as_json=as_json)
        return
    with received(stack, limit, _HOLD_SECONDS) as messages:
        count = count_text(len(messages), "message")
        question = f"Send {count} of {stack.name} back?"
        confirm(question, "nothing was sent", yes=yes or not messages)
        result = send_back(stack, messages)
    _report(result, as_json=as_json)
    if len(messages) == limit:
        note(f"there may be more than these {limit}: run it again")
    end_if(result.refused)


def _report(result: SentMessages, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        for message in result.sent:
            say(f"sent back  {headline(message)}")
        say(f"{len(result.sent)} sent back" if result.sent else "nothing was sent back")
    for message in result.refused:
        note(f"not sent, still in the dead-letter queue: {headline(message)}: {message.refusal}")
    if result.undeleted:
        note(
            f"{len(result.undeleted)} of them were sent, but could not be deleted from the "
            "dead-letter queue, so they will appear there again; sending them twice does no harm"
        )


def _requeue(stack: Stack, keys: tuple[str, ...], *, as_json: bool) -> None:
    table = stack.digests_table()
    sqs = stack.client("sqs")
    queued: list[Row] = []
    readable: list[str] = []
    for key in dict.fromkeys(keys):
        rows = table.versions_of(stack.bucket, key)
        unreadable = [row for row in rows if row.status is Status.UNREADABLE and not row.deletion]
        if not unreadable:
            readable.append(key)
        for row in _as_listed(stack, key, unreadable):
            sqs.send_message(QueueUrl=stack.arrivals_queue_url, MessageBody=event_body(row))
            queued.append(row)
            if not as_json:
                say(f"queued  {row.key}  version {row.entry}")
    if as_json:
        objects = [NamedObject(row.bucket, row.key, row.entry) for row in queued]
        print_json(QueuedVersions(objects, readable))
    for key in readable:
        note(
            f"no version of {key} is recorded as unreadable; "
            f"`{command_line('show', key)}` lists its versions{bucket_hint(stack, key)}"
        )
    end_if(readable)


def _as_listed(stack: Stack, key: str, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield *rows* with the entity tag and the size that S3 lists, if it may be asked.

    Another program may have changed those of a row; a version with an ID never changes.
    """
    entries = Reads()(lambda: [*entries_of(stack, stack.bucket, key)]) if rows else None
    listed = {entry["VersionId"]: entry for entry in entries or () if "ETag" in entry}
    for row in rows:
        entry = listed.get(row.entry)
        etag = entry["ETag"].strip('"') if entry else None
        yield (
            replace(row, etag=etag, size_bytes=entry["Size"]) if entry and row.is_of(etag) else row
        )

"""`bucketsum failures`: what could not be handled, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.digests_table import NULL_VERSION
from bucketsum.errors import MalformedMessage
from bucketsum.notifications import created_objects_in
from bucketsum_cli.dead_letter_queue import received
from bucketsum_cli.options import json_option, stack_options
from bucketsum_cli.output import moment_text, note, print_json, say

if TYPE_CHECKING:
    from bucketsum.notifications import ObjectCreated
    from bucketsum_cli.dead_letter_queue import DeadLetter
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_PEEK_SECONDS: Final = 60
"""Longest that a look hides messages from others, should it be killed."""

_SHOWN_CHARACTERS: Final = 80


@click.command("failures")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Most messages to look at.",
)
@json_option
@stack_options
def failures(target: Target, limit: int, as_json: bool) -> None:  # noqa: FBT001 - click, by name
    """Show what could not be handled, and why.

    These are the messages of the dead-letter queue and the objects that they name.

    Looking changes nothing but the count of receives; while it lasts, some seconds, others do not
    see the messages. Objects
    that S3 does not let the hasher read are not failures but rows: `bucketsum ls` shows them.

    Example: bucketsum failures --limit 1000 --json
    """
    stack = target.find()
    with received(stack, limit, _PEEK_SECONDS) as messages:
        pass  # released before anything is shown: a pager may hold the output up
    if as_json:
        print_json([document_of(one) for one in messages])
    else:
        for one in messages:
            _show(one, stack)
        say(f"{len(messages)} set aside" if messages else "nothing is set aside")
    if len(messages) == limit:
        note(f"there may be more than these {limit}: raise --limit")


def _arrivals(message: DeadLetter) -> list[ObjectCreated]:
    try:
        return created_objects_in(message.body)
    except MalformedMessage:
        return []


def named(message: DeadLetter) -> str:
    """What *message* is about; where it names nothing, how it begins."""
    arrivals = _arrivals(message)
    if arrivals:
        return ", ".join(f"{one.bucket}/{one.key}" for one in arrivals)
    begin = message.body[:_SHOWN_CHARACTERS]
    return f"{begin}…" if len(message.body) > _SHOWN_CHARACTERS else begin


def _why(message: DeadLetter, stack: Stack) -> str:
    return message.reason or (
        "the function died (time-out or out of memory) or could not start; its log group "
        f"{stack.log_group} tells"
    )


def _show(message: DeadLetter, stack: Stack) -> None:
    say(named(message), "bold")
    say(f"  {_why(message, stack)}")
    receives = "once" if message.receives == 1 else f"{message.receives} times"
    say(f"  since {moment_text(message.since)} UTC, received {receives}", "dim")


def document_of(message: DeadLetter) -> dict[str, Any]:
    """All that is known of *message*."""
    return {
        "message_id": message.message_id,
        "since": message.since,
        "receives": message.receives,
        "reason": message.reason,
        "objects": [
            {"bucket": one.bucket, "key": one.key, "version": one.version_id or NULL_VERSION}
            for one in _arrivals(message)
        ],
        "body": message.body,
    }

"""`bucketsum failures`: the messages in the dead-letter queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.arguments.options import Target, json_option, limit_option, stack_options
from bucketsum_cli.dead_letters.messages import FailedMessage, headline, why
from bucketsum_cli.dead_letters.queue import received
from bucketsum_cli.terminal.formatting import moment_text
from bucketsum_cli.terminal.output import note, print_json, say

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack

_PEEK_SECONDS: Final = 60
"""Longest time that messages stay hidden from others if this command is killed."""


@click.command("failures")
@limit_option("messages to show", default=100)
@json_option(list[FailedMessage])
@stack_options
def failures(target: Target, limit: int, as_json: bool) -> None:
    """Show the failed messages and the reasons.

    Lists the messages in the dead-letter queue, and the objects that they refer to.

    Listing increases the messages' receive count and hides them from other consumers for a few
    seconds. Another command, such as a `redrive` that waits for your confirmation or was killed,
    can hide messages for at most 10 minutes. Hidden messages are only counted.
    Unreadable objects are not listed here; `bucketsum ls` shows them.

    Example: bucketsum failures --limit 1000 --json
    """
    stack = target.find()
    attributes = stack.queue_attributes(stack.dead_letter_queue_url)
    hidden = int(attributes["ApproximateNumberOfMessagesNotVisible"])
    with received(stack, limit, _PEEK_SECONDS) as letters:
        pass  # released before anything is shown: a pager may block the output
    messages = [letter.document for letter in letters]
    if as_json:
        print_json(messages)
    else:
        for message in messages:
            _show(message, stack)
        count = f"{len(messages)} in the dead-letter queue"
        say(count if messages or hidden else "the dead-letter queue is empty")
    if hidden:
        note(
            f"about {hidden} more are hidden now, because another command is holding them (for "
            "example a `redrive` that is waiting for your confirmation or was killed); they "
            "reappear after at most 10 minutes"
        )
    if len(messages) == limit:
        note(f"there may be more than these {limit}: raise --limit")


def _show(message: FailedMessage, stack: Stack) -> None:
    say(headline(message), "bold")
    say(f"  {why(message, stack)}")
    receives = "once" if message.receives == 1 else f"{message.receives} times"
    say(f"  since {moment_text(message.sent_at)} UTC, received {receives}", "dim")

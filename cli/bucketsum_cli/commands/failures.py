"""`bucketsum failures`: the messages in the dead-letter queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import click

from bucketsum.clock import now
from bucketsum_cli.arguments.options import json_option, limit_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.dead_letters.messages import FailedMessage, headline, why
from bucketsum_cli.dead_letters.queue import delete_letters, received
from bucketsum_cli.machine.folders import kept_files
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import count_text, moment_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.output_files import write_text

_PEEK_SECONDS: Final = 60
"""Longest time that messages stay hidden from others if this command is killed."""

_HOLD_SECONDS: Final = 600
"""Longest time that a person may take to answer."""


@dataclass(frozen=True, slots=True)
class DiscardedMessages:
    """The result of `failures --discard`."""

    discarded: Annotated[Sequence[FailedMessage], "Messages that were deleted from the queue."]
    file: Annotated[Path | None, "The file that has them; null if there are none."]
    undeleted: Annotated[Sequence[str], "IDs of messages that SQS did not delete."]


@click.command("failures")
@limit_option("messages to show", default=100)
@click.option(
    "--discard", is_flag=True, help="Delete the messages that name no object; a file keeps them."
)
@click.option("--all", "of_all", is_flag=True, help="With --discard: delete all messages.")
@yes_option
@json_option(list[FailedMessage], DiscardedMessages)
@stack_options
def failures(
    target: Target, limit: int, discard: bool, of_all: bool, yes: bool, as_json: bool
) -> None:
    """Show the failed messages and the reasons.

    Lists the messages in the dead-letter queue, and the objects that they refer to.

    Nothing can hash a message that names no object: `redrive` only brings it back. --discard asks,
    writes such messages to a file and deletes them.

    Listing increases the messages' receive count and hides them from other consumers for a few
    seconds. Another command, such as a `redrive` that waits for your confirmation or was killed,
    can hide messages for at most 10 minutes. Hidden messages are only counted.
    Unreadable objects are not listed here; `bucketsum ls` shows them.

    Exits with 1 if you decline --discard, or if SQS did not delete a message.

    Example: bucketsum failures --limit 1000 --json
    """
    if of_all and not discard:
        raise click.UsageError("--all needs --discard")
    stack = target.find()
    if discard:
        _discard(stack, limit, of_all=of_all, yes=yes, as_json=as_json)
        return
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
    _say_more(messages, hidden, limit)


def _say_more(messages: Sequence[FailedMessage], hidden: int, limit: int) -> None:
    if hidden:
        note(
            f"about {hidden} more are hidden now, because another command is holding them (for "
            "example a `redrive` that is waiting for your confirmation or was killed); they "
            "reappear after at most 10 minutes"
        )
    if len(messages) == limit:
        note(f"there may be more than these {limit}: raise --limit")
    if any(message.objects for message in messages):
        note(f"`{command_line('redrive')}` tries them again")
    if not all(message.objects for message in messages):
        note(
            "nothing can hash a message that names no object: "
            f"`{command_line('failures', '--discard')}` deletes those"
        )


def _discard(stack: Stack, limit: int, *, of_all: bool, yes: bool, as_json: bool) -> None:
    """Write messages to a file, and delete them; SQS keeps those that the person keeps."""
    file = None
    with received(stack, limit, _HOLD_SECONDS) as letters:
        chosen = [letter for letter in letters if of_all or not letter.document.objects]
        messages = [letter.document for letter in chosen]
        if chosen:
            for message in messages:
                note(f"{headline(message)}: {why(message, stack)}")
            count = count_text(len(chosen), "message")
            confirm(f"Delete {count} of {stack.name} for ever?", "nothing was deleted", yes=yes)
            file = kept_files("discarded") / f"{now().replace(':', '-')}-{stack.name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, json_text(messages))
        undeleted = delete_letters(stack, chosen)
    if as_json:
        print_json(DiscardedMessages(messages, file, undeleted))
    else:
        say(f"{len(chosen) - len(undeleted)} discarded" if chosen else "nothing was discarded")
    if file:
        note(f"{file} has them")
    if left := len(letters) - len(chosen):
        note(f"{count_text(left, 'message')} left: `{command_line('redrive')}` tries them again")
    end_if(undeleted)


def _show(message: FailedMessage, stack: Stack) -> None:
    say(headline(message), "bold")
    say(f"  {why(message, stack)}")
    receives = "once" if message.receives == 1 else f"{message.receives} times"
    say(f"  since {moment_text(message.sent_at)} UTC, received {receives}", "dim")

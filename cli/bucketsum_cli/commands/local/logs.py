"""`bucketsum local logs`: the log of the hashing function."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

import click

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_lookup import find_local_stack
from bucketsum_cli.emulator import emulator_state, launcher
from bucketsum_cli.terminal.output import printable

_FOLLOW_PAUSE_SECONDS: Final = 1.0
_EMULATOR_LINES: Final = 200


@click.command("logs")
@click.option(
    "--follow", is_flag=True, help="Keep showing new lines until Ctrl-C; not with --emulator."
)
@click.option(
    "--emulator",
    "emulator_log",
    is_flag=True,
    help="Show the last lines of the emulator's own log instead.",
)
def logs(follow: bool, emulator_log: bool) -> None:
    """Show the log of the hashing function.

    The emulator does not measure the function's memory: `Max Memory Used` means nothing. If the
    function cannot start, only --emulator shows the reason.
    """
    if follow and emulator_log:
        raise click.UsageError("--follow cannot be used with --emulator")
    project = emulator_state.local_project()
    stack = find_local_stack(project)
    if emulator_log:
        lines = launcher.log_end(project.home / "gateway.log", _EMULATOR_LINES)
        click.echo("\n".join(map(printable, lines.split("\n"))))
        return
    for message in log_messages(stack, follow=follow):
        for line in message.splitlines():
            click.echo(printable(line.expandtabs()))


def log_messages(stack: Stack, *, follow: bool) -> Iterator[str]:
    """Yield the hasher's log messages, oldest first.

    ministack answers with the oldest 10,000 events and no token for the next page, and its events
    have no ids. So each request starts at the time of the last event, and as many equal messages
    as were shown of that millisecond are left out.
    """
    client = stack.client("logs")
    start_ms = 0
    shown: Counter[str] = Counter()
    while True:
        answer = client.filter_log_events(logGroupName=stack.log_group, startTime=start_ms)
        known = shown.copy()
        is_new = False
        for event in answer["events"]:
            if event["timestamp"] == start_ms and known[event["message"]]:
                known[event["message"]] -= 1
                continue
            if event["timestamp"] > start_ms:
                start_ms, shown = event["timestamp"], Counter()
            shown[event["message"]] += 1
            is_new = True
            yield event["message"]
        if not is_new:
            if not follow:
                return
            time.sleep(_FOLLOW_PAUSE_SECONDS)

"""`bucketsum status`: the state of a stack at a glance."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Final

import click

from bucketsum_cli.arguments.options import FiniteRange, json_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.checks import attachments
from bucketsum_cli.commands.lab import lab
from bucketsum_cli.objects.long_objects import DAMAGED, progress_text
from bucketsum_cli.objects.pending import dead_letters_hint
from bucketsum_cli.stacks.status import BucketProblems, StackStatus, stack_status
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.errors import CANNOT_DO, end_if
from bucketsum_cli.terminal.formatting import (
    MISSING,
    count_text,
    duration_text,
    moment_text,
    size_text,
    speed_text,
    usd_text,
)
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json
from bucketsum_cli.terminal.screen import is_terminal, write
from bucketsum_cli.terminal.tables import print_table

_WATCH_SECONDS: Final = 30.0
_COLUMNS: Final = (Column("", shrinks=True), Column("", shrinks=True))
_CLEAR: Final = "\x1b[2J\x1b[H"


@click.command("status")
@click.option(
    "--watch",
    "watch_seconds",
    type=FiniteRange(min=1),
    is_flag=False,
    flag_value=_WATCH_SECONDS,
    metavar="[SECONDS]",
    help="Repeat after this number of seconds, 30 by default; Ctrl-C stops.",
)
@json_option(StackStatus)
@stack_options
def status(target: Target, watch_seconds: float | None, as_json: bool) -> None:
    """Show the state of a stack.

    Shows waiting, in-flight and failed messages; objects hashed in the last hour and day; errors;
    the estimated Lambda cost of the hashing function this month; long objects in progress; and
    running sweeps (`bucketsum tune`). Reports a problem if the objects of a bucket are no longer
    hashed (`bucketsum buckets` has the details), or if Lambda no longer invokes a function for its
    queue.

    Numbers of messages are approximate, and metrics lag by a few minutes. On AWS, the command reads
    eleven metrics, which costs 0.0001 USD (with --watch, each time). Values that your credentials
    do not allow you to read are left out.

    Exits with 1 if there are messages in the dead-letter queue, if an object that
    the last verification of a bucket found lost or different still is, if an object differed in the
    last day, if the scheduled verification of a bucket is overdue, if new objects of a bucket are
    not hashed, if an event source mapping is disabled, or if the record of a long object, a sweep
    or a backfill is damaged; else with 2 if your credentials do not allow a read that would show
    one of these. With --watch, exits with 0 after Ctrl-C.

    Example: bucketsum status --watch 60
    """
    if watch_seconds is not None and as_json:
        raise click.UsageError("--watch cannot be used with --json")
    stack = target.find()
    if watch_seconds is not None:
        _watch(stack, watch_seconds)
        return
    reads = Reads()
    state = _state_of(stack, reads)
    if as_json:
        print_json(state)
    else:
        _print(state)
    end_if(state.needs_attention)
    if reads.denials:  # the notes name them
        raise SystemExit(CANNOT_DO)


def _state_of(stack: Stack, reads: Reads) -> StackStatus:
    measuring = lab()
    sweeps = reads(lambda: tuple(measuring.running_sweeps(stack))) if measuring else ()
    problems = reads(
        lambda: tuple(
            BucketProblems(attachment.bucket, attachment.problems)
            for attachment in attachments(stack)
        )
    )
    return stack_status(stack, reads, sweeps, problems)


def _watch(stack: Stack, seconds: float) -> None:
    """Show it again and again until Ctrl-C; in a pipe, one table after the other."""
    try:
        while True:
            state = _state_of(stack, Reads())
            if is_terminal():
                write(_CLEAR)
            _print(state)
            time.sleep(seconds)
    except KeyboardInterrupt:
        return


def _print(state: StackStatus) -> None:
    print_table(_COLUMNS, _rows(state), heading=False)
    for text in state.notes:
        note(text)
    if state.activity.differing_last_day:
        verifications, coverage = command_line("verify", "list"), command_line("coverage")
        note(f"objects differ: `{coverage}` counts them, `{verifications}` shows who found them")
    if state.dead_letter_messages:
        note(f"dead letters: {dead_letters_hint()}")


def _rows(state: StackStatus) -> Iterator[tuple[str, str | Cell]]:
    activity = state.activity
    yield "stack", f"{state.stack} in {state.region}, {moment_text(state.checked_at)} UTC"
    yield "waiting", _count_text(state.waiting_messages, "message")
    age = activity.oldest_waiting_seconds
    yield "oldest waiting", MISSING if age is None else duration_text(age)
    yield "in flight", _count_text(state.in_flight_messages, "message")
    dead = state.dead_letter_messages
    yield "dead letters", _alarming(_count_text(dead, "message"), bad=bool(dead))
    yield "hashed, last hour", _work_text(activity.hashed_last_hour, activity.bytes_last_hour)
    yield "hashed, last day", _work_text(activity.hashed_last_day, activity.bytes_last_day)
    yield "MB/s, last hour", speed_text(activity.mb_per_s)
    yield "unreadable, last day", _count_text(activity.unreadable_last_day)
    differing = activity.differing_last_day
    yield "differ, last day", _alarming(_count_text(differing), bad=bool(differing))
    yield "failed, last day", _count_text(activity.dead_lettered_last_day)
    yield "errors, last day", _count_text(activity.errors_last_day)
    usd = state.estimated_usd_this_month
    cost = MISSING if usd is None else f"about {usd_text(usd)} USD (the hasher, estimated)"
    yield "cost, this month", cost
    yield from _items(state)
    if state.event_sources is None:
        yield "mappings", MISSING
    for source in state.event_sources or ():
        maximum = f", at most {source.maximum_concurrency} at a time" if source.enabled else ""
        text = f"{source.state}{maximum}"
        yield f"mapping of {source.queue}", _alarming(text, bad=not source.enabled)


def _items(state: StackStatus) -> Iterator[tuple[str, str | Cell]]:
    for name, reason in (state.overdue_verifications or {}).items():
        yield f"overdue: {name}", _alarming(reason, bad=True)
    for name, counts in (state.open_findings or {}).items():
        yield f"verified: {name}", _alarming(counts, bad=True)
    yield "long objects", _listed(state.long_objects)
    for item in state.long_objects or ():
        yield f"  {item.key}", _alarming(progress_text(item), bad=item.slices_status == DAMAGED)
    names = (*(state.running_sweeps or ()), *(f"{name} (damaged)" for name in state.damaged_sweeps))
    yield "running sweeps", _listed(state.running_sweeps, ", ".join(names))
    runs = state.running_backfills
    yield "running backfills", _listed(runs, ", ".join(runs or ()))
    if state.damaged_backfills:
        yield "damaged backfills", _alarming(", ".join(state.damaged_backfills), bad=True)
    yield "buckets", _listed(state.bucket_problems)
    for bucket in state.bucket_problems or ():
        if bucket.problems:
            yield f"  {bucket.bucket}", _alarming("; ".join(bucket.problems), bad=True)


def _alarming(text: str, *, bad: bool) -> Cell:
    return Cell(text, "bold red" if bad else "")


def _count_text(count: int | None, noun: str = "") -> str:
    if count is None:
        return MISSING
    return count_text(count, noun) if noun else f"{count:,}"


def _listed(entries: Collection[object] | None, text: str = "") -> str:
    """Return *text*, or if it is empty, the number of *entries*."""
    return MISSING if entries is None else text or f"{len(entries) or 'none'}"


def _work_text(objects: int | None, size_bytes: int | None) -> str:
    if objects is None or size_bytes is None:
        return MISSING
    return f"{count_text(objects, 'object')}, {size_text(size_bytes)}"

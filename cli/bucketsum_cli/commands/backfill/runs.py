"""`bucketsum backfill list`, `show`, `stop` and `resume`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from bucketsum.errors import DamagedItem
from bucketsum_cli.arguments.completion import completing
from bucketsum_cli.arguments.options import Target, json_option, limit_option, stack_options
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.views import (
    BackfillProgress,
    print_list,
    print_progress,
    progress_document,
)
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, end_if_damaged
from bucketsum_cli.terminal.output import note, print_json, say

if TYPE_CHECKING:
    from bucketsum.backfill.backfill_records import Backfill


def _names(target: Target, _: str) -> Iterator[str]:
    runs = Backfills(target.find()).table.backfills()
    return (run.name if isinstance(run, DamagedItem) else run.backfill_id for run in runs)


_backfill_argument = click.argument(
    "backfill_id", metavar="BACKFILL", shell_complete=completing(_names)
)


@click.command("list")
@limit_option("backfills to show")
@json_option(list[BackfillProgress])
@stack_options
def list_runs(target: Target, limit: int, as_json: bool) -> None:
    """List backfills, newest first.

    Exits with 1 if another program damaged the record of a backfill.

    Example: bucketsum backfill list
    """
    listed = list(islice(Backfills(target.find()).newest(), limit))
    if as_json:
        print_json([progress_document(progress) for progress in listed])
    elif listed:
        print_list(listed)
    else:
        note("no backfill has run yet; start one with `bucketsum backfill BUCKET`")
    end_if_damaged(listed)


@click.command("show")
@_backfill_argument
@json_option(BackfillProgress)
@stack_options
def show(target: Target, backfill_id: str, as_json: bool) -> None:
    """Show progress, rate, cost so far and failures of BACKFILL.

    BACKFILL is a name from `bucketsum backfill list`, or `last`.

    Exits with 1 if the backfill's execution failed (its cause is shown), if objects failed
    (`bucketsum failures` shows the reasons), or if another program damaged its records.

    Example: bucketsum backfill show 20261121T101500-3f9a1c
    """
    try:
        progress = Backfills(target.find()).progress(backfill_id)
    except DamagedItem as error:
        if as_json:
            print_json(progress_document(error))
        raise
    if as_json:
        print_json(progress_document(progress))
    else:
        print_progress(progress)
    if progress.has_failed:
        raise SystemExit(ANSWER_IS_NO)


@click.command("stop")
@_backfill_argument
@json_option(BackfillProgress)
@stack_options
def stop(target: Target, backfill_id: str, as_json: bool) -> None:
    """Stop BACKFILL; objects already queued are still hashed.

    BACKFILL is a name from `bucketsum backfill list`, or `last`.

    Example: bucketsum backfill stop 20261121T101500-3f9a1c
    """
    backfills = Backfills(target.find())
    text = "stopped {0}; continue it with `bucketsum backfill resume {0}`"
    _print_changed(backfills, backfills.stop(backfill_id), text, as_json=as_json)


@click.command("resume")
@_backfill_argument
@json_option(BackfillProgress)
@stack_options
def resume(target: Target, backfill_id: str, as_json: bool) -> None:
    """Continue BACKFILL after it was stopped or its execution failed.

    BACKFILL is a name from `bucketsum backfill list`, or `last`.

    Example: bucketsum backfill resume 20261121T101500-3f9a1c
    """
    backfills = Backfills(target.find())
    text = "resumed {0}; show its progress with `bucketsum backfill show {0}`"
    _print_changed(backfills, backfills.resume(backfill_id), text, as_json=as_json)


def _print_changed(backfills: Backfills, backfill: Backfill, text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(progress_document(backfills.progress_of(backfill)))
    else:
        say(text.format(backfill.backfill_id))

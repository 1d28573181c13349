"""The beginning of backfills and verifications: count, show the estimate, ask, start, wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Annotated, Any

import click

from bucketsum.backfill.backfill_records import Backfill
from bucketsum_cli.arguments.options import count_option, json_option, yes_option
from bucketsum_cli.arguments.target import stack_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.counting import Count, count_of, figures_count
from bucketsum_cli.backfill.estimate import estimate_of
from bucketsum_cli.backfill.estimate_views import (
    BackfillEstimate,
    estimate_document,
    print_estimate,
)
from bucketsum_cli.backfill.views import BackfillProgress, progress_document
from bucketsum_cli.buckets.served_buckets import serves
from bucketsum_cli.commands.backfill.waiting import awaited, show_end
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import print_json, say


@dataclass(frozen=True, slots=True)
class StartedBackfill:
    """The result of `backfill start`."""

    backfill: str | None
    estimate: Annotated[BackfillEstimate | None, "Null if the objects were not counted."]
    progress: Annotated[BackfillProgress | None, "With --wait: its progress at the end."] = None


@dataclass(frozen=True, slots=True)
class Begin:
    """The options with which backfills and verifications begin."""

    dry_run: bool
    wait: bool
    count: bool
    yes: bool
    as_json: bool


def begin_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options of a run's beginning and of its stack, as ``options``."""

    @click.option(
        "--dry-run",
        is_flag=True,
        help="Show the number of requests, the cost and the time; start nothing.",
    )
    @click.option(
        "--wait",
        is_flag=True,
        help="Wait until all objects are done and the report is written; Ctrl-C ends only the "
        "waiting.",
    )
    @count_option
    @yes_option
    @json_option(StartedBackfill)
    @stack_options
    @wraps(command)
    def with_options(**given: Any) -> None:  # noqa: ANN401 - the command's types
        begins = {field.name: given.pop(field.name) for field in fields(Begin)}
        command(options=Begin(**begins), **given)

    return with_options


def begin(
    backfills: Backfills, backfill: Backfill, options: Begin, counted: Count | None = None
) -> None:
    """Count the objects unless they were *counted*, show the estimate, ask and start.

    Raises:
        CannotDoError: There is nothing to read, or it cannot be started.
    """
    stack, words = backfills.stack, backfills.words
    is_listed = counted is None and backfill.inventory is None
    if is_listed and (backfill.prefix or not options.dry_run):
        _require_keys(stack, backfill)
    if counted is None and (options.dry_run or not options.yes):
        figures = None if options.count else figures_count(stack.connection, backfill)
        counted = figures or count_of(stack.client("s3"), backfill)
    estimate = _shown_estimate(backfills, counted, as_json=options.as_json)
    if options.dry_run:
        if options.as_json:
            print_json(StartedBackfill(None, estimate))
        return
    question = f"Start the {words.name} of {backfill.bucket}?"
    confirm(question, "nothing was started", yes=options.yes)
    expected = counted.work.object_count if counted else None
    backfills.start(replace(backfill, expected_objects=expected))
    _show_started(backfills, backfill.backfill_id, estimate, options)


def _show_started(
    backfills: Backfills, name: str, estimate: BackfillEstimate | None, options: Begin
) -> None:
    if not options.as_json:
        say(f"started {name}; show its progress with `{backfills.words.line('show', name)}`")
    ended = awaited(backfills, name) if options.wait else None
    if options.as_json:
        print_json(StartedBackfill(name, estimate, progress_document(ended) if ended else None))
    if ended:
        show_end(backfills, ended, as_json=options.as_json)


def _require_keys(stack: Stack, backfill: Backfill) -> None:
    """Refuse a bucket or prefix without keys, so that a misspelt one is not all well."""
    bucket, prefix = backfill.bucket, backfill.prefix or ""
    listed = stack.client("s3").list_object_versions(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    if not (listed.get("Versions") or listed.get("DeleteMarkers")):
        problem = f"no key in {bucket} begins with {prefix}" if prefix else f"{bucket} is empty"
        raise CannotDoError(
            f"{problem}: nothing was started; `{command_line('ls', '--bucket', bucket)}` shows "
            "its keys"
        )


def require_served(stack: Stack, bucket: str) -> None:
    """Refuse a bucket that the stack's functions cannot read.

    Raises:
        CannotDoError: It is neither the stack's own nor an attached one.
    """
    if not serves(stack, bucket):
        raise CannotDoError(
            f"{bucket} is not a bucket of the stack {stack.name}, so its functions cannot read "
            f"it; attach it first: `{command_line('attach', bucket)}`"
        )


def _shown_estimate(
    backfills: Backfills, count: Count | None, *, as_json: bool
) -> BackfillEstimate | None:
    if count is None:
        return None
    purpose = backfills.words.purpose
    estimate = estimate_of(count.work, backfills.setup, backfills.prices, purpose)
    if not as_json:
        print_estimate(count, estimate, backfills.prices.region, backfills.words)
    return estimate_document(count, estimate)

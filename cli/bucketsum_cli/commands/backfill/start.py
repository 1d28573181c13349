"""`bucketsum backfill start`: count, show the estimate, ask, start; `verify` does the same."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final

import click
from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.inventory import InventoryFile, manifest_at
from bucketsum.clock import now
from bucketsum_cli.arguments.options import (
    BucketName,
    Target,
    count_option,
    json_option,
    prefix_option,
    stack_options,
    yes_option,
)
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.counting import Count, count_of, figures_count
from bucketsum_cli.backfill.estimate import Work, estimate_of
from bucketsum_cli.backfill.estimate_views import (
    BackfillEstimate,
    estimate_document,
    print_estimate,
)
from bucketsum_cli.backfill.views import BackfillProgress, print_progress, progress_document
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import INVENTORY_PARAMETER, bucket_arn, serves
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import confirm, note, print_json, progress, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.backfill.backfills import RecordedProgress

_POLL_SECONDS: Final = 2.0
_FILES_AT_ONCE: Final = 16


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
        help="Wait until all objects are done; Ctrl-C ends only the waiting.",
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


@click.command("start")
@click.argument("bucket", metavar="BUCKET", type=BucketName())
@prefix_option("Hash only keys that begin with TEXT.")
@click.option("--versions", is_flag=True, help="Also hash overwritten versions.")
@click.option(
    "--archived",
    is_flag=True,
    help="Also queue objects in GLACIER and DEEP_ARCHIVE; only restored ones can be hashed.",
)
@click.option(
    "--inventory",
    metavar="URL",
    help="Instead of listing BUCKET, read the S3 inventory (CSV) with this manifest: "
    "s3://INVENTORY-BUCKET/.../manifest.json.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of objects to queue."
)
@click.option(
    "--objects",
    type=click.IntRange(min=1),
    metavar="N",
    help="Assume N objects instead of counting; needs --mean-size.",
)
@click.option(
    "--mean-size",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help="Mean size of the objects; needs --objects.",
)
@begin_options
def start(
    target: Target,
    bucket: str,
    prefix: str,
    versions: bool,
    archived: bool,
    inventory: str | None,
    limit: int | None,
    objects: int | None,
    mean_size: int | None,
    options: Begin,
) -> None:
    """Hash the existing objects of BUCKET.

    First counts the objects, shows the number of requests, the cost and the time, and asks for
    confirmation. With --yes, the backfill starts at once, without a count. Hashed objects are not
    read again, so a backfill can be repeated.

    Exits with 1 if you decline; with --wait, also if the backfill or some of its objects failed.

    Example: bucketsum backfill photos --prefix 2019/ --dry-run
    """
    if (objects is None) != (mean_size is None):
        raise click.UsageError("--objects and --mean-size must be used together")
    stack = target.find()
    backfill = Backfill(
        backfill_id=new_execution_name(),
        bucket=bucket,
        status=BackfillStatus.RUNNING,
        started_at=now(),
        prefix=prefix or None,
        all_versions=versions,
        inventory=inventory,
        limit=limit,
        archived=archived,
    )
    if not options.dry_run:
        require_served(stack, bucket)
    if inventory is not None:
        _require_readable(stack, inventory)
        _require_files(stack, inventory, bucket)
    given = None
    if objects is not None and mean_size is not None:
        given = Count(Work(objects, objects * mean_size), "as given", is_exact=False)
    begin(Backfills(stack), backfill, options, given)


def begin(
    backfills: Backfills, backfill: Backfill, options: Begin, counted: Count | None = None
) -> None:
    """Count the objects unless they were *counted*, show the estimate, ask and start.

    Raises:
        CannotDoError: The answer is no, or it cannot be started.
    """
    stack, kind = backfills.stack, backfills.kind
    if counted is None and (options.dry_run or not options.yes):
        figures = None if options.count else figures_count(stack.connection, backfill)
        counted = figures or count_of(stack.client("s3"), backfill)
    estimate = _shown_estimate(backfills, counted, as_json=options.as_json)
    if options.dry_run:
        if options.as_json:
            print_json(StartedBackfill(None, estimate))
        return
    question = f"Start the {kind.name} of {backfill.bucket}?"
    confirm(question, "nothing was started", yes=options.yes)
    expected = counted.work.object_count if counted else None
    backfills.start(replace(backfill, expected_objects=expected))
    _show_started(backfills, backfill.backfill_id, estimate, options)


def _show_started(
    backfills: Backfills, name: str, estimate: BackfillEstimate | None, options: Begin
) -> None:
    if not options.as_json:
        say(f"started {name}; show its progress with `{backfills.kind.line('show', name)}`")
    ended = _awaited(backfills, name) if options.wait else None
    if options.as_json:
        print_json(StartedBackfill(name, estimate, progress_document(ended) if ended else None))
    elif ended:
        print_progress(ended)
    if ended and (ended.has_failed or not ended.is_done):
        raise SystemExit(ANSWER_IS_NO)


def _awaited(backfills: Backfills, name: str) -> RecordedProgress:
    """Show a bar until nothing more happens; after Ctrl-C, say that only the bar ended."""
    try:
        with progress("{task.completed:,.0f} of {task.total:,.0f} objects") as bar:
            task = bar.add_task("reading", total=0)
            while True:
                current = backfills.progress(name)
                done = current.tally.objects
                bar.update(task, completed=done, total=done + (current.left or 0))
                if current.is_over:
                    return current
                time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        note(f"{name} continues; `{backfills.kind.line('stop', name)}` stops it")
        raise


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


def _require_readable(stack: Stack, url: str) -> None:
    """Refuse an inventory that the enqueuer may not read."""
    place, readable = S3Place.of_object(url), stack.parameters.get(INVENTORY_PARAMETER, "")
    arn = bucket_arn(stack, place.bucket)
    if arn != readable:
        raise CannotDoError(
            f"the functions of the stack {stack.name} may not read inventories in {place.bucket}: "
            f"deploy it with {INVENTORY_PARAMETER}={arn}"
        )


def _require_files(stack: Stack, url: str, bucket: str) -> None:
    """Refuse a bad inventory or a missing file of it, but not if only the functions may read it."""
    s3 = stack.client("s3")
    try:
        manifest = manifest_at(s3, url, bucket)

        def size_of(file: InventoryFile) -> int:
            return s3.head_object(Bucket=manifest.bucket, Key=file.key)["ContentLength"]

        with ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
            for file, size in zip(manifest.files, pool.map(size_of, manifest.files), strict=True):
                if size != file.size_bytes:
                    raise CannotDoError(
                        f"{file.key!r} is not the file that the manifest lists: its size is "
                        f"{size}, not {file.size_bytes}"
                    )
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("NoSuchKey", "404"):
            missing = "there is no object" if code == "NoSuchKey" else "a file is missing of"
            raise CannotDoError(f"{missing} {url}") from error
        if code not in ("AccessDenied", "403"):
            raise


def _shown_estimate(
    backfills: Backfills, count: Count | None, *, as_json: bool
) -> BackfillEstimate | None:
    if count is None:
        return None
    purpose = backfills.kind.purpose
    estimate = estimate_of(count.work, backfills.setup, backfills.prices, purpose)
    if not as_json:
        print_estimate(count, estimate, backfills.prices.region, backfills.kind)
    return estimate_document(count, estimate)

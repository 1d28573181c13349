"""`bucketsum backfill start`: count, show the bill, ask, start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from bucketsum.backfill.records import Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum.errors import BadInventory
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.aws.served_buckets import serves
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.bill import Work, bill_of
from bucketsum_cli.backfill.counting import Count, count_of, figures_count
from bucketsum_cli.backfill.views import bill_as_json, print_bill
from bucketsum_cli.options import (
    Target,
    count_option,
    json_option,
    prefix_option,
    stack_options,
    yes_option,
)
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import confirm, print_json, say

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack


@click.command("start")
@click.argument("bucket", metavar="BUCKET")
@prefix_option("Hash only keys that begin with TEXT.")
@click.option("--versions", is_flag=True, help="Also hash overwritten versions.")
@click.option("--archived", is_flag=True, help="Also try objects in GLACIER and DEEP_ARCHIVE.")
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
    "--dry-run",
    is_flag=True,
    help="Show the number of requests, the cost and the time; start nothing.",
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
@count_option
@yes_option
@json_option
@stack_options
def start(
    target: Target,
    bucket: str,
    prefix: str,
    versions: bool,
    archived: bool,
    inventory: str | None,
    limit: int | None,
    dry_run: bool,
    objects: int | None,
    mean_size: int | None,
    count: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Hash the existing objects of BUCKET.

    First counts the objects, shows the number of requests, the cost and the time, and asks for
    confirmation. With --yes, the backfill starts at once, without a count. Hashed objects are not
    read again, so a backfill can be repeated.

    Exits with 1 if you decline.

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
    _require_served(stack, bucket)
    backfills = Backfills(stack)
    counted = None
    if objects is not None and mean_size is not None:
        counted = Count(Work(objects, objects * mean_size), "as given", is_exact=False)
    elif dry_run or not yes:
        counted = (None if count else figures_count(stack.connection, backfill)) or _counted(
            stack, backfill
        )
    document = _shown_bill(backfills, counted, as_json=as_json)
    if not dry_run:
        _start(backfills, backfill, counted, yes=yes)
    if as_json:
        print_json({"backfill": None if dry_run else backfill.backfill_id, "bill": document})
    elif not dry_run:
        say(f"started {backfill.backfill_id}; show its progress with `bucketsum backfill show`")


def _require_served(stack: Stack, bucket: str) -> None:
    if not serves(stack, bucket):
        raise CannotDoError(
            f"{bucket} is not a bucket of the stack {stack.name}, so its functions cannot read "
            f"it; attach it first: `bucketsum attach {bucket}`"
        )


def _counted(stack: Stack, backfill: Backfill) -> Count:
    try:
        return count_of(stack.client("s3"), backfill)
    except BadInventory as error:
        raise CannotDoError(str(error)) from error


def _shown_bill(
    backfills: Backfills, count: Count | None, *, as_json: bool
) -> dict[str, object] | None:
    if count is None:
        return None
    bill = bill_of(count.work, backfills.setup, backfills.prices)
    if not as_json:
        print_bill(count, bill, backfills.prices.region)
    return bill_as_json(count, bill)


def _start(backfills: Backfills, backfill: Backfill, count: Count | None, *, yes: bool) -> None:
    confirm(f"Start the backfill of {backfill.bucket}?", "nothing was started", yes=yes)
    if count:
        backfill = replace(
            backfill, expected_objects=count.work.objects, expected_bytes=count.work.size_bytes
        )
    backfills.start(backfill)

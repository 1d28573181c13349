"""`bucketsum backfill start`: the existing objects of a bucket are hashed."""

from __future__ import annotations

import click

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option, storage_class_option
from bucketsum_cli.arguments.quantities import size_bytes
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.counting import Count
from bucketsum_cli.backfill.inventory_files import require_files, require_readable
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.commands.backfill.beginning import Begin, begin, begin_options, require_served


@click.command("start")
@bucket_argument()
@prefix_option("Hash only keys that begin with TEXT.")
@click.option("--versions", is_flag=True, help="Also hash overwritten versions.")
@click.option(
    "--archived",
    is_flag=True,
    help="Also queue objects in GLACIER and DEEP_ARCHIVE; only restored ones can be hashed.",
)
@storage_class_option("Hash only objects of CLASS, such as STANDARD; may be repeated.")
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
    type=size_bytes,
    metavar="SIZE",
    help="Mean size of the objects, such as 3.3MB; needs --objects.",
)
@begin_options
def start(
    target: Target,
    bucket: str,
    prefix: str,
    versions: bool,
    archived: bool,
    storage_classes: tuple[str, ...],
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
        storage_classes=storage_classes,
    )
    if not options.dry_run:
        require_served(stack, bucket)
    if inventory is not None:
        require_readable(stack, inventory)
        require_files(stack, inventory, bucket)
    given = None
    if objects is not None and mean_size is not None:
        given = Count(Work(objects, objects * mean_size), "as given", is_exact=False)
    begin(Backfills(stack), backfill, options, given)

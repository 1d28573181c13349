"""`bucketsum backfill start`: the existing objects of a bucket are hashed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import click
from botocore.exceptions import ClientError

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.inventory import InventoryFile, manifest_at
from bucketsum.clock import now
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option, storage_class_option
from bucketsum_cli.arguments.quantities import size_bytes
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.counting import Count
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import INVENTORY_PARAMETER, bucket_arn
from bucketsum_cli.commands.backfill.beginning import Begin, begin, begin_options, require_served
from bucketsum_cli.terminal.errors import CannotDoError

_FILES_AT_ONCE: Final = 16


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
        _require_readable(stack, inventory)
        _require_files(stack, inventory, bucket)
    given = None
    if objects is not None and mean_size is not None:
        given = Count(Work(objects, objects * mean_size), "as given", is_exact=False)
    begin(Backfills(stack), backfill, options, given)


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

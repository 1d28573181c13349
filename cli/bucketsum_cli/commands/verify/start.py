"""`bucketsum verify start`: count, show the estimate, ask, start."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.selection import MEMBERS
from bucketsum.clock import now, text_of
from bucketsum.hashing.ending import Purpose
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option, storage_class_option
from bucketsum_cli.arguments.quantities import age, share
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.purpose_words import VERIFICATION
from bucketsum_cli.commands.backfill.beginning import Begin, begin, begin_options, require_served
from bucketsum_cli.terminal.errors import CannotDoError


def _moment_before(text: str) -> str:
    """The moment that is *text*, such as 90d, ago: in ISO 8601, UTC."""
    moment = datetime.now(UTC) - age(text)
    return text_of(moment)


@click.command("start")
@bucket_argument()
@prefix_option("Read only keys that begin with TEXT.")
@click.option(
    "--older-than",
    type=_moment_before,
    metavar="AGE",
    help="Read only objects that were recorded and verified longer ago: 90d, 12h, 4w.",
)
@click.option(
    "--missing",
    type=click.Choice([*EXTRA_ALGORITHMS, MEMBERS]),
    help="Read only objects whose row lacks this digest, or archives whose members have no rows; "
    "both are added.",
)
@click.option(
    "--sample",
    type=share,
    metavar="SHARE",
    help="Read only this share of the keys, such as 1%; they are the same keys every time.",
)
@storage_class_option("Read only objects of CLASS, such as STANDARD; may be repeated.")
@click.option("--current", is_flag=True, help="Leave overwritten versions out.")
@begin_options
def start(
    target: Target,
    bucket: str,
    prefix: str,
    older_than: str | None,
    missing: str | None,
    sample: float | None,
    storage_classes: tuple[str, ...],
    current: bool,
    options: Begin,
) -> None:
    """Read the objects of BUCKET again, and compare their digests.

    An object differs if two readings of the same version and entity tag agree on another digest
    than the recorded one, which is kept. Objects without a row are hashed. First counts the
    objects, shows the cost and asks, as `bucketsum backfill` does.

    Exits with 1 if you decline; with --wait, also if an object differs or failed.

    Example: bucketsum verify photos --older-than 90d --storage-class STANDARD
    """
    stack = target.find()
    if not options.dry_run:
        require_served(stack, bucket)
    if missing is not None:
        _require_computed(stack, missing)
    verification = Backfill(
        backfill_id=new_execution_name(),
        bucket=bucket,
        status=BackfillStatus.RUNNING,
        started_at=now(),
        prefix=prefix or None,
        all_versions=not current,
        purpose=Purpose.VERIFY,
        older_than=older_than,
        missing=missing,
        sample=sample,
        storage_classes=storage_classes,
    )
    begin(Backfills(stack, VERIFICATION), verification, options)


def _require_computed(stack: Stack, missing: str) -> None:
    """Refuse a digest that the stack does not compute, or members that it does not read."""
    extra = stack.extra_algorithms
    if missing == MEMBERS:
        needed = "" if stack.parameters.get("ArchiveSuffixes") else "ArchiveSuffixes=.zip"
    else:
        needed = "" if missing in extra else f"ExtraAlgorithms={','.join([*extra, missing])}"
    if needed:
        raise CannotDoError(
            f"the stack {stack.name} would add no {missing}: deploy it with {needed} first"
        )

"""`bucketsum verify start`: count, show the estimate, ask, start."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.backfill.backfill_records import MEMBERS, Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum.hashing.job import Purpose
from bucketsum.prices import STORED_BYTE_MONTH
from bucketsum_cli.arguments.options import BucketName, Target, prefix_option
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.backfill.backfills import VERIFICATION, Backfills
from bucketsum_cli.commands.backfill.beginning import (
    Begin,
    begin,
    begin_options,
    require_served,
)
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack

_AGE: Final = re.compile(r"(\d{1,4})([hdw])")
_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)%")


class Age(click.ParamType):
    """An age such as 90d; its value is the moment so long ago."""

    name = "age"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The moment, in ISO 8601 UTC."""
        if not (match := _AGE.fullmatch(value)):
            self.fail(f"{value!r} is not an age such as 90d, 12h or 4w", param, ctx)
        moment = datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Share(click.ParamType):
    """A share such as 1%; its value is a number above 0 and at most 1."""

    name = "share"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The share of all."""
        match = _SHARE.fullmatch(value)
        share = float(match[1]) / 100 if match else 0.0
        if not 0 < share <= 1:
            self.fail(f"{value!r} is not a share such as 1%, 0.5% or 100%", param, ctx)
        return share


@click.command("start")
@click.argument("bucket", metavar="BUCKET", type=BucketName())
@prefix_option("Read only keys that begin with TEXT.")
@click.option(
    "--older-than",
    type=Age(),
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
    type=Share(),
    metavar="SHARE",
    help="Read only this share of the keys, such as 1%; they are the same keys every time.",
)
@click.option(
    "--storage-class",
    "storage_classes",
    multiple=True,
    type=click.Choice([*STORED_BYTE_MONTH], case_sensitive=False),
    metavar="CLASS",
    help="Read only objects of CLASS, such as STANDARD; repeat it for several.",
)
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

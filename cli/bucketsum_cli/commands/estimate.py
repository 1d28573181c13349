"""`bucketsum estimate`: the price of an archive, without a stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import DEFAULT_REGION, STORED_BYTE_MONTH, prices_in
from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.arguments.quantities import age, share, size_bytes
from bucketsum_cli.backfill.archive_price import (
    ArchivePrice,
    PriceLine,
    VerificationPlan,
    price_of,
    work_of,
)
from bucketsum_cli.backfill.estimate import Setup, checksum_usd
from bucketsum_cli.backfill.estimate_views import remarks_of
from bucketsum_cli.terminal.columns import Column
from bucketsum_cli.terminal.formatting import count_text, size_text
from bucketsum_cli.terminal.output import print_json, say
from bucketsum_cli.terminal.tables import RowTexts, print_items

_STANDARD: Final = "STANDARD"
_BATCH_SIZE: Final = 10
_ROUNDING: Final = 1e-9
_TEXTS: Final[RowTexts[PriceLine]] = {
    Column("service", shrinks=True): lambda line: line.service,
    Column("item", shrinks=True): lambda line: line.item,
    Column("USD once", right=True): lambda line: f"{line.usd_once:,.2f}",
    Column("USD per year", right=True): lambda line: f"{line.usd_per_year:,.2f}",
}


def _class_share(text: str) -> tuple[str, float]:
    name, equals, rest = text.partition("=")
    if not equals or name not in STORED_BYTE_MONTH:
        known = ", ".join(STORED_BYTE_MONTH)
        raise click.BadParameter(f"{text!r} is not a storage class and a share, such as "
                                 f"STANDARD_IA=25%; the classes are {known}")  # fmt: skip
    return name, share(rest)


def _algorithms(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for name in text.split(",") if name != "sha1"))
    if unknown := [name for name in names if name not in EXTRA_ALGORITHMS]:
        allowed = ", ".join(("sha1", *EXTRA_ALGORITHMS))
        raise click.BadParameter(f"{', '.join(unknown) or text!r} is not one of {allowed}")
    return names


def _schedule(text: str) -> VerificationPlan:
    days = age(text).days
    if days < 2:  # noqa: PLR2004 - an interval and what is left out
        raise click.BadParameter(f"{text!r} is too short: at least 2d")
    return VerificationPlan(days)


@click.command("estimate")
@click.option(
    "--objects", type=click.IntRange(1), required=True, metavar="N", help="Number of objects."
)
@click.option(
    "--mean-size",
    type=size_bytes,
    required=True,
    metavar="SIZE",
    help="Their mean size, such as 3.3MB.",
)
@click.option(
    "--class",
    "classes",
    type=_class_share,
    multiple=True,
    metavar="CLASS=SHARE",
    help="Share of the bytes in a storage class, such as STANDARD_IA=25%; the rest is in "
    "STANDARD. May be repeated.",
)
@click.option(
    "--algorithms",
    type=_algorithms,
    default="sha1",
    metavar="NAME,...",
    help="Digests in addition to SHA-1, such as sha256,md5.",
)
@click.option(
    "--verify",
    "schedule",
    type=_schedule,
    metavar="AGE",
    help="Read every object again within AGE, such as 90d.",
)
@click.option("--memory", type=click.IntRange(128, 10_240), default=256, help="MemorySize, in MB.")
@click.option(
    "--concurrency", type=click.IntRange(2, 1000), default=10, help="BackfillConcurrency."
)
@click.option(
    "--region", default=DEFAULT_REGION, metavar="NAME", help="Region, for Lambda's price."
)
@json_option(ArchivePrice)
def estimate(
    objects: int,
    mean_size: int,
    classes: Sequence[tuple[str, float]],
    algorithms: tuple[str, ...],
    schedule: VerificationPlan | None,
    memory: int,
    concurrency: int,
    region: str,
    as_json: bool,
) -> None:
    """Compute what an archive costs: hashing, rows, verifications.

    Needs no stack and no credentials. Other ways to the same digests have their own lines. What S3
    charges for storing the objects is not included.

    Exits with 2 if a value is not allowed, else with 0.

    Example: bucketsum estimate --objects 12000000 --mean-size 3.3MB --class STANDARD_IA=25% \
--algorithms sha256,md5 --verify 90d
    """
    shares = _shares(classes)
    work = work_of(shares, objects, mean_size, archived=False)
    setup = Setup(memory, concurrency, _BATCH_SIZE, algorithms=algorithms)
    price = price_of(work, setup, prices_in(region, "arm64"), schedule)
    if as_json:
        print_json(price)
        return
    parts = ", ".join(f"{part * 100:.4g} % {name}" for name, part in shares.items())
    say(f"{count_text(objects, 'object')}, {size_text(objects * mean_size)}: {parts}")
    print_items(_TEXTS, price.lines)
    if schedule:
        say(f"every object at least each {schedule.days} days: {schedule.parameters} "
            f"VerifyStorageClasses={','.join(sorted(work.bytes_by_class))}")  # fmt: skip
    for remark in remarks_of(work, price.first, region, Purpose.VERIFY):
        say(remark)
    left_out = work_of(shares, objects, mean_size, archived=True)
    if left_out.object_count:
        say(f"left out: {size_text(left_out.size_bytes)} in {' and '.join(left_out.bytes_by_class)}"
            ", which S3 cannot read; S3 Batch Operations computes a checksum of each without "
            f"restoring it, for {checksum_usd(left_out):,.2f} USD")  # fmt: skip


def _shares(classes: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Storage class → its share; what no class has is STANDARD."""
    shares = dict(classes)
    rest = 1 - sum(part for _, part in classes)
    if len(shares) < len(classes) or rest < -_ROUNDING:
        raise click.UsageError("name each --class once, with at most 100% together")
    if rest > _ROUNDING:
        shares[_STANDARD] = shares.get(_STANDARD, 0) + rest
    return shares

"""`bucketsum duplicates`: objects of equal content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final

import click

from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import limit_option, prefix_option
from bucketsum_cli.commands.asking import Asking, is_all_listed, no_objects, question
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.terminal.columns import KEY, VERSION, Cell, Column
from bucketsum_cli.terminal.documents import document_of
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.formatting import cents_text, count_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json, say
from bucketsum_cli.terminal.tables import print_table

_COLUMNS: Final = (KEY, VERSION, Column("class"))


@dataclass(frozen=True, slots=True)
class Copy:
    """An object, or a member of an archive, of a content that is there twice."""

    bucket: str
    key: str
    member: str | None
    version: str
    storage_class: Annotated[str | None, "Its storage class; null if not known."]


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Objects of equal content."""

    sha1: str
    size_bytes: int
    copies: Annotated[int, "Number of the objects and members."]
    wasted_bytes: Annotated[int, "Bytes of all of its objects but one."]
    wasted_usd_per_month: Annotated[float, "Price of the storage of these bytes."]
    objects: Sequence[Copy]


@dataclass(frozen=True, slots=True)
class DuplicatesResult:
    """The result of `duplicates`."""

    snapshot: Annotated[Path, "Folder of the snapshot that was asked."]
    all_groups: Annotated[int, "Number of all groups."]
    all_wasted_bytes: Annotated[int, "Wasted bytes of all groups."]
    all_wasted_usd_per_month: Annotated[float, "Price of the storage of all wasted bytes."]
    groups: Annotated[Sequence[DuplicateGroup], "Those that waste most."]


_TOTALS: Final = ("all_groups", "all_wasted_bytes", "all_wasted_usd_per_month")


@click.command("duplicates")
@bucket_argument(required=False)
@prefix_option("Only keys that begin with TEXT.")
@click.option("--min-size", type=click.IntRange(min=0), default=1, show_default=True,
              metavar="BYTES", help="Only objects of at least this size.")  # fmt: skip
@click.option("--members", is_flag=True, help="Also count members of archives as copies.")
@click.option(
    "--listing/--no-listing",
    default=True,
    show_default=True,
    help="List the buckets first, so that only existing objects count, priced by storage class.",
)
@limit_option("groups")
@question(DuplicatesResult)
def duplicates(
    asking: Asking,
    bucket: str | None,
    prefix: str,
    min_size: int,
    members: bool,
    listing: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Show which objects have equal content, and what that costs.

    Objects are compared by their SHA-1, so copies are found that differ in their ETag: multipart
    uploads, and those encrypted by KMS. Deleted and lost objects, those that differ from their
    record, and detached buckets are left out; overwritten versions are not. With --no-listing,
    objects whose deletion was not reported count too, all are priced as STANDARD, and the exit
    status is 1 if there are groups. Copies inside archives are shown with --members, but not
    counted as wasted space.

    Example: bucketsum duplicates photos --min-size 1000000
    """
    database, snapshot = asking.database(asking.keys(bucket, prefix) if listing else [])
    if listing:
        is_all_listed(database, snapshot, bucket, prefix)
    put_prices(database)
    answer = database.ask(
        "duplicates", bucket=bucket or "", prefix=prefix, least_bytes=min_size,
        with_members=members, groups=limit,
    )  # fmt: skip
    records = list(answer.records())
    totals = records[0] if records else dict.fromkeys(_TOTALS, 0)
    if not records and not _are_hashed(database, bucket or "", prefix):
        raise no_objects(bucket, prefix, "in the state hashed ")
    result = document_of(
        DuplicatesResult, totals, snapshot=snapshot.folder, groups=[*_groups(records)]
    )
    if as_json:
        print_json(result)
    else:
        _print(result, is_priced=bool(snapshot.listed))
    if not listing and result.groups:
        note("S3 was not listed: some of these may be gone, so the last copy may be among them")
        raise SystemExit(ANSWER_IS_NO)


def _are_hashed(database: Database, bucket: str, prefix: str) -> bool:
    """Whether there is an object that could have a copy."""
    hashed = database.engine.run(
        "SELECT 1 FROM question q JOIN versions v ON q.bucket IN ('', v.bucket) "
        "AND starts_with(v.key, q.prefix) WHERE v.state = 'hashed' LIMIT 1",
        {"bucket": bucket, "prefix": prefix},
    )
    return bool([*hashed])


def _groups(records: Iterable[Mapping[str, Any]]) -> Iterator[DuplicateGroup]:
    """Yield the groups of the answer's rows, which come one after the other."""
    for _, rows in groupby(records, key=lambda record: record["place"]):
        copies = list(rows)
        objects = [document_of(Copy, row) for row in copies]
        yield document_of(DuplicateGroup, copies[0], objects=objects)


def _print(result: DuplicatesResult, *, is_priced: bool) -> None:
    for group in result.groups:
        say(
            f"{group.copies:,} × {size_text(group.size_bytes)}, {size_text(group.wasted_bytes)} "
            f"wasted, {cents_text(group.wasted_usd_per_month)} USD a month: {group.sha1}",
            "bold",
        )
        print_table(_COLUMNS, map(_cells, group.objects), heading=False)
    shown = (
        f", {len(result.groups):,} shown (see --limit)"
        if len(result.groups) < result.all_groups
        else ""
    )
    prices = "by storage class" if is_priced else "all priced as STANDARD"
    say(
        f"{count_text(result.all_groups, 'group')} of equal content{shown}: "
        f"{size_text(result.all_wasted_bytes)} wasted, "
        f"{cents_text(result.all_wasted_usd_per_month)} USD a month ({prices})"
    )
    if result.groups:
        show = command_line("show", "KEY", "--bucket", "BUCKET")
        note(f"before you delete a copy, `{show}` has its versions")


def _cells(copy: Copy) -> list[str | Cell]:
    name = f"{copy.key}{MEMBER_MARK}{copy.member}" if copy.member is not None else copy.key
    return [f"s3://{copy.bucket}/{name}", copy.version, copy.storage_class or ""]

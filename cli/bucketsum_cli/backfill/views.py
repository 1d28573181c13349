"""Tables and JSON of backfills and their bills."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from bucketsum.backfill.records import Backfill, BackfillStatus, Tally
from bucketsum.errors import DamagedItem
from bucketsum.prices import DEFAULT_REGION as REQUESTS_REGION
from bucketsum_cli.backfill.backfills import Progress
from bucketsum_cli.backfill.bill import Bill, Group, Work
from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.terminal.output import iso_text, moment_text, say, size_text
from bucketsum_cli.terminal.tables import Cell, Column, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bucketsum_cli.backfill.counting import Count

_BILL: Final = (
    Column("part"),
    Column("item", shrinks=True),
    Column("number", right=True),
    Column("USD", right=True),
)
_LIST: Final = (
    Column("backfill"),
    Column("bucket", shrinks=True),
    Column("state"),
    Column("queued", right=True),
    Column("done", right=True),
    Column("USD", right=True),
)
_HOURS_PER_DAY: Final = 24
_SHOWN_USD: Final = 0.00005
"""Lines that would be 0.0000 are left out."""


def print_bill(count: Count, bill: Bill, region: str) -> None:
    """Show the objects, and each line of the bill."""
    work = count.work
    say(f"{work.objects:,} objects, {size_text(work.size_bytes)} ({count.source})")
    if count.archived:
        say(f"{count.archived:,} more in GLACIER or DEEP_ARCHIVE are left out (--archived)")
    rows = [
        [item.group.value, item.name, f"{item.requests:,.0f}", f"{item.usd:,.4f}"]
        for item in bill.items
        if item.usd >= _SHOWN_USD
    ]
    if rows:
        print_table(_BILL, rows)
    sums = ", ".join(f"{group.value} {bill.usd_of(group):,.2f}" for group in Group)
    say(f"{bill.usd:,.2f} USD: {sums}; less for objects that are recorded already")
    if not work.bytes_by_class:
        say("not included: retrieval from cheap storage classes, which are not known; up to 0.03 "
            "USD per GB")  # fmt: skip
    if "INTELLIGENT_TIERING" in work.bytes_by_class:
        say("INTELLIGENT_TIERING: reading an object moves it to the frequent access tier")
    if region != REQUESTS_REGION:
        say(f"requests, retrieval and storage at the prices of {REQUESTS_REGION}, not of {region}")
    say(f"{bill.rows_usd_per_month:,.2f} USD per month for the rows")
    if bill.checksum_is_cheaper:
        say(f"cheaper: S3 Batch Operations computes these checksums for {bill.checksum_usd:,.2f} "
            "USD, in a report instead of the table")  # fmt: skip
    say(f"{time_text(bill.hours)}, limited by {bill.limit.value}")


def time_text(hours: float) -> str:
    """Hours, with the days if there are several."""
    if hours >= 2 * _HOURS_PER_DAY:
        return f"{hours:,.0f} hours ({hours / _HOURS_PER_DAY:.1f} days)"
    return f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"


def bill_as_json(count: Count, bill: Bill) -> dict[str, Any]:
    """The bill as the document of ``--json``."""
    return {
        "object_count": count.work.objects,
        "size_bytes": count.work.size_bytes,
        "counted": count.source,
        "is_exact": count.is_exact,
        "archived_objects": count.archived,
        "bytes_by_class": dict(count.work.bytes_by_class),
        "items": [asdict(item) for item in bill.items],
        "retrieval_usd": bill.usd_of(Group.RETRIEVAL),
        "orchestration_usd": bill.usd_of(Group.ORCHESTRATION),
        "usd": bill.usd,
        "requests_priced_as": REQUESTS_REGION,
        "rows_usd_per_month": bill.rows_usd_per_month,
        "checksum_usd": bill.checksum_usd,
        "hours": bill.hours,
        "limited_by": bill.limit.value,
    }


def print_list(listed: Iterable[Progress | DamagedItem]) -> None:
    """Show a line for each backfill."""
    print_table(_LIST, map(_cells, listed))


def _cells(progress: Progress | DamagedItem) -> list[str | Cell]:
    if isinstance(progress, DamagedItem):
        return [progress.name, MISSING, Cell("damaged", "red"), *[MISSING] * 3]
    return [
        progress.backfill.backfill_id,
        f"{progress.backfill.bucket}/{progress.backfill.prefix or ''}",
        progress.state,
        f"{progress.queued.objects:,}",
        f"{progress.tally.objects:,}",
        f"{progress.usd:,.2f}",
    ]


def print_progress(progress: Progress) -> None:
    """Show everything about one backfill."""
    backfill, tally, queued = progress.backfill, progress.tally, progress.queued
    say(f"{backfill.backfill_id}: {progress.state}, s3://{backfill.bucket}/{backfill.prefix or ''}")
    if progress.failure:
        say(progress.failure)
    if progress.failed and progress.failed.cause:
        say(f"cause    {progress.failed.cause}")
    for part in progress.parts:
        if part.failure:
            say(f"part {part.number:<3} {part.failure}")
    say(f"started  {moment_text(backfill.started_at)} UTC, execution {backfill.executions}")
    done = sum(part.done for part in progress.parts)
    say(f"queued   {queued.objects:,} objects, {size_text(queued.size_bytes)}; "
        f"{done} of {len(progress.parts)} parts")  # fmt: skip
    if progress.archived:
        say(f"archived {progress.archived:,} in GLACIER or DEEP_ARCHIVE, left out (--archived)")
    say(f"done     {tally.objects:,}: hashed {tally.hashed:,} ({size_text(tally.hashed_bytes)}), "
        f"skipped {tally.skipped:,}, superseded {tally.superseded:,}, gone {tally.gone:,}, "
        f"unreadable {tally.unreadable:,}, in slices {tally.long:,}, failed "
        f"{tally.failed:,}")  # fmt: skip
    say(f"left     {_left_text(progress)}")
    say(f"rate     {progress.objects_per_second:,.1f} objects per second")
    say(f"cost     {progress.usd:,.4f} USD so far")


def _left_text(progress: Progress) -> str:
    if progress.left is None:
        waiting = progress.queued.objects - progress.tally.objects
        return f"{max(0, waiting):,} of the queued objects; the total is not known"
    if progress.left and progress.objects_per_second:
        hours = progress.left / progress.objects_per_second / 3600
        return f"{progress.left:,}, {time_text(hours)} at this rate"
    return f"{progress.left:,}"


def progress_as_json(progress: Progress | DamagedItem) -> dict[str, Any]:
    """A backfill as the document of ``--json``."""
    if isinstance(progress, DamagedItem):
        damage = {"backfill": progress.name, "state": "damaged", "failure": str(progress)}
        return dict.fromkeys(progress_as_json(_NOTHING)) | damage
    backfill = progress.backfill
    return {
        "backfill": backfill.backfill_id,
        "bucket": backfill.bucket,
        "prefix": backfill.prefix or "",
        "all_versions": backfill.all_versions,
        "inventory": backfill.inventory,
        "limit": backfill.limit,
        "state": progress.state,
        "failure": progress.failure,
        "cause": progress.failed.cause or None if progress.failed else None,
        "part_failures": [
            {"part": part.number, "reason": part.failure} for part in progress.parts if part.failure
        ],
        "started_at": iso_text(backfill.started_at),
        "ended_at": iso_text(backfill.ended_at) if backfill.ended_at else None,
        "executions": backfill.executions,
        "queued_objects": progress.queued.objects,
        "queued_bytes": progress.queued.size_bytes,
        "archived_objects": progress.archived,
        "parts": len(progress.parts),
        "parts_done": sum(part.done for part in progress.parts),
        **{f"{name}_objects": getattr(progress.tally, name) for name in _OUTCOMES},
        "sliced_objects": progress.tally.long,
        "hashed_bytes": progress.tally.hashed_bytes,
        "left_objects": progress.left,
        "objects_per_second": progress.objects_per_second,
        "usd": progress.usd,
    }


_NOTHING: Final = Progress(
    Backfill("", "", BackfillStatus.RUNNING, ""), (), Work(0, 0), Tally(), None, 0, 0
)
_OUTCOMES: Final = ("hashed", "skipped", "superseded", "gone", "unreadable", "failed")

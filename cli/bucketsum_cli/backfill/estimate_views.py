"""The estimate of a backfill or of a verification, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Final

from bucketsum.hashing.ending import Purpose
from bucketsum.prices import DEFAULT_REGION as REQUESTS_REGION
from bucketsum_cli.backfill.counting import Count
from bucketsum_cli.backfill.estimate import Estimate, Group, Item, Limit
from bucketsum_cli.backfill.purpose_words import PurposeWords
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.buckets.bucket_figures import ARCHIVE_TIERS
from bucketsum_cli.terminal.columns import Column
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.formatting import cents_text, count_text, hours_text, size_text
from bucketsum_cli.terminal.output import say
from bucketsum_cli.terminal.tables import RowTexts, print_items

_ESTIMATE: Final[RowTexts[Item]] = {
    Column("part"): lambda item: item.group.value,
    Column("item", shrinks=True): lambda item: item.name,
    Column("number", right=True): lambda item: f"{item.requests:,.0f}",
    Column("USD", right=True): lambda item: f"{item.usd:,.4f}",
}
_LESS: Final = {
    Purpose.RECORD: "less for objects that are recorded already",
    Purpose.VERIFY: "less for what --older-than and --missing leave out",
}
_TABLE_LIMIT: Final = (
    "a table grows with its load, but fails writes meanwhile: lower BackfillConcurrency, or first "
    "run `aws dynamodb update-table --table-name TABLE --warm-throughput "
    "ReadUnitsPerSecond=12000,WriteUnitsPerSecond=N` (charged once, never lowered; the same for "
    "the index)"
)
_SHOWN_USD: Final = 0.00005
"""Lines that would be 0.0000 are left out."""


@dataclass(frozen=True, slots=True)
class BackfillEstimate:
    """Estimate of the cost and the time of a backfill."""

    count: Count = field(metadata=INLINE)
    estimate: Estimate = field(metadata=INLINE)
    retrieval_usd: Annotated[float, "US dollars for reading objects of cheap storage classes."]
    orchestration_usd: Annotated[float, "US dollars for finding and queueing the objects."]
    usd: Annotated[float, "Estimated US dollars."]
    requests_priced_as: Annotated[str, "Region of all prices but Lambda's."]


def print_estimate(count: Count, estimate: Estimate, region: str, words: PurposeWords) -> None:
    """Show the objects, and each line of the estimate."""
    work = count.work
    say(
        f"{count_text(work.object_count, 'object')}, {size_text(work.size_bytes)} ({count.counted})"
    )
    if count.archived_objects:
        anyway = " (add --archived to queue them anyway)" if words.purpose is Purpose.RECORD else ""
        say(f"left out: {count.archived_objects:,} in GLACIER or DEEP_ARCHIVE{anyway}")
    if count.other_objects:
        say(f"left out: {count.other_objects:,} in other storage classes")
    print_items(_ESTIMATE, (item for item in estimate.items if item.usd >= _SHOWN_USD))
    sums = ", ".join(f"{group.value} {cents_text(estimate.usd_of(group))}" for group in Group)
    say(f"{cents_text(estimate.usd)} USD: {sums}; {_LESS[words.purpose]}")
    for remark in remarks_of(work, estimate, region, words.purpose):
        say(remark)


def remarks_of(work: Work, estimate: Estimate, region: str, purpose: Purpose) -> Iterator[str]:
    """Yield remarks on the lines of an estimate."""
    yield from _retrieval_remarks(work)
    yield "not included: CloudTrail's data events (1 USD per million) and GuardDuty's S3 protection"
    if region != REQUESTS_REGION:
        yield f"requests, retrieval and storage at the prices of {REQUESTS_REGION}, not of {region}"
    if purpose is Purpose.RECORD:
        yield f"{cents_text(estimate.rows_usd_per_month)} USD per month for the rows"
    if estimate.checksum_is_cheaper:
        usd = cents_text(estimate.checksum_usd)
        yield (f"cheaper: S3 Batch Operations computes these checksums for {usd} USD, in a report "
               "instead of the table")  # fmt: skip
    digests = ", ".join(("sha1", *estimate.algorithms))
    yield (f"{hours_text(estimate.hours)}, limited by {estimate.limited_by.value}; with "
           f"{estimate.memory_mb} MB, an invocation computes {digests} at "
           f"{estimate.mb_per_s:.0f} MB/s")  # fmt: skip
    if estimate.limited_by is Limit.TABLE:
        yield _TABLE_LIMIT


def _retrieval_remarks(work: Work) -> Iterator[str]:
    if not work.bytes_by_class:
        yield ("not included: retrieval from cheap storage classes, which are not known; up to "
               "0.03 USD per GB")  # fmt: skip
    if "INTELLIGENT_TIERING" in work.bytes_by_class:
        yield ("INTELLIGENT_TIERING: reading an object moves it to the frequent access tier; one "
               "in an archive tier, which a listing does not show, is unreadable")  # fmt: skip
    if archived := work.bytes_by_class.get(ARCHIVE_TIERS):
        yield (f"{size_text(archived)} are in {ARCHIVE_TIERS}: these objects will be unreadable; "
               "an inventory can leave them out")  # fmt: skip


def estimate_document(count: Count, estimate: Estimate) -> BackfillEstimate:
    """Return the estimate as a document."""
    return BackfillEstimate(
        count=count,
        estimate=estimate,
        retrieval_usd=estimate.usd_of(Group.RETRIEVAL),
        orchestration_usd=estimate.usd_of(Group.ORCHESTRATION),
        usd=estimate.usd,
        requests_priced_as=REQUESTS_REGION,
    )

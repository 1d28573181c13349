"""Divide a backfill into parts, and its unfinished parts among enqueuers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bucketsum.backfill.backfill_records import START, Backfill, BackfillStatus, Part
from bucketsum.backfill.inventory import manifest_at
from bucketsum.backfill.listing import ranges_of_keys
from bucketsum.backfill.table import BackfillsTable, other_parts
from bucketsum.clock import now

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_CONCURRENCY_PER_ENQUEUER: Final = 20
"""Invocations of the hasher that one enqueuer keeps busy: it lists some 2,500 objects per second,
and each of them hashes at most about 100."""

_PARTS_PER_ENQUEUER: Final = 4


def enqueuers_for(concurrency: int) -> int:
    """Number of enqueuers that list in parallel, for the hasher's *concurrency* in backfills."""
    return -(-concurrency // _CONCURRENCY_PER_ENQUEUER)


def shares_of(
    s3: S3Client, table: BackfillsTable, backfill: Backfill, concurrency: int
) -> list[list[int]]:
    """Return the part numbers that each enqueuer lists; empty if all objects are queued.

    With a limit there is one enqueuer, so that the limit is exact.

    Raises:
        BadInventory: The inventory cannot be used.
        DamagedItem: The parts are not those of its plan.
        ClientError: AWS refused.
    """
    if backfill.status is not BackfillStatus.RUNNING:
        return []
    enqueuers = 1 if backfill.limit is not None else enqueuers_for(concurrency)
    part_count = backfill.part_count
    if part_count is None:
        count = enqueuers * _PARTS_PER_ENQUEUER if enqueuers > 1 else 1
        planned = _parts_of(s3, backfill, count)
        table.record_plan(backfill.backfill_id, planned)
        part_count = len(planned)
    parts = table.parts(backfill.backfill_id)[:part_count]  # a plan that died may have had more
    if not _is_whole(backfill, parts, part_count):
        raise other_parts(backfill.backfill_id)
    queued = sum(part.objects for part in parts)
    unfinished = [part.number for part in parts if not part.done]
    if not unfinished or (backfill.limit is not None and queued >= backfill.limit):
        table.end(backfill.backfill_id, BackfillStatus.QUEUED, now())
        return []
    shares = (unfinished[number::enqueuers] for number in range(enqueuers))
    return [share for share in shares if share]


def _is_whole(backfill: Backfill, parts: Sequence[Part], count: int) -> bool:
    """Whether *parts* are all *count* parts of one plan: they hold every key, or every file."""
    if [part.number for part in parts] != list(range(count)):
        return False
    bounds = [START, *(part.until for part in parts)]
    return backfill.inventory is not None or bounds == [*(part.after for part in parts), None]


def _parts_of(s3: S3Client, backfill: Backfill, count: int) -> list[Part]:
    """The parts of a backfill: files of its inventory, or at most *count* ranges of keys."""
    if backfill.inventory is None:
        return ranges_of_keys(s3, backfill.bucket, backfill.prefix or "", count)
    manifest = manifest_at(s3, backfill.inventory, backfill.bucket)
    return [Part(number, file=file.key) for number, file in enumerate(manifest.files)]

"""Pages of a backfill's parts, from a listing or from an inventory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bucketsum.backfill.inventory import InventoryReader, manifest_at
from bucketsum.backfill.listing import page_of_keys, ranges_of_keys
from bucketsum.backfill.records import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_s3 import S3Client

    from bucketsum.backfill.listing import Page
    from bucketsum.backfill.records import Backfill

    PageReader = Callable[[Part], Page]


def reader_of(s3: S3Client, backfill: Backfill) -> PageReader:
    """The function that reads the next page of one of a backfill's parts.

    It raises `BadInventory` if a row is not valid, and `ClientError` if S3 refuses.

    Raises:
        BadInventory: Its inventory cannot be used.
        ClientError: S3 refused.
    """
    if backfill.inventory is None:
        return partial(page_of_keys, s3, backfill)
    manifest = manifest_at(s3, backfill.inventory, backfill.bucket)
    return InventoryReader(s3, backfill, manifest).next_page


def parts_of(s3: S3Client, backfill: Backfill, count: int) -> list[Part]:
    """The parts of a backfill: files of its inventory, or at most *count* ranges of keys.

    Raises:
        BadInventory: Its inventory cannot be used.
        ClientError: S3 refused.
    """
    if backfill.inventory is None:
        return ranges_of_keys(s3, backfill, count)
    manifest = manifest_at(s3, backfill.inventory, backfill.bucket)
    return [Part(number, file=file.key) for number, file in enumerate(manifest.files)]

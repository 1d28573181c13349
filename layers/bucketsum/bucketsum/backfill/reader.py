"""Pages of a backfill's parts, from a listing or from an inventory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bucketsum.backfill.inventory import InventoryReader, manifest_at
from bucketsum.backfill.listing import page_of_keys, ranges_of_keys
from bucketsum.backfill.records import Part

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum.backfill.listing import Page
    from bucketsum.backfill.records import Backfill


class PageReader(Protocol):
    """Yields a part's objects page by page."""

    def next_page(self, part: Part) -> Page:
        """The next objects of *part*.

        Raises:
            BadInventory: A row of the inventory is not valid.
            ClientError: S3 refused.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListingReader:
    """Pages of a bucket's listing."""

    s3: S3Client
    backfill: Backfill

    def next_page(self, part: Part) -> Page:
        """See `PageReader.next_page`."""
        return page_of_keys(self.s3, self.backfill, part)


def reader_of(s3: S3Client, backfill: Backfill) -> PageReader:
    """The reader of a backfill's parts.

    Raises:
        BadInventory: Its inventory cannot be used.
        ClientError: S3 refused.
    """
    if backfill.inventory is None:
        return ListingReader(s3, backfill)
    return InventoryReader(s3, backfill, manifest_at(s3, backfill.inventory, backfill.bucket))


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

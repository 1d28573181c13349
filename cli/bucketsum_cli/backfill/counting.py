"""Objects and bytes of a backfill, counted before it is started."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from bucketsum.backfill.backfill_records import Backfill, Part
from bucketsum.backfill.inventory import InventoryReader, manifest_at
from bucketsum.backfill.listing import page_of_keys
from bucketsum.backfill.selection import is_read, is_selected
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.buckets.bucket_figures import SOURCE, figures_of_large
from bucketsum_cli.terminal.documents import INLINE
from bucketsum_cli.terminal.formatting import count_text, size_text
from bucketsum_cli.terminal.live_progress import notes

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.aws.connection import Connection


@dataclass(frozen=True, slots=True)
class Count:
    """The objects of a backfill."""

    work: Work = field(metadata=INLINE)
    counted: Annotated[str, "How the objects were counted."]
    is_exact: Annotated[bool, "Whether all of them were counted."]
    archived_objects: Annotated[int, "Objects in GLACIER and DEEP_ARCHIVE that are left out."] = 0
    other_objects: Annotated[int, "Objects of classes that are not selected."] = 0


def figures_count(connection: Connection, backfill: Backfill) -> Count | None:
    """CloudWatch's figures if *backfill* is for the whole of a large bucket, else None."""
    if backfill.prefix or backfill.inventory or backfill.limit or backfill.sample:
        return None
    figures = figures_of_large(connection, backfill.bucket)
    if figures is None:
        return None
    sizes = {
        name: size_bytes
        for name, size_bytes in figures.bytes_by_class.items()
        if is_selected(backfill, name) and is_read(backfill, name)
    }
    work = Work(figures.objects, sum(sizes.values()), sizes)
    return Count(work, f"all versions: {SOURCE}", is_exact=False)


def count_of(s3: S3Client, backfill: Backfill) -> Count:
    """Count the objects of *backfill*, with progress on a terminal.

    Raises:
        BadInventory: Its inventory cannot be used.
    """
    if backfill.inventory is not None:
        return _from_inventory(s3, backfill, backfill.inventory)
    part, objects, archived, others, sizes = Part(0), 0, 0, 0, Counter[str]()
    with notes().status("counting ...") as status:
        while not part.done and (backfill.limit is None or objects < backfill.limit):
            page = page_of_keys(s3, backfill, part)
            left = None if backfill.limit is None else backfill.limit - objects
            counted = page.objects[:left]
            objects += len(counted)
            for listed, storage_class in zip(counted, page.classes, strict=False):
                sizes[storage_class] += listed.size_bytes
            archived += len(page.archived)
            others += page.left_out
            part = page.after
            status.update(f"counting: {count_text(objects, 'object')}, {size_text(sizes.total())}")
    work = Work(objects, sizes.total(), sizes)
    return Count(work, "counted by listing", True, archived, others)


def _from_inventory(s3: S3Client, backfill: Backfill, url: str) -> Count:
    """Count the first file, and assume that the others are like it."""
    manifest = manifest_at(s3, url, backfill.bucket)
    reader = InventoryReader(s3, replace(backfill, limit=None), manifest)
    first = manifest.files[0]
    part, objects, size_bytes = Part(0, file=first.key), 0, 0
    while not part.done:
        page = reader.next_page(part)
        objects += len(page.objects)
        size_bytes += sum(listed.size_bytes for listed in page.objects)
        part = page.after
    files = len(manifest.files)
    factor = sum(file.size_bytes for file in manifest.files) / max(1, first.size_bytes)
    estimated = Work(round(objects * factor), round(size_bytes * factor))
    if backfill.limit is not None and backfill.limit < estimated.object_count:
        estimated = Work(backfill.limit, backfill.limit * estimated.mean_bytes)
    source = "counted in the inventory" if files == 1 else f"estimated from 1 of {files} files"
    return Count(estimated, source, is_exact=files == 1)

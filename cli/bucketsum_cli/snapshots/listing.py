"""All versions of objects that S3 has now, listed in parallel or read from an inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

from bucketsum.backfill.backfill_records import Part
from bucketsum.backfill.inventory import ROWS_PER_PAGE, manifest_at, rows_of
from bucketsum.backfill.listing import ranges_of_keys
from bucketsum.errors import BadInventory
from bucketsum.events.message_fields import shown
from bucketsum.events.version import NULL
from bucketsum_cli.snapshots.folder import LISTING, Listed, SnapshotFile
from bucketsum_cli.snapshots.lines import write_files

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_PARTS: Final = 16
_SECONDS: Final = "%Y-%m-%dT%H:%M:%S"


def list_keys(s3: S3Client, keys: Listed, folder: Path) -> tuple[SnapshotFile, ...]:
    """Write the versions of *keys*, or those in their inventory, to files.

    Raises:
        BadInventory: The inventory cannot be used.
    """
    if not keys.inventory:
        first = s3.list_object_versions(Bucket=keys.bucket, Prefix=keys.prefix)
        count = _PARTS if first.get("IsTruncated") else 1
        parts = ranges_of_keys(s3, keys.bucket, keys.prefix, count)
        sources = [_listed(s3, keys, part) for part in parts]
    else:
        manifest = manifest_at(s3, keys.inventory, keys.bucket)
        sources = [
            _inventory(rows_of(s3, manifest, file), keys, file.key) for file in manifest.files
        ]
    return write_files(folder, LISTING, sources, None)


def _listed(s3: S3Client, keys: Listed, part: Part) -> Iterator[list[dict[str, Any]]]:
    marker: dict[str, Any] = {"KeyMarker": part.after} if part.after else {}
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=keys.bucket, Prefix=keys.prefix, **marker
    )
    for page in pages:
        entries = page.get("Versions", ())
        yield [
            {
                "bucket": keys.bucket,
                "key": entry["Key"],
                "version": entry["VersionId"],
                "latest": entry["IsLatest"],
                "size_bytes": entry["Size"],
                "etag": entry["ETag"].strip('"'),
                "created_at": entry["LastModified"].strftime(_SECONDS),
                "storage_class": entry.get("StorageClass", "STANDARD"),
            }
            for entry in entries
            if part.until is None or entry["Key"] <= part.until
        ]
        if part.until is not None and page.get("NextKeyMarker", "") > part.until:
            break


def _inventory(
    rows: Iterable[dict[str, str]], keys: Listed, file: str
) -> Iterator[list[dict[str, Any]]]:
    versions = (
        _version(keys, row, f"row {number} of {shown(file)}")
        for number, row in enumerate(rows, 1)
        if row.get("IsDeleteMarker") != "true"
    )
    wanted = (version for version in versions if version["key"].startswith(keys.prefix))
    while page := list(islice(wanted, ROWS_PER_PAGE)):
        yield page


def _version(keys: Listed, row: dict[str, str], place: str) -> dict[str, Any]:
    """The version of an inventory's *row*, which is at *place*."""
    if (bucket := row.get("Bucket", keys.bucket)) != keys.bucket:
        raise BadInventory(f"{place} is of the bucket {shown(bucket)}")
    try:
        return {
            "bucket": keys.bucket,
            "key": unquote_plus(row["Key"], errors="strict"),
            "version": row.get("VersionId") or NULL.entry,
            "latest": row.get("IsLatest", "true") == "true",
            "size_bytes": int(row["Size"]),
            "etag": row["ETag"],
            "created_at": datetime.fromisoformat(row["LastModifiedDate"]).strftime(_SECONDS),
            "storage_class": row.get("StorageClass") or "STANDARD",
        }
    except ValueError as error:
        raise BadInventory(f"{place} is not valid: {error}"[:300]) from error

"""Object versions in the bucket, each with its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum.table.rows import Row, RowKey

if TYPE_CHECKING:
    from datetime import datetime

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectVersionTypeDef

    from bucketsum.table.digests_table import DigestsTable
    from bucketsum_cli.aws.stack import Stack


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """A version of an object in the bucket.

    Attributes:
        row_key: Bucket, key and version id, or ``null``.
        latest: Whether it is the version that a reader of the key gets.
        etag: Entity tag without quotes.
        created_at: When it was put.
        row: Its row; None if nothing is recorded.
    """

    row_key: RowKey
    latest: bool
    size_bytes: int
    etag: str
    created_at: datetime
    row: Row | None


def versions_in(
    stack: Stack, prefix: str, *, all_versions: bool = False
) -> Iterator[ObjectVersion]:
    """Yield the newest version of each object under *prefix*, by key, or all versions.

    Deleted objects are left out. S3 and the table are asked for a page at a time.
    """
    table = stack.digests_table()
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=stack.bucket, Prefix=prefix):
        versions = {
            RowKey(stack.bucket, version["Key"], version["VersionId"]): version
            for version in page.get("Versions", ())
            if all_versions or version["IsLatest"]
        }
        rows = table.rows_at(versions)
        for row_key, version in versions.items():
            yield _version(row_key, version, rows)


def newest_version(
    s3: S3Client, table: DigestsTable, bucket: str, key: str
) -> ObjectVersion | None:
    """Return the version of *key* that is in the bucket now, with one request to S3.

    None means that there is no such object, or that it was deleted. S3 lists the exact key first,
    and its newest version or delete marker before all others.
    """
    page = s3.list_object_versions(Bucket=bucket, Prefix=key, MaxKeys=1)
    for version in page.get("Versions", ()):
        if version["Key"] == key and version["IsLatest"]:
            row_key = RowKey(bucket, key, version["VersionId"])
            return _version(row_key, version, table.rows_at([row_key]))
    return None


def _version(
    row_key: RowKey, version: ObjectVersionTypeDef, rows: Mapping[RowKey, Row]
) -> ObjectVersion:
    etag = version["ETag"].strip('"')
    row = rows.get(row_key)
    if row and (row.deletion or row.etag not in (None, etag)):
        row = None  # of an earlier object at this key, in a bucket without versions
    return ObjectVersion(
        row_key=row_key,
        latest=version["IsLatest"],
        size_bytes=version["Size"],
        etag=etag,
        created_at=version["LastModified"],
        row=row,
    )

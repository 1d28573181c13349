"""Object versions in the bucket, each with its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from bucketsum.table.rows import Row, RowKey

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectVersionTypeDef

    from bucketsum.table.digests_table import DigestsTable
    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.terminal.documents import Moment


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """A version of an object in the bucket."""

    key: str
    version: str
    latest: Annotated[bool, "Whether a GET of the key returns this version."]
    size_bytes: int
    etag: str
    created_at: Moment


def versions_in(
    stack: Stack, prefix: str, *, all_versions: bool = False
) -> Iterator[tuple[ObjectVersion, Row | None]]:
    """Yield the newest version of each object under *prefix*, by key, or all versions.

    Each comes with its row; None if nothing is recorded. Deleted objects are left out. S3 and the
    table are asked for a page at a time.
    """
    table = stack.digests_table()
    pages = stack.client("s3").get_paginator("list_object_versions")
    for page in pages.paginate(Bucket=stack.bucket, Prefix=prefix):
        listed = page.get("Versions", ())
        wanted = [entry for entry in listed if all_versions or entry["IsLatest"]]
        yield from _with_rows(table, stack.bucket, wanted)


def newest_version(
    s3: S3Client, table: DigestsTable, bucket: str, key: str
) -> tuple[ObjectVersion, Row | None] | None:
    """Return the version of *key* that is in the bucket now, and its row, with one request to S3.

    None means that there is no such object, or that it was deleted. S3 lists the exact key first,
    and its newest version or delete marker before all others.
    """
    page = s3.list_object_versions(Bucket=bucket, Prefix=key, MaxKeys=1)
    listed = page.get("Versions", ())
    wanted = [entry for entry in listed if entry["Key"] == key and entry["IsLatest"]]
    return next(_with_rows(table, bucket, wanted), None)


def _with_rows(
    table: DigestsTable, bucket: str, listed: Iterable[ObjectVersionTypeDef]
) -> Iterator[tuple[ObjectVersion, Row | None]]:
    versions = {
        RowKey(bucket, entry["Key"], entry["VersionId"]): ObjectVersion(
            key=entry["Key"],
            version=entry["VersionId"],
            latest=entry["IsLatest"],
            size_bytes=entry["Size"],
            etag=entry["ETag"].strip('"'),
            created_at=entry["LastModified"],
        )
        for entry in listed
    }
    rows = table.rows_at(versions)
    for row_key, version in versions.items():
        row = rows.get(row_key)
        if row and (row.deletion or row.etag not in (None, version.etag)):
            row = None  # of an earlier object at this key, in a bucket without versions
        yield version, row

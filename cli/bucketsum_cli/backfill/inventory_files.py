"""Inventories that a backfill can read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from botocore.exceptions import ClientError

from bucketsum.backfill.inventory import InventoryFile, manifest_at
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import INVENTORY_PARAMETER, bucket_arn
from bucketsum_cli.terminal.errors import CannotDoError

_FILES_AT_ONCE: Final = 16


def require_readable(stack: Stack, url: str) -> None:
    """Refuse an inventory that the enqueuer may not read."""
    place, readable = S3Place.of_object(url), stack.parameters.get(INVENTORY_PARAMETER, "")
    arn = bucket_arn(stack, place.bucket)
    if arn != readable:
        raise CannotDoError(
            f"the functions of the stack {stack.name} may not read inventories in {place.bucket}: "
            f"deploy it with {INVENTORY_PARAMETER}={arn}"
        )


def require_files(stack: Stack, url: str, bucket: str) -> None:
    """Refuse a bad inventory or a missing file of it, but not if only the functions may read it."""
    s3 = stack.client("s3")
    try:
        manifest = manifest_at(s3, url, bucket)

        def size_of(file: InventoryFile) -> int:
            return s3.head_object(Bucket=manifest.bucket, Key=file.key)["ContentLength"]

        with ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
            for file, size in zip(manifest.files, pool.map(size_of, manifest.files), strict=True):
                if size != file.size_bytes:
                    raise CannotDoError(
                        f"{file.key!r} is not the file that the manifest lists: its size is "
                        f"{size}, not {file.size_bytes}"
                    )
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("NoSuchKey", "404"):
            missing = "there is no object" if code == "NoSuchKey" else "a file is missing of"
            raise CannotDoError(f"{missing} {url}") from error
        if code not in ("AccessDenied", "403"):
            raise

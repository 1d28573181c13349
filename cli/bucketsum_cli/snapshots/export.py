"""DynamoDB's export of a table to S3, fetched: for tables that are too large to be scanned."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.folder import ROWS, exported
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import notes, with_bar

if TYPE_CHECKING:
    from pathlib import Path

    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.snapshots.folder import SnapshotFile

_POLL_SECONDS: Final = 10.0
_FILES_AT_A_TIME: Final = 8
_MANIFESTS: Final = ("manifest-summary.json", "manifest-files.json")


def export(stack: Stack, arn: str, url: str, folder: Path) -> tuple[SnapshotFile, ...]:
    """Have DynamoDB export the table *arn* to *url*, ``s3://BUCKET/PREFIX``, and fetch the files.

    Raises:
        CannotDoError: *url* is not such a URL, or the export failed.
    """
    place = S3Place.of_folder(url)
    dynamodb, s3 = stack.client("dynamodb"), stack.client("s3")
    prefix: dict[str, Any] = {"S3Prefix": place.key.removesuffix("/")} if place.key else {}
    started = dynamodb.export_table_to_point_in_time(
        TableArn=arn, S3Bucket=place.bucket, ExportFormat="DYNAMODB_JSON", **prefix
    )["ExportDescription"]
    with notes().status("DynamoDB exports the table; this takes minutes ..."):
        while True:
            answer = dynamodb.describe_export(ExportArn=started["ExportArn"])
            description = answer["ExportDescription"]
            if description["ExportStatus"] != "IN_PROGRESS":
                break
            time.sleep(_POLL_SECONDS)
    if description["ExportStatus"] != "COMPLETED":
        reason = f"{description.get('FailureCode')}: {description.get('FailureMessage')}"
        raise CannotDoError(f"DynamoDB's export to {url} failed: {reason}")
    try:
        return _fetched(
            s3, place.bucket, PurePosixPath(description["ExportManifest"]).parent, folder
        )
    except s3.exceptions.NoSuchKey as error:
        is_local = stack.connection.endpoint is not None
        reason = "the local emulator writes no files" if is_local else str(error)
        raise CannotDoError(
            f"DynamoDB's export to {url} is complete, but its files are missing: {reason}; use "
            "--via scan"
        ) from error


def _fetched(
    s3: S3Client, bucket: str, at: PurePosixPath, folder: Path
) -> tuple[SnapshotFile, ...]:
    for name in _MANIFESTS:
        _fetch(s3, bucket, str(at / name), folder / name)
    files = exported(folder).files
    with ThreadPoolExecutor(_FILES_AT_A_TIME) as pool:
        fetched = pool.map(
            lambda file: _fetch(
                s3, bucket, str(at / ROWS / file.name.rpartition("/")[2]), folder / file.name
            ),
            files,
        )
        list(with_bar(fetched, "fetching", len(files)))
    return files


def _fetch(s3: S3Client, bucket: str, key: str, path: Path) -> None:
    body = s3.get_object(Bucket=bucket, Key=key)["Body"]
    with path.open("wb") as file:
        for chunk in body.iter_chunks(1024 * 1024):
            file.write(chunk)

"""DynamoDB's export of a table to S3: for tables that are too large to be scanned."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath
from typing import Any, Final

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.snapshots.folder import MANIFESTS, SnapshotFile, exported
from bucketsum_cli.snapshots.stored import fetch_file
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner

_POLL_SECONDS: Final = 10.0


def export(
    stack: Stack, arn: str, place: S3Place, folder: Path
) -> tuple[str, tuple[SnapshotFile, ...]]:
    """Have DynamoDB export the table *arn* to *place*, and fetch its manifests alone.

    Returns the folder that it wrote in *place*, and the files there.

    Raises:
        CannotDoError: The export failed, or wrote no manifest.
    """
    dynamodb = stack.client("dynamodb")
    prefix: dict[str, Any] = {"S3Prefix": place.key.removesuffix("/")} if place.key else {}
    started = dynamodb.export_table_to_point_in_time(
        TableArn=arn, S3Bucket=place.bucket, ExportFormat="DYNAMODB_JSON", **prefix
    )["ExportDescription"]
    with spinner("DynamoDB exports the table; this takes minutes ..."):
        while True:
            answer = dynamodb.describe_export(ExportArn=started["ExportArn"])
            description = answer["ExportDescription"]
            if description["ExportStatus"] != "IN_PROGRESS":
                break
            time.sleep(_POLL_SECONDS)
    if description["ExportStatus"] != "COMPLETED":
        reason = f"{description.get('FailureCode')}: {description.get('FailureMessage')}"
        raise CannotDoError(f"DynamoDB's export to {place} failed: {reason}")
    written = S3Place(place.bucket, f"{PurePosixPath(description['ExportManifest']).parent}/")
    s3 = stack.client("s3")
    if not all(fetch_file(s3, written, name, folder) for name in MANIFESTS):
        is_local = stack.connection.endpoint is not None
        reason = "the local emulator writes no files" if is_local else f"{written} has no manifest"
        raise CannotDoError(
            f"DynamoDB's export to {place} is complete, but its files are missing: {reason}; use "
            "--via scan"
        )
    return written.key.removeprefix(place.key), exported(folder).files

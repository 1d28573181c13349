"""A table, scanned in parallel into files in the form of DynamoDB's own export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bucketsum import prices
from bucketsum_cli.snapshots.folder import SnapshotFile
from bucketsum_cli.snapshots.lines import write_files

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


ROWS_PER_SECOND: Final = 20_000
"""Of a scan, an estimate: decoding and compression on one core are the limit."""

_SEGMENTS: Final = 8
_PARALLEL_ROWS: Final = 10_000
"""Tables of fewer rows are read at once: a segment is a request at least."""
_READ_UNIT_BYTES: Final = 2 * 4096
"""Bytes of items that a read unit reads, eventually consistent."""


@dataclass(frozen=True, slots=True)
class TableFigures:
    """Figures of a table, which DynamoDB updates every six hours.

    Attributes:
        account: Number of its account.
    """

    arn: str
    account: str
    rows: int
    size_bytes: int

    @property
    def scan_usd(self) -> float:
        """Price of a scan."""
        return self.size_bytes / _READ_UNIT_BYTES * prices.READ_UNIT.each

    @property
    def export_usd(self) -> float:
        """Price of an export to S3, without its storage."""
        return self.size_bytes * prices.EXPORTED_BYTE.each

    @property
    def scan_seconds(self) -> float:
        """Estimated time of a scan."""
        return self.rows / ROWS_PER_SECOND


def figures_of(dynamodb: DynamoDBClient, table: str) -> TableFigures:
    """The figures of *table*."""
    described = dynamodb.describe_table(TableName=table)["Table"]
    arn = described["TableArn"]
    return TableFigures(arn, arn.split(":")[4], described["ItemCount"], described["TableSizeBytes"])


def scan(
    dynamodb: DynamoDBClient, table: str, rows: int, folder: Path, kind: str
) -> tuple[SnapshotFile, ...]:
    """Write all items of *table*, which has some *rows*, to files in *folder*/*kind*."""
    dynamodb.meta.events.register("before-parse.dynamodb.Scan", _keep_items, unique_id="raw-scan")
    segments = _SEGMENTS if rows > _PARALLEL_ROWS else 1
    sources = [_pages(dynamodb, table, segment, segments) for segment in range(segments)]
    return write_files(folder, kind, sources, rows)


def _pages(
    dynamodb: DynamoDBClient, table: str, segment: int, segments: int
) -> Iterator[list[dict[str, Any]]]:
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table, Segment=segment, TotalSegments=segments
    )
    for page in pages:
        yield [{"Item": item} for item in page["Items"]]


def _keep_items(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Keep the items as DynamoDB sent them: botocore would take ten times as long to read them."""
    if response_dict["status_code"] == 200:  # noqa: PLR2004 - HTTP's
        answer = json.loads(response_dict["body"])
        customized_response_dict["Items"] = answer.pop("Items")
        response_dict["body"] = json.dumps(answer).encode()

"""CloudWatch's daily figures of a bucket, which cost nothing and no listing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricOutputTypeDef

    from bucketsum_cli.aws.connection import Connection

COUNTED_MAX: Final = 1_000_000
"""Buckets of more objects are not listed only to be counted: it would take more than minutes."""

SOURCE: Final = "CloudWatch's figures, up to a day old; --count counts by listing"

_NAMESPACE: Final = "AWS/S3"
_OBJECTS: Final = "NumberOfObjects"
_BYTES: Final = "BucketSizeBytes"
_DAY: Final = timedelta(days=1)
_CLASS_OF: Final = {
    "StandardIAStorage": "STANDARD_IA",
    "OneZoneIAStorage": "ONEZONE_IA",
    "GlacierInstantRetrievalStorage": "GLACIER_IR",
    "GlacierIRStorage": "GLACIER_IR",
    "GlacierStorage": "GLACIER",
    "DeepArchiveStorage": "DEEP_ARCHIVE",
}


@dataclass(frozen=True, slots=True)
class BucketFigures:
    """Objects and bytes of a bucket, of all versions and unfinished uploads, up to a day old.

    Attributes:
        bytes_by_class: By storage class; those that cost nothing to read are STANDARD.
    """

    objects: int
    bytes_by_class: Mapping[str, int]

    @property
    def size_bytes(self) -> int:
        """Bytes of all classes."""
        return sum(self.bytes_by_class.values())


def figures_of_large(connection: Connection, bucket: str) -> BucketFigures | None:
    """The figures of a *bucket* too large to be listed; None for others, or without figures."""
    cloudwatch: CloudWatchClient = connection.client("cloudwatch")
    pages = cloudwatch.get_paginator("list_metrics").paginate(
        Namespace=_NAMESPACE, Dimensions=[{"Name": "BucketName", "Value": bucket}]
    )
    metrics = [
        metric
        for page in pages
        for metric in page["Metrics"]
        if metric["MetricName"] in (_OBJECTS, _BYTES)
    ]
    if not metrics:
        return None
    now = datetime.now(UTC)
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[_query(number, metric) for number, metric in enumerate(metrics)],
        StartTime=now - 3 * _DAY,
        EndTime=now,
        ScanBy="TimestampDescending",
    )
    objects, sizes = 0, dict[str, int]()
    for metric, result in zip(metrics, answer["MetricDataResults"], strict=True):
        latest = round(next(iter(result["Values"]), 0))
        if metric["MetricName"] == _OBJECTS:
            objects = latest
        else:
            storage_class = _class_of(metric)
            sizes[storage_class] = sizes.get(storage_class, 0) + latest
    return BucketFigures(objects, sizes) if objects > COUNTED_MAX else None


def _class_of(metric: MetricOutputTypeDef) -> str:
    [kind] = (entry["Value"] for entry in metric["Dimensions"] if entry["Name"] == "StorageType")
    if kind.startswith("IntelligentTiering"):
        return "INTELLIGENT_TIERING"
    return _CLASS_OF.get(kind, "STANDARD")


def _query(number: int, metric: MetricOutputTypeDef) -> MetricDataQueryTypeDef:
    seconds = int(_DAY.total_seconds())
    return {
        "Id": f"m{number}",
        "MetricStat": {"Metric": metric, "Period": seconds, "Stat": "Average"},
    }

"""CloudWatch's daily figures of a bucket: they are free, and need no listing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from bucketsum_cli.aws.metrics import MetricStatistic, metric_values

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

    from bucketsum_cli.aws.connection import Connection

COUNTED_MAX: Final = 1_000_000
"""Buckets of more objects are not listed only to be counted: it would take more than minutes."""

SOURCE: Final = "CloudWatch's figures, up to a day old; --count counts by listing"

_NAMESPACE: Final = "AWS/S3"
_OBJECTS: Final = "NumberOfObjects"
_BYTES: Final = "BucketSizeBytes"
_DAY: Final = timedelta(days=1)
ARCHIVE_TIERS: Final = "INTELLIGENT_TIERING's archive tiers"
"""In place of a storage class: bytes that cannot be read."""

_ARCHIVE_TIERS: Final = ("IntelligentTieringAAStorage", "IntelligentTieringDAAStorage")
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
    """Objects and bytes of a bucket, with all versions and unfinished uploads; up to a day old.

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
    listed = [
        MetricStatistic(
            _NAMESPACE,
            metric["MetricName"],
            {d["Name"]: d["Value"] for d in metric["Dimensions"]},
            "Average",
        )
        for metric in pages.search("Metrics[]")
        if metric["MetricName"] in (_OBJECTS, _BYTES)
    ]
    if not listed:
        return None
    now = datetime.now(UTC)
    metrics = {f"m{number}": metric for number, metric in enumerate(listed)}
    values = metric_values(connection, metrics, now - 3 * _DAY, now)
    objects, sizes = 0, Counter[str]()
    for name, metric in metrics.items():
        latest = round(values[name].newest() or 0)
        if metric.name == _OBJECTS:
            objects = latest
        else:
            sizes[_class_of(metric.dimensions["StorageType"])] += latest
    return BucketFigures(objects, sizes) if objects > COUNTED_MAX else None


def _class_of(kind: str) -> str:
    if kind in _ARCHIVE_TIERS:
        return ARCHIVE_TIERS
    if kind.startswith("IntelligentTiering"):
        return "INTELLIGENT_TIERING"
    return _CLASS_OF.get(kind, "STANDARD")

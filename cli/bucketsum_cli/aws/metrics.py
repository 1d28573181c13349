"""CloudWatch metrics, and those of a stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

    from bucketsum.hashing.metric import Metric
    from bucketsum_cli.aws.connection import Connection
    from bucketsum_cli.aws.stack import Stack

OWN_NAMESPACE: Final = "bucketsum"

_STEP: Final = timedelta(minutes=5)
_LONG_STEP: Final = timedelta(days=1)
_LONG: Final = timedelta(days=2)
"""From here on the values are daily: a month of five minutes would be 9,000 values a metric."""


@dataclass(frozen=True, slots=True)
class MetricStatistic:
    """A metric and the statistic that is read of it."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str = "Sum"


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one metric, each with the time at which its period begins."""

    points: tuple[tuple[datetime, float], ...]

    def total(self, since: datetime | None = None) -> float | None:
        """The sum of the values from *since* on; None if there is none."""
        values = [value for at, value in self.points if since is None or at >= since]
        return sum(values) if values else None

    def newest(self) -> float | None:
        """The newest value; None if there is none."""
        return max(self.points)[1] if self.points else None


def own_metric(stack: Stack, metric: Metric, statistic: str = "Sum") -> MetricStatistic:
    """A metric that the hasher publishes."""
    return MetricStatistic(OWN_NAMESPACE, metric.name, {"service": stack.name}, statistic)


def lambda_metric(stack: Stack, name: str) -> MetricStatistic:
    """A metric that Lambda publishes about the hasher."""
    return MetricStatistic("AWS/Lambda", name, {"FunctionName": stack.function})


def metric_values(
    connection: Connection, metrics: Mapping[str, MetricStatistic], start: datetime, end: datetime
) -> dict[str, Values]:
    """Read all *metrics* with one request, or one per page; names → values."""
    period = _LONG_STEP if end - start >= _LONG else _STEP
    cloudwatch: CloudWatchClient = connection.client("cloudwatch")
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=list(_queries(metrics, period)), StartTime=start, EndTime=end
    )
    points: dict[str, list[tuple[datetime, float]]] = {name: [] for name in metrics}
    for page in pages:
        for result in page["MetricDataResults"]:
            points[result["Id"]] += zip(result["Timestamps"], result["Values"], strict=True)
    return {name: Values(tuple(values)) for name, values in points.items()}


def _queries(
    metrics: Mapping[str, MetricStatistic], period: timedelta
) -> Iterator[MetricDataQueryTypeDef]:
    for name, metric in metrics.items():
        yield {
            "Id": name,
            "MetricStat": {
                "Metric": {
                    "Namespace": metric.namespace,
                    "MetricName": metric.name,
                    "Dimensions": [
                        {"Name": key, "Value": value} for key, value in metric.dimensions.items()
                    ],
                },
                "Period": int(period.total_seconds()),
                "Stat": metric.statistic,
            },
        }

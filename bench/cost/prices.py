"""Dated prices in us-east-1; Lambda's are those of `bucketsum.prices`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum import request_prices as requests
from bucketsum.prices import PRICE_DATE, prices_in

REGION: Final = "us-east-1"
ARCHITECTURES: Final = ("arm64", "x86_64")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for `per` units, the path of AWS's page, and the source that was read."""

    what: str
    usd: float
    per: int
    page: str
    read: str

    @property
    def each(self) -> float:
        """US dollars for one unit."""
        return self.usd / self.per

    @property
    def source(self) -> str:
        """URL of AWS's page."""
        return f"https://aws.amazon.com/{self.page}/"


_QUOTED: Final = "public projects, undated"
_QUOTED_2026: Final = "public projects, 2026-09"
_COPY: Final = "stored page, after 2025-08"
_OURS: Final = f"bucketsum's own table, {PRICE_DATE}"

_LAMBDA: Final = "lambda/pricing"
_S3: Final = "s3/pricing"
_DYNAMODB: Final = "dynamodb/pricing/on-demand"

_MILLION: Final = 1_000_000
_GB: Final = 1_000_000_000


def _of_requests(what: str, each: float, per: int, page: str, read: str) -> Price:
    """The price *each* of `bucketsum.request_prices`, for *per* units."""
    return Price(what, round(each * per, 6), per, page, read)


SQS_REQUEST: Final = _of_requests(
    "SQS request, standard queue, 64 KB", requests.SQS_REQUEST, _MILLION, "sqs/pricing", _QUOTED
)
S3_LIST: Final = _of_requests("S3 LIST, Standard", requests.S3_LIST, 1000, _S3, _COPY)
STATE_TRANSITION: Final = _of_requests(
    "Step Functions state transition, Standard",
    requests.STATE_TRANSITION,
    1000,
    "step-functions/pricing",
    _QUOTED,
)
S3_GET: Final = _of_requests("S3 GET, Standard", requests.S3_GET, 1000, _S3, _COPY)
WRITE_UNIT: Final = _of_requests(
    "DynamoDB on-demand write, 1 KB", requests.WRITE_UNIT, _MILLION, _DYNAMODB, _QUOTED_2026
)
READ_UNIT: Final = _of_requests(
    "DynamoDB on-demand read, 4 KB", requests.READ_UNIT, _MILLION, _DYNAMODB, _QUOTED_2026
)
LOG_BYTE: Final = _of_requests(
    "CloudWatch Logs, ingested byte (per GB)",
    requests.LOG_BYTE,
    _GB,
    "cloudwatch/pricing",
    _QUOTED_2026,
)
EGRESS_BYTE: Final = Price(
    "from S3 to the internet, first 10 TB a month (per GB)", 0.09, _GB, _S3, _COPY
)
BATCH_JOB: Final = Price("S3 Batch Operations, job", 0.25, 1, _S3, _COPY)
BATCH_OBJECT: Final = Price("S3 Batch Operations, object", 1.00, _MILLION, _S3, _COPY)
CHECKSUM_BYTE: Final = Price("S3 compute checksum (per GB)", 0.004, _GB, _S3, _COPY)
EC2_HOUR: Final = Price(
    "EC2 c7g.large, hour, on demand", 0.0725, 1, "ec2/pricing/on-demand", _QUOTED_2026
)
_LAMBDA_PRICES: Final = (
    *(
        Price(f"Lambda {name}, GB-second", prices_in(REGION, name).gb_second, 1, _LAMBDA, _OURS)
        for name in ARCHITECTURES
    ),
    Price(
        "Lambda request",
        round(prices_in(REGION, "arm64").request * _MILLION, 6),
        _MILLION,
        _LAMBDA,
        _OURS,
    ),
)

PRICES: Final = (
    *_LAMBDA_PRICES, SQS_REQUEST, S3_GET, S3_LIST, STATE_TRANSITION, WRITE_UNIT, READ_UNIT,
    LOG_BYTE,
    EGRESS_BYTE, BATCH_JOB, BATCH_OBJECT, CHECKSUM_BYTE, EC2_HOUR,
)  # fmt: skip

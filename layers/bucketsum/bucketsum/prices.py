"""The price list: Lambda by Region, all else in us-east-1; dated, first tier, US dollars.

A Region that Lambda's table lacks has the prices of us-east-1, and says so. `python -m bench
prices` prints a new table of Lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PRICE_DATE: Final = "2026-11-01"

DEFAULT_REGION: Final = "us-east-1"
"""The Region whose prices an unknown Region has."""

_STORAGE_USD_PER_GB_SECOND: Final = 0.0000000309
FREE_STORAGE_MB: Final = 512
"""The size of /tmp that is free."""

_MB_PER_GB: Final = 1024
"""Lambda's GB is 1,024 of its MB."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """Prices of some Regions, in US dollars."""

    gb_second: dict[str, float]
    """By architecture."""
    request: float


_BASE: Final = _Listed({"arm64": 0.0000133334, "x86_64": 0.0000166667}, 0.20e-6)
_MIDDLE_EAST: Final = _Listed({"arm64": 0.0000165334, "x86_64": 0.0000206667}, 0.25e-6)
_BASE_REGIONS: Final = (
    "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1",
    "ap-southeast-2", "ap-southeast-3", "ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1",
    "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
)  # fmt: skip
_OTHER_REGIONS: Final = {
    "af-south-1": _Listed({"arm64": 0.00001768, "x86_64": 0.0000221}, 0.27e-6),
    "ap-east-1": _Listed({"arm64": 0.0000183, "x86_64": 0.00002292}, 0.28e-6),
    "eu-south-1": _Listed({"arm64": 0.0000156138, "x86_64": 0.0000195172}, 0.23e-6),
    "me-central-1": _MIDDLE_EAST,
    "me-south-1": _MIDDLE_EAST,
}
_LISTED: Final = dict.fromkeys(_BASE_REGIONS, _BASE) | _OTHER_REGIONS
ARCHITECTURES: Final = tuple(_BASE.gb_second)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of one Region and architecture, in US dollars."""

    region: str
    architecture: str
    """arm64 or x86_64."""
    gb_second: float
    """Per GB of memory and second."""
    request: float
    """Per invocation."""
    storage_gb_second: float = _STORAGE_USD_PER_GB_SECOND
    """Per GB of /tmp above the free 512 MB and second. The table has that of us-east-1 alone."""
    date: str = PRICE_DATE
    """Day on which AWS's page was read."""
    priced_as: str | None = None
    """The Region whose prices these are, if those of `region` are not known."""

    def invocation_usd(
        self, billed_ms: float, memory_mb: int, storage_mb: int = FREE_STORAGE_MB
    ) -> float:
        """Cost of one invocation of *billed_ms*."""
        seconds = billed_ms / 1000
        memory = seconds * memory_mb / _MB_PER_GB * self.gb_second
        extra_mb = max(0, storage_mb - FREE_STORAGE_MB)
        return memory + seconds * extra_mb / _MB_PER_GB * self.storage_gb_second + self.request


def prices_in(region: str, architecture: str) -> Prices:
    """The table's prices of *region* for *architecture*, else those of us-east-1.

    Raises:
        ValueError: Lambda has no such architecture.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(
            f"no prices for the architecture {architecture!r}; known are {', '.join(ARCHITECTURES)}"
        )
    listed = _LISTED.get(region)
    priced = listed or _LISTED[DEFAULT_REGION]
    return Prices(
        region,
        architecture,
        priced.gb_second[architecture],
        priced.request,
        priced_as=None if listed else DEFAULT_REGION,
    )


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
_SEEN: Final = "public page on eu-central-1, 2025-09"
_GUIDE: Final = "public guide on us-east-1, 2026-03"
_FAQ: Final = "stored copy of AWS's FAQ on S3, after 2025-04"
_ASSUMED: Final = "not looked up"

_S3: Final = "s3/pricing"
_DYNAMODB: Final = "dynamodb/pricing/on-demand"
_LOGS: Final = "cloudwatch/pricing"

_MILLION: Final = 1_000_000
_GB: Final = 1_000_000_000
_GIB: Final = 2**30
"""S3's GB of storage, by the examples in AWS's FAQ on S3: 10 TB are 10,995,116,277,760 bytes."""

SQS_REQUEST: Final = Price(
    "SQS request, standard queue, 64 KB", 0.40, _MILLION, "sqs/pricing", _QUOTED
)
S3_GET: Final = Price("S3 GET, Standard", 0.0004, 1000, _S3, _COPY)
S3_LIST: Final = Price("S3 LIST, Standard", 0.005, 1000, _S3, _COPY)
S3_PUT: Final = Price("S3 PUT, Standard", 0.005, 1000, _S3, _COPY)
STATE_TRANSITION: Final = Price(
    "Step Functions state transition, Standard", 0.025, 1000, "step-functions/pricing", _QUOTED
)
WRITE_UNIT: Final = Price(
    "DynamoDB on-demand write, 1 KB", 0.625, _MILLION, _DYNAMODB, _QUOTED_2026
)
READ_UNIT: Final = Price("DynamoDB on-demand read, 4 KB", 0.125, _MILLION, _DYNAMODB, _QUOTED_2026)
TABLE_BYTE_MONTH: Final = Price(
    "DynamoDB table, byte and month (per GB)", 0.25, _GB, _DYNAMODB, _ASSUMED
)
BACKUP_BYTE_MONTH: Final = Price(
    "DynamoDB point-in-time recovery, byte and month (per GB)", 0.20, _GB, _DYNAMODB, _QUOTED
)
EXPORTED_BYTE: Final = Price(
    "DynamoDB export to S3, byte of the table (per GB)", 0.10, _GB, _DYNAMODB, _ASSUMED
)
LOG_BYTE: Final = Price("CloudWatch Logs, ingested byte (per GB)", 0.50, _GB, _LOGS, _QUOTED_2026)
METRIC_READ: Final = Price("CloudWatch metric read", 0.01, 1000, _LOGS, _QUOTED)
EGRESS_BYTE: Final = Price(
    "from S3 to the internet, first 10 TB a month (per GB)", 0.09, _GB, _S3, _COPY
)
RETRIEVED_BYTE: Final = {
    "STANDARD_IA": Price("S3 Standard-IA, retrieved byte (per GB)", 0.01, _GB, _S3, _SEEN),
    "ONEZONE_IA": Price("S3 One Zone-IA, retrieved byte (per GB)", 0.01, _GB, _S3, _GUIDE),
    "GLACIER_IR": Price("S3 Glacier IR, retrieved byte (per GB)", 0.03, _GB, _S3, _SEEN),
}
RESTORED_BYTE: Final = {
    "GLACIER": Price("S3 Glacier, restored in bulk, byte (per GB)", 0.0, _GB, _S3, _ASSUMED),
    "DEEP_ARCHIVE": Price("Deep Archive, restored in bulk, byte (per GB)", 0.0025, _GB, _S3,
                          _ASSUMED),
}  # fmt: skip
"""Without the storage of the restored copy."""
RESTORED_OBJECT: Final = Price("Deep Archive, bulk restore", 0.025, 1000, _S3, _ASSUMED)
STORED_BYTE_MONTH: Final = {
    name: Price(f"S3 {name}, byte and month (per GiB)", usd, _GIB, _S3, read)
    for name, usd, read in (
        ("STANDARD", 0.023, _GUIDE),
        ("INTELLIGENT_TIERING", 0.023, _GUIDE),
        ("REDUCED_REDUNDANCY", 0.023, _ASSUMED),
        ("STANDARD_IA", 0.0125, _GUIDE),
        ("ONEZONE_IA", 0.01, _GUIDE),
        ("GLACIER_IR", 0.004, _GUIDE),
        ("GLACIER", 0.0036, _GUIDE),
        ("DEEP_ARCHIVE", 0.00099, _GUIDE),
        ("EXPRESS_ONEZONE", 0.11, _FAQ),
    )
}
"""By storage class; INTELLIGENT_TIERING as in its first tier."""
ATHENA_BYTE: Final = Price(
    "Athena, scanned byte (per TB)", 5.0, 1000 * _GB, "athena/pricing", _QUOTED
)
METADATA_OBJECT: Final = Price(
    "S3 Metadata, object of a new live inventory table", 0.30, _MILLION, _S3, _ASSUMED
)
BATCH_JOB: Final = Price("S3 Batch Operations, job", 0.25, 1, _S3, _COPY)
BATCH_OBJECT: Final = Price("S3 Batch Operations, object", 1.00, _MILLION, _S3, _COPY)
CHECKSUM_BYTE: Final = Price("S3 compute checksum (per GB)", 0.004, _GB, _S3, _COPY)
EC2_HOUR: Final = Price(
    "EC2 c7g.large, hour, on demand", 0.0725, 1, "ec2/pricing/on-demand", _QUOTED_2026
)
_LAMBDA: Final = ("lambda/pricing", f"bucketsum's own table, {PRICE_DATE}")

PRICES: Final = (
    Price("Lambda arm64, GB-second", _BASE.gb_second["arm64"], 1, *_LAMBDA),
    Price("Lambda x86_64, GB-second", _BASE.gb_second["x86_64"], 1, *_LAMBDA),
    Price("Lambda request", round(_BASE.request * _MILLION, 6), _MILLION, *_LAMBDA),
    SQS_REQUEST, S3_GET, S3_LIST, S3_PUT, STATE_TRANSITION, WRITE_UNIT, READ_UNIT,
    TABLE_BYTE_MONTH, BACKUP_BYTE_MONTH, EXPORTED_BYTE, LOG_BYTE,
    METRIC_READ, EGRESS_BYTE, *RETRIEVED_BYTE.values(), *RESTORED_BYTE.values(), RESTORED_OBJECT,
    *STORED_BYTE_MONTH.values(), ATHENA_BYTE, METADATA_OBJECT,
    BATCH_JOB, BATCH_OBJECT, CHECKSUM_BYTE, EC2_HOUR,
)  # fmt: skip
"""Everything that the project prices, in us-east-1."""

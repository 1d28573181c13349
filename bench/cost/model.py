"""Cost of hashing one object, item by item."""

from dataclasses import dataclass, fields
from math import ceil
from typing import Final

from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.size_limits import LOOK_UP_FROM_BYTES
from bucketsum.prices import (
    DEFAULT_REGION,
    LOG_BYTE,
    READ_UNIT,
    S3_GET,
    SQS_REQUEST,
    WRITE_UNIT,
    prices_in,
)
from bucketsum_cli.backfill.estimate import (
    LOG_BYTES_PER_INVOCATION,
    LOG_BYTES_PER_OBJECT,
    ROW_WRITE_UNITS,
)

BYTES_PER_TB: Final = 10**12

LOOK_UP_READ_UNITS: Final = 0.5
"""GetItem, eventually consistent."""


@dataclass(frozen=True, slots=True)
class Handling:
    """The hashing of one object; its seconds are its share of the invocation's duration."""

    memory_mb: int
    architecture: str
    object_bytes: int
    seconds: float
    batch_size: int = 1
    gets: int = 1
    is_indexed: bool = True
    is_logged: bool = True


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars for one object, with its share of everything that a batch shares."""

    lambda_time: float
    lambda_requests: float
    sqs: float
    s3: float
    dynamodb: float
    logs: float

    @property
    def total(self) -> float:
        """The sum of all items."""
        amounts: list[float] = [getattr(self, field.name) for field in fields(self)]
        return sum(amounts)

    @property
    def requests(self) -> float:
        """Everything except Lambda's compute time; it does not depend on the object's size."""
        return self.total - self.lambda_time


def cost_of(handling: Handling) -> Cost:
    """Cost of *handling* at list prices: no free tier, no savings plan, no retry.

    Raises:
        ValueError: The architecture has no price.
    """
    prices = prices_in(DEFAULT_REGION, handling.architecture)
    batch = handling.batch_size
    billed_ms = ceil(round(batch * handling.seconds * 1000, 6))
    invocation = prices.invocation_usd(billed_ms, handling.memory_mb)
    look_up = LOOK_UP_READ_UNITS if handling.object_bytes >= LOOK_UP_FROM_BYTES else 0
    log_bytes = LOG_BYTES_PER_OBJECT * handling.is_logged + LOG_BYTES_PER_INVOCATION / batch
    write_units = ROW_WRITE_UNITS[Purpose.RECORD] - (not handling.is_indexed)
    return Cost(
        lambda_time=(invocation - prices.request) / batch,
        lambda_requests=prices.request / batch,
        sqs=SQS_REQUEST.each * (1 + 2 / batch),
        s3=S3_GET.each * handling.gets,
        dynamodb=WRITE_UNIT.each * write_units + READ_UNIT.each * look_up,
        logs=LOG_BYTE.each * log_bytes,
    )

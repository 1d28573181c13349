"""Time and cost of an object that is hashed in slices."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from bench.cost.model import (
    LOG_BYTES_PER_INVOCATION,
    LOG_BYTES_PER_OBJECT,
    ROW_WRITE_UNITS,
)
from bucketsum.invocation.deadline import LONGEST_INVOCATION_SECONDS
from bucketsum.long_objects.slicer import END_BEFORE_SECONDS
from bucketsum.measure import BYTES_PER_MB
from bucketsum.prices import (
    DEFAULT_REGION,
    LOG_BYTE,
    READ_UNIT,
    S3_GET,
    SQS_REQUEST,
    WRITE_UNIT,
    prices_in,
)

SLICE_SECONDS: Final = LONGEST_INVOCATION_SECONDS - END_BEFORE_SECONDS
"""Time in which a slice is read."""

BETWEEN_SECONDS: Final = 1.0
"""Assumed time from the end of a slice to the first byte of the next: table, queue, S3."""

PROGRESS_WRITE_UNITS: Final = 3
"""The lease, the saved state and the mark that the message was sent; items of up to 1 KB."""


@dataclass(frozen=True, slots=True)
class LongObject:
    """Size of an object, and the slicer's memory and speed in 10⁶ bytes per second."""

    size_bytes: int
    memory_mb: int
    mb_per_s: float
    architecture: str = "arm64"

    @property
    def slices(self) -> int:
        """Number of invocations."""
        return ceil(self.size_bytes / (self.mb_per_s * BYTES_PER_MB * SLICE_SECONDS))

    @property
    def seconds(self) -> float:
        """Time from the first byte to the row."""
        return self.size_bytes / BYTES_PER_MB / self.mb_per_s + self.slices * BETWEEN_SECONDS

    @property
    def usd(self) -> float:
        """Cost at list prices: no free tier, no savings plan, no retry."""
        prices = prices_in(DEFAULT_REGION, self.architecture)
        compute = prices.invocation_usd(round(self.seconds * 1000), self.memory_mb)
        requests = (
            prices.request
            + S3_GET.each
            + 3 * SQS_REQUEST.each
            + PROGRESS_WRITE_UNITS * WRITE_UNIT.each
            + READ_UNIT.each
            + LOG_BYTE.each * (LOG_BYTES_PER_OBJECT + LOG_BYTES_PER_INVOCATION)
        )
        return compute - prices.request + self.slices * requests + ROW_WRITE_UNITS * WRITE_UNIT.each

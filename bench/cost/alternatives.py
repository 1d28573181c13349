"""Other ways to the SHA-1 of a terabyte, and the baseline's settings at today's prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.cost.model import BYTES_PER_TB, Handling, cost_of, usd_per_tb
from bench.cost.prices import (
    BATCH_JOB,
    BATCH_OBJECT,
    CHECKSUM_BYTE,
    EC2_HOUR,
    EGRESS_BYTE,
    S3_GET,
)

GB: Final = 1_000_000_000
_OBJECTS_PER_TB: Final = BYTES_PER_TB // GB

BASELINE_SPEEDS: Final = (
    (128, 1, 15.32), (128, 10, 21.47),
    (256, 10, 47.85), (256, 20, 50.63), (256, 50, 39.26),
    (512, 20, 72.57), (512, 50, 71.53),
    (1024, 20, 70.18), (1024, 50, 68.80),
    (2048, 20, 71.94),
)  # fmt: skip
"""Memory in MB, chunk in MB, MB/s of 1 GB on Lambda in 2021, as its author published them."""

_C7G_LARGE_BYTES_PER_SECOND: Final = 0.937e9 / 8
"""Baseline bandwidth of 0.937 Gbit/s, by EC2's table of network specifications."""

_FIXITY_USD: Final = 30.04
_FIXITY_TB: Final = 10


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another service that computes the SHA-1 of a terabyte.

    Attributes:
        name: Name of the service.
        usd_per_tb: In objects of 1 GB, unless the note says otherwise.
        note: Properties that matter for the choice.
        source: Source of the price.
    """

    name: str
    usd_per_tb: float
    note: str
    source: str


def baseline_usd_per_tb(memory_mb: int, mb_per_s: float, architecture: str) -> float:
    """Cost per TB of the baseline in objects of 1 GB, with bucketsum's requests."""
    handling = Handling(memory_mb, architecture, GB, GB / 1e6 / mb_per_s)
    return usd_per_tb(cost_of(handling).total, GB)


def alternatives() -> tuple[Alternative, ...]:
    """All alternatives, the cheapest first."""
    ec2_seconds = BYTES_PER_TB / _C7G_LARGE_BYTES_PER_SECOND
    gets = S3_GET.each * _OBJECTS_PER_TB
    found = (
        Alternative(
            "an EC2 c7g.large in the bucket's Region",
            ec2_seconds / 3600 * EC2_HOUR.usd + gets,
            f"{ec2_seconds / 3600:.1f} h at its network's baseline; no events, no rows; you "
            "also pay while nothing is uploaded",
            f"{EC2_HOUR.source}; https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html",
        ),
        Alternative(
            "AWS's fixity solution",
            _FIXITY_USD / _FIXITY_TB,
            "AWS's own estimate: $30.04 for 1,000 objects of 10 GB in us-east-1; as much again "
            "for every check",
            "https://github.com/aws-solutions-library-samples/"
            "serverless-fixity-for-digital-preservation-compliance",
        ),
        Alternative(
            "S3 Batch Operations, compute checksum",
            CHECKSUM_BYTE.each * BYTES_PER_TB + BATCH_OBJECT.each * _OBJECTS_PER_TB
            + BATCH_JOB.usd,
            "one job; full-object SHA-1 in a report, not on the object; no download, and objects "
            "in Glacier need no restoring",
            CHECKSUM_BYTE.source,
        ),
        Alternative(
            "a laptop, over the internet",
            EGRESS_BYTE.each * BYTES_PER_TB + gets,
            "egress of the first 10 TB in a month, beyond 100 GB that are free; 22 h at "
            "100 Mbit/s",
            EGRESS_BYTE.source,
        ),
    )  # fmt: skip
    return tuple(sorted(found, key=lambda alternative: alternative.usd_per_tb))

"""Alternatives for hashing a terabyte."""

from __future__ import annotations

from typing import Final

from bench.cost.model import BYTES_PER_TB
from bench.tables.table import Columns, Table, dollars
from bucketsum.prices import (
    BATCH_JOB,
    BATCH_OBJECT,
    CHECKSUM_BYTE,
    EC2_HOUR,
    EGRESS_BYTE,
    S3_GET,
)

_OBJECTS_PER_TB: Final = 1000

_C7G_LARGE_BYTES_PER_SECOND: Final = 0.937e9 / 8
"""Baseline bandwidth of 0.937 Gbit/s, by EC2's table of network specifications."""

FIXITY_USD_PER_TB: Final = 30.04 / 10
"""AWS's own estimate for 1,000 objects of 10 GB."""


def checksums_usd(objects: float) -> float:
    """S3 Batch Operations computes a checksum of a terabyte in so many *objects*."""
    return CHECKSUM_BYTE.each * BYTES_PER_TB + BATCH_OBJECT.each * objects + BATCH_JOB.usd


def alternatives() -> Table:
    """Cost per terabyte in objects of 1 GB, unless the note says otherwise; the cheapest first."""
    ec2_hours = BYTES_PER_TB / _C7G_LARGE_BYTES_PER_SECOND / 3600
    gets = S3_GET.each * _OBJECTS_PER_TB
    rows = (
        (
            "an EC2 c7g.large in the bucket's Region",
            ec2_hours * EC2_HOUR.usd + gets,
            (
                f"{ec2_hours:.1f} h at its sustained network speed; no events, no rows; you also "
                "pay while nothing is uploaded"
            ),
            f"{EC2_HOUR.source}; https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html",
        ),
        (
            "AWS's fixity solution",
            FIXITY_USD_PER_TB,
            (
                "AWS's own estimate: $30.04 for 1,000 objects of 10 GB in us-east-1; as much again "
                "for every check"
            ),
            (
                "https://github.com/aws-solutions-library-samples/"
                "serverless-fixity-for-digital-preservation-compliance"
            ),
        ),
        (
            "S3 Batch Operations, compute checksum",
            checksums_usd(_OBJECTS_PER_TB),
            (
                "one job; full-object SHA-1 in a report, not on the object; no download, and "
                "objects in Glacier need no restoring"
            ),
            CHECKSUM_BYTE.source,
        ),
        (
            "a laptop, over the internet",
            EGRESS_BYTE.each * BYTES_PER_TB + gets,
            "egress of the first 10 TB in a month, beyond 100 GB that are free; 22 h at 100 Mbit/s",
            EGRESS_BYTE.source,
        ),
    )
    columns: Columns = ("service", *dollars("USD per TB"), "notes", "source")
    return Table("cost-alternatives", columns, tuple(sorted(rows, key=lambda row: row[1])))

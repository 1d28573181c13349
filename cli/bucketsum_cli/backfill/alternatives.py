"""Prices of other ways to a digest of each object."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from bucketsum import prices
from bucketsum_cli.backfill.estimate import checksum_usd, retrieval_items
from bucketsum_cli.backfill.work import Work

C7G_LARGE_BYTES_PER_SECOND: Final = 0.937e9 / 8
"""Baseline bandwidth of 0.937 Gbit/s, by EC2's table of network specifications."""

_FIXITY_USD_PER_BYTE: Final = 30.04 / 10e12
"""AWS's own estimate of 2021 for 1,000 objects of 10 GB."""


class Service(StrEnum):
    """A way to digests without bucketsum."""

    EC2 = "an EC2 c7g.large in the bucket's Region"
    FIXITY = "AWS's fixity solution"
    CHECKSUM = "S3 Batch Operations, compute checksum"
    LAPTOP = "a laptop, over the internet"


def alternatives(work: Work, digests: int = 1) -> dict[Service, float]:
    """US dollars for reading *work* once, the cheapest first; a job of AWS has one digest."""
    retrieval = sum(item.usd for item in retrieval_items(work))
    gets = prices.S3_GET.each * work.object_count + retrieval
    hours = work.size_bytes / C7G_LARGE_BYTES_PER_SECOND / 3600
    usd = {
        Service.EC2: hours * prices.EC2_HOUR.usd + gets,
        Service.FIXITY: work.size_bytes * _FIXITY_USD_PER_BYTE + retrieval,
        Service.CHECKSUM: checksum_usd(work) * digests,
        Service.LAPTOP: prices.EGRESS_BYTE.each * work.size_bytes + gets,
    }
    return dict(sorted(usd.items(), key=lambda item: item[1]))

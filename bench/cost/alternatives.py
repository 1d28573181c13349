"""Alternatives for hashing a terabyte, with notes."""

from typing import Final

from bench.cost.model import BYTES_PER_TB
from bench.tables.table import Columns, Table, dollars
from bucketsum.prices import CHECKSUM_BYTE, EC2_HOUR, EGRESS_BYTE
from bucketsum_cli.backfill.alternatives import C7G_LARGE_BYTES_PER_SECOND, Service
from bucketsum_cli.backfill.alternatives import alternatives as prices_of
from bucketsum_cli.backfill.work import Work

_OBJECTS_PER_TB: Final = 1000

_NOTES: Final = {
    Service.EC2: (
        (
            f"{BYTES_PER_TB / C7G_LARGE_BYTES_PER_SECOND / 3600:.1f} h at its sustained network "
            "speed; no events, no rows; you also pay while nothing is uploaded"
        ),
        f"{EC2_HOUR.source}; https://docs.aws.amazon.com/ec2/latest/instancetypes/co.html",
    ),
    Service.FIXITY: (
        (
            "AWS's own estimate of 2021: $30.04 for 1,000 objects of 10 GB in us-east-1; as much "
            "again for every check"
        ),
        (
            "https://github.com/aws-solutions-library-samples/"
            "serverless-fixity-for-digital-preservation-compliance"
        ),
    ),
    Service.CHECKSUM: (
        (
            "one job for each digest; full-object SHA-1 in a report, not on the object; no "
            "download, and objects in Glacier need no restoring; AWS has a [sample]"
            "(https://github.com/aws-samples/sample-s3-batch-checksum-validation) for tables"
        ),
        CHECKSUM_BYTE.source,
    ),
    Service.LAPTOP: (
        "egress of the first 10 TB in a month, beyond 100 GB that are free; 22 h at 100 Mbit/s",
        EGRESS_BYTE.source,
    ),
}


def alternatives() -> Table:
    """Cost per terabyte in objects of 1 GB, unless the note says otherwise; the cheapest first."""
    usd = prices_of(Work(_OBJECTS_PER_TB, BYTES_PER_TB))
    rows = tuple((service.value, price, *_NOTES[service]) for service, price in usd.items())
    columns: Columns = ("service", *dollars("USD per TB"), "notes", "source")
    return Table("cost-alternatives", columns, rows)

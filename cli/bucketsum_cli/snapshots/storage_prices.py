"""The prices of storage classes, as a table of a question."""

from __future__ import annotations

from bucketsum.prices import STORED_BYTE_MONTH
from bucketsum_cli.snapshots.database import Database


def put_prices(database: Database) -> None:
    """Make the table of the prices of storage classes."""
    database.local.put_table(
        "storage_prices",
        "storage_class VARCHAR, usd_per_byte_month DOUBLE",
        (
            {"storage_class": name, "usd_per_byte_month": price.each}
            for name, price in STORED_BYTE_MONTH.items()
        ),
    )

"""`bucketsum tune prices`: Lambda's prices in use, and how to refresh them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.clock import now
from bucketsum.sweep.prices import ARCHITECTURES
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.options import json_option, stack_options
from bucketsum_cli.output import note, print_json
from bucketsum_cli.tables import Column, print_table
from bucketsum_cli.tune.formatting import usd_text
from bucketsum_cli.tune.price_list import API_REGION, listed_prices, listed_products
from bucketsum_cli.tune.sweeper import Sweeper

if TYPE_CHECKING:
    from bucketsum.sweep.prices import Prices
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack

_MILLION: Final = 1_000_000
_COLUMNS: Final = (
    Column("architecture", 12),
    Column("USD per GB-second", 17, right=True),
    Column("per million requests", 20, right=True),
    Column("per GB-second of /tmp", 21, right=True),
    Column("read on", 10),
    Column("source"),
)


@click.command("prices")
@click.option("--refresh", is_flag=True,
              help="Read AWS's price list, and use its prices from now on.")  # fmt: skip
@json_option
@stack_options
def prices(target: Target, refresh: bool, as_json: bool) -> None:
    """Show Lambda's prices in the stack's Region.

    Sweeps use these prices for estimates and results. They come from bucketsum's code until
    --refresh reads them from AWS's price list, which needs the permission pricing:GetProducts. For
    a Region that is not in the code, the prices of us-east-1 are used.

    Example: bucketsum tune prices --refresh
    """
    stack = target.find()
    sweeper = Sweeper(stack)
    if refresh:
        _refresh(stack, sweeper)
    shown = [sweeper.measurements.prices(sweeper.region, name) for name in ARCHITECTURES]
    if as_json:
        print_json([_as_json(price) for price in shown])
        return
    print_table(_COLUMNS, map(_row, shown))
    note(f"Lambda in {sweeper.region}, first tier of its prices")
    if shown[0].priced_as:
        note(
            f"the prices of {sweeper.region} are not known, so these are those of "
            f"{shown[0].priced_as}; `bucketsum tune prices --refresh` reads them from AWS"
        )


def _refresh(stack: Stack, sweeper: Sweeper) -> None:
    if sweeper.is_local:
        raise CannotDoError("the local emulator has no price list; use --refresh without --local")
    products = listed_products(stack.connection.client("pricing", API_REGION), sweeper.region)
    for price in listed_prices(products, sweeper.region, now()[:10]):
        sweeper.measurements.record_prices(price)


def _row(price: Prices) -> list[str]:
    return [
        price.architecture,
        f"{price.gb_second:.10f}",
        usd_text(price.request * _MILLION),
        f"{price.storage_gb_second:.10f}",
        price.date,
        price.source,
    ]


def _as_json(price: Prices) -> dict[str, Any]:
    return {
        "region": price.region,
        "architecture": price.architecture,
        "usd_per_gb_second": price.gb_second,
        "usd_per_request": price.request,
        "usd_per_gb_second_of_storage": price.storage_gb_second,
        "price_date": price.date,
        "source": price.source,
        "priced_as": price.priced_as,
    }

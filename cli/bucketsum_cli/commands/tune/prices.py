"""`bucketsum tune prices`: Lambda's prices in use, and how to refresh them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from bucketsum.clock import now
from bucketsum.prices import ARCHITECTURES, Prices, prices_in
from bucketsum_cli.options import Target, json_option, stack_options
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import usd_text
from bucketsum_cli.terminal.output import note, print_json
from bucketsum_cli.terminal.tables import Column, print_table
from bucketsum_cli.tune.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bucketsum_cli.aws.stack import Stack

_API_REGION: Final = "us-east-1"
"""A Region that has the Price List API; few have it, and each has the prices of all Regions."""

_SOURCE: Final = "AWS's price list (pricing:GetProducts)"

_GROUPS: Final = {
    "gb_second": "AWS-Lambda-Duration",
    "request": "AWS-Lambda-Requests",
    "storage_gb_second": "AWS-Lambda-Storage-Duration",
}
"""Price → group of products; the groups of arm64 have a suffix."""

_SUFFIXES: Final = {"arm64": "-ARM", "x86_64": ""}

_MILLION: Final = 1_000_000
_COLUMNS: Final = (
    Column("architecture"),
    Column("USD per GB-second", right=True),
    Column("per million requests", right=True),
    Column("per GB-second of /tmp", right=True),
    Column("read on"),
    Column("source", shrinks=True),
)


@click.command("prices")
@click.option("--refresh", is_flag=True,
              help="Read AWS's price list, and use its prices from now on.")  # fmt: skip
@json_option
@stack_options
def prices(target: Target, refresh: bool, as_json: bool) -> None:
    """Show Lambda's prices in the stack's Region.

    Sweeps use these prices for estimates and results. They come from bucketsum's code until
    --refresh reads them from AWS's price list, which needs the permission pricing:GetProducts.
    Until then, a Region that is not in the code is given the prices of us-east-1.

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
    products = _listed_products(stack.connection.client("pricing", _API_REGION), sweeper.region)
    for price in _listed_prices(products, sweeper.region, now()[:10]):
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


def _listed_products(pricing: Any, region: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - no stubs
    """Lambda's products in *region*, from *pricing*, a client of the Price List API."""
    pages = pricing.get_paginator("get_products").paginate(
        ServiceCode="AWSLambda",
        Filters=[{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}],
        FormatVersion="aws_v1",
    )
    for page in pages:
        yield from map(json.loads, page["PriceList"])


def _listed_prices(
    products: Iterable[dict[str, Any]], region: str, date: str
) -> tuple[Prices, ...]:
    """Lambda's prices in *region* for both architectures, as of *date*."""
    by_group = {
        product["product"]["attributes"].get("group"): usd
        for product in products
        if product["product"]["attributes"].get("regionCode") == region
        and (usd := _first_tier_usd(product))
    }
    return tuple(_prices_of(by_group, region, name, date) for name in ARCHITECTURES)


def _prices_of(by_group: dict[str, float], region: str, architecture: str, date: str) -> Prices:
    groups = {price: group + _SUFFIXES[architecture] for price, group in _GROUPS.items()}
    absent = [groups[price] for price in ("gb_second", "request") if groups[price] not in by_group]
    if absent:
        raise CannotDoError(
            f"AWS's price list has no {' and no '.join(absent)} in {region}; nothing was changed"
        )
    known = prices_in(region, architecture)
    storage = by_group.get(groups["storage_gb_second"], known.storage_gb_second)
    return Prices(
        region,
        architecture,
        by_group[groups["gb_second"]],
        by_group[groups["request"]],
        storage,
        date,
        _SOURCE,
    )


def _first_tier_usd(product: dict[str, Any]) -> float | None:
    """The price per unit of the first units of a month; None if there is none in US dollars."""
    for term in product["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension["beginRange"] == "0" and "USD" in dimension["pricePerUnit"]:
                return float(dimension["pricePerUnit"]["USD"])
    return None

"""AWS's price list: the answers of GetProducts → Lambda's prices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bucketsum.sweep.prices import ARCHITECTURES, Prices, prices_in
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

API_REGION: Final = "us-east-1"
"""A Region that has the Price List API; few have it, and each has the prices of all Regions."""

SOURCE: Final = "AWS's price list (pricing:GetProducts)"

_GROUPS: Final = {
    "gb_second": "AWS-Lambda-Duration",
    "request": "AWS-Lambda-Requests",
    "storage_gb_second": "AWS-Lambda-Storage-Duration",
}
"""Price → group of products; the groups of arm64 have a suffix."""

_SUFFIXES: Final = {"arm64": "-ARM", "x86_64": ""}


def listed_products(pricing: Any, region: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - no stubs
    """Lambda's products in *region*, from *pricing*, a client of the Price List API.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    pages = pricing.get_paginator("get_products").paginate(
        ServiceCode="AWSLambda",
        Filters=[{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}],
        FormatVersion="aws_v1",
    )
    for page in pages:
        yield from map(json.loads, page["PriceList"])


def listed_prices(products: Iterable[dict[str, Any]], region: str, date: str) -> tuple[Prices, ...]:
    """Lambda's prices in *region* for both architectures, as of *date*.

    Raises:
        CannotDoError: *products* lack the price of a GB-second or of a request.
    """
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
        SOURCE,
    )


def _first_tier_usd(product: dict[str, Any]) -> float | None:
    """The price per unit of the first units of a month; None if there is none in US dollars."""
    for term in product["terms"].get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension["beginRange"] == "0" and "USD" in dimension["pricePerUnit"]:
                return float(dimension["pricePerUnit"]["USD"])
    return None

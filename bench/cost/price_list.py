"""A new table of Lambda's prices, from AWS's public price list: ``python -m bench prices``."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

import click

from bench.tables.table import Columns, Table, numbers, show
from bucketsum.clock import now

URL: Final = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AWSLambda/current/index.json"

_GROUPS: Final = {
    "AWS-Lambda-Duration-ARM": "arm64",
    "AWS-Lambda-Duration": "x86_64",
    "AWS-Lambda-Requests": "request",
}
"""Group of products → column."""


@click.command()
@click.argument("source", default=URL)
def prices(source: str) -> None:
    """Print Lambda's prices in every Region, for the table in bucketsum/prices.py.

    SOURCE is the URL or the file of AWS's price list of Lambda; nothing is written.
    """
    with urllib.request.urlopen(source if "://" in source else f"file:{source}") as answer:  # noqa: S310 - a person's choice
        show((table_of(json.load(answer)),), prices=now()[:10])


def table_of(price_list: Mapping[str, Any]) -> Table:
    """The prices of the first tier, by Region."""
    regions: dict[str, dict[str, float]] = {}
    for sku, product in price_list["products"].items():
        attributes = product["attributes"]
        column = _GROUPS.get(attributes.get("group", ""))
        usd = _first_tier_usd(price_list["terms"]["OnDemand"].get(sku, {}))
        if column and usd:
            regions.setdefault(attributes["regionCode"], {})[column] = usd
    columns: Columns = ("Region", *numbers(*_GROUPS.values(), decimals=10))
    rows = (
        (region, *(usd.get(name) for name in _GROUPS.values()))
        for region, usd in sorted(regions.items())
    )
    return Table("prices", columns, tuple(rows))


def _first_tier_usd(terms: Mapping[str, Any]) -> float | None:
    """The price per unit of the first units of a month; None if there is none in US dollars."""
    for term in terms.values():
        for dimension in term["priceDimensions"].values():
            if dimension["beginRange"] == "0" and "USD" in dimension["pricePerUnit"]:
                return float(dimension["pricePerUnit"]["USD"])
    return None

"""`python -m bench prices`: the first tier of each Region."""

from __future__ import annotations

from typing import Any

from bench.cost.price_list import table_of


def term(usd: str) -> dict[str, Any]:
    """The terms of a product, with a second tier at half the price."""
    tiers = {"6000000000": float(usd) / 2, "0": float(usd)}
    dimensions = {
        first: {"beginRange": first, "pricePerUnit": {"USD": str(price)}}
        for first, price in tiers.items()
    }
    return {"TERM": {"priceDimensions": dimensions}}


def test_the_first_tier_of_each_region_is_printed() -> None:
    """Products of other groups are ignored, and an absent price is empty."""
    groups = {
        "arm": ("AWS-Lambda-Duration-ARM", "mx-central-1", "0.00002"),
        "x86": ("AWS-Lambda-Duration", "mx-central-1", "0.00003"),
        "edge": ("AWS-Lambda-Edge-Duration", "mx-central-1", "0.5"),
        "other": ("AWS-Lambda-Requests", "af-south-1", "0.0000003"),
    }
    table = table_of(
        {
            "products": {
                sku: {"attributes": {"group": group, "regionCode": region}}
                for sku, (group, region, _) in groups.items()
            },
            "terms": {"OnDemand": {sku: term(usd) for sku, (_, _, usd) in groups.items()}},
        }
    )
    assert table.rows == (
        ("af-south-1", None, None, 0.0000003),
        ("mx-central-1", 0.00002, 0.00003, None),
    )

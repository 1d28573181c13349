"""`bucketsum tune prices`: the prices in use, and those of AWS's price list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber
from tests.cli.tune.sweeps import a_grid, a_run

from bucketsum_cli.aws.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.tune.state_machine import StateMachine

    from bucketsum_lab.results.measurements_table import MeasurementsTable

USD = {
    "AWS-Lambda-Duration": "0.0000300000",
    "AWS-Lambda-Duration-ARM": "0.0000200000",
    "AWS-Lambda-Requests": "0.0000003000",
    "AWS-Lambda-Requests-ARM": "0.0000003100",
    "AWS-Lambda-Storage-Duration": "0.0000000400",
}


def product(group: str, usd: str, region: str = "us-east-1") -> str:
    """A product as the Price List API has it, with a second tier at half the price."""
    tiers = {"0": usd, "6000000000": f"{float(usd) / 2:.10f}"}
    dimensions = {
        f"SKU.TERM.{first}": {
            "unit": "Lambda-GB-Second",
            "beginRange": first,
            "endRange": "Inf",
            "pricePerUnit": {"USD": price},
        }
        for first, price in reversed(tiers.items())
    }
    return json.dumps(
        {
            "product": {
                "productFamily": "Serverless",
                "attributes": {"group": group, "regionCode": region, "servicecode": "AWSLambda"},
                "sku": "SKU",
            },
            "serviceCode": "AWSLambda",
            "terms": {"OnDemand": {"SKU.TERM": {"priceDimensions": dimensions}}},
            "version": "20261101",
        }
    )


@pytest.fixture
def price_list(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], None]:
    """Lets the Price List API answer with these products, in two pages."""
    make_client = Connection.client
    pricing = boto3.client("pricing", "us-east-1")

    def client(connection: Connection, service: str, region: str | None = None) -> Any:  # noqa: ANN401 - as `Connection.client`
        if service != "pricing":
            return make_client(connection, service, region)
        assert region == "us-east-1"
        return pricing

    def answer(products: list[str]) -> None:
        expected = {
            "ServiceCode": "AWSLambda",
            "Filters": [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"}],
            "FormatVersion": "aws_v1",
        }
        stubber = Stubber(pricing)
        pages: Any = [{"PriceList": products[:2], "NextToken": "2"}, {"PriceList": products[2:]}]
        stubber.add_response("get_products", pages[0], expected)
        stubber.add_response("get_products", pages[1], {**expected, "NextToken": "2"})
        stubber.activate()
        monkeypatch.setattr(Connection, "client", client)

    return answer


def test_prices_are_shown_with_date_and_source(run: Run, measurements: MeasurementsTable) -> None:
    """Both architectures of the stack's Region, as the table has them."""
    assert next(measurements.runs(), None) is None
    ended = run("tune", "prices")
    assert ended.status == 0
    assert ended.out.splitlines()[1].split() == [
        "arm64", "0.0000133334", "0.200", "0.0000000309", "2026-11-01",
        "https://aws.amazon.com/lambda/pricing/",
    ]  # fmt: skip
    assert ended.out.splitlines()[2].split()[:2] == ["x86_64", "0.0000166667"]
    assert ended.err == "Lambda in us-east-1, first tier of its prices\n"


def test_refreshed_prices_are_those_of_the_first_tier(
    run: Run, measurements: MeasurementsTable, price_list: Callable[[list[str]], None]
) -> None:
    """They stay in use; products of other groups and Regions are ignored."""
    price_list(
        [
            product("AWS-Lambda-Edge-Duration", "0.5"),
            product("AWS-Lambda-Duration", "0", region=""),
            *(product(group, usd) for group, usd in USD.items()),
        ]
    )
    refreshed = run("tune", "prices", "--refresh", "--json")
    assert refreshed.status == 0, refreshed.err
    arm, x86 = refreshed.document
    assert (arm["usd_per_gb_second"], x86["usd_per_gb_second"]) == (0.00002, 0.00003)
    assert (arm["usd_per_request"], x86["usd_per_request"]) == (0.31e-6, 0.3e-6)
    assert arm["usd_per_gb_second_of_storage"] == 0.0000000309  # the list has none: the table's
    assert x86["usd_per_gb_second_of_storage"] == 0.00000004
    assert arm["source"] == "AWS's price list (pricing:GetProducts)"
    assert run("tune", "prices", "--json").document == refreshed.document
    assert measurements.prices("us-east-1", "arm64").gb_second == 0.00002


def test_a_list_without_a_price_changes_nothing(
    run: Run, measurements: MeasurementsTable, price_list: Callable[[list[str]], None]
) -> None:
    """Half a price list is not taken; the missing group is named."""
    price_list([product(group, usd) for group, usd in USD.items() if group[-3:] != "ARM"])
    ended = run("tune", "prices", "--refresh")
    assert ended.status == 2
    assert "no AWS-Lambda-Duration-ARM and no AWS-Lambda-Requests-ARM in us-east-1" in ended.err
    assert measurements.prices("us-east-1", "x86_64").source.startswith("https://")


def test_the_local_emulator_has_no_price_list(
    run: Run, measurements: MeasurementsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address would be expected with credentials that are not the user's."""
    assert next(measurements.runs(), None) is None
    monkeypatch.setattr("bucketsum_cli.tune.sweeper.Sweeper.is_local", True)
    ended = run("tune", "prices", "--refresh")
    assert (ended.status, ended.out) == (2, "")
    assert "the local emulator has no price list" in ended.err


def test_an_unknown_region_is_named_in_plan_table_and_report(
    run: Run,
    state_machine: StateMachine,
    monkeypatch: pytest.MonkeyPatch,
    record: Callable[..., object],
    tmp_path: Path,
) -> None:
    """Costs that are those of another Region never look like the own Region's."""
    assert state_machine.inputs == []
    record(*a_grid((512,)), a_run(region="mx-central-1", priced_as="us-east-1"))
    shown = "prices of us-east-1 of 2026-11-01, as those of mx-central-1 are not known"
    assert shown in run("tune", "show", "last").out
    page = tmp_path / "report.html"
    assert run("tune", "report", "last", "--output", page).status == 0
    assert "us-east-1: prices of mx-central-1 are not known" in page.read_text(encoding="utf-8")
    monkeypatch.setattr("bucketsum_cli.tune.sweeper.Sweeper.region", "mx-central-1")
    axes = ("--memory", "512", "--chunk", "256KiB", "--object-size", "20MB")
    assert shown in run("tune", "run", *axes, "--dry-run").err
    assert "`bucketsum tune prices --refresh` reads them" in run("tune", "prices").err

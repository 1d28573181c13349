"""scaling_limits: AWS's numbers, which of them is met first, and what AWS would refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.scaling import limits as scaling_limits
from bench.scaling.limits import Setting, tightest, uses
from bench.scaling.model import Burst
from botocore.session import Session
from tests.support.sam_template import load_template

ROOT = Path(__file__).parents[3]


def shape_range(name: str) -> tuple[int, int]:
    """What botocore's model of Lambda lets a number be."""
    shape = Session().get_service_model("lambda").shape_for(name)
    return shape.metadata["min"], shape.metadata["max"]


def test_ranges_are_those_of_aws() -> None:
    """MaximumConcurrency has the range of Lambda's API model; SQS starts pollers at 2, not 1."""
    assert shape_range("MaximumConcurrency") == scaling_limits.MAXIMUM_CONCURRENCY
    assert scaling_limits.MINIMUM_POLLERS[1] == shape_range("MinimumNumberOfPollers")[1]
    assert scaling_limits.MAXIMUM_POLLERS[1] == shape_range("MaximumNumberOfPollers")[1]


def test_a_message_is_as_large_as_the_shipped_event() -> None:
    """The size assumed of a message is that of a real one, to a tenth."""
    event = json.loads((ROOT / "events" / "sqs-s3-put.json").read_text())
    size = len(json.dumps(event["Records"][0], separators=(",", ":")))
    assert pytest.approx(size, rel=0.1) == scaling_limits.MESSAGE_BYTES


def test_the_function_is_given_the_time_assumed() -> None:
    """The template's time-out is the one that batches are held against."""
    hasher = load_template()["Resources"]["HasherFunction"]["Properties"]
    assert hasher["Timeout"] == scaling_limits.FUNCTION_SECONDS


@pytest.mark.parametrize(
    ("setting", "name", "most"),
    [
        (Setting("", maximum_concurrency=50), "MaximumConcurrency", 50),
        (
            Setting("", maximum_concurrency=1000, account_concurrency=300),
            "account concurrency",
            300,
        ),
        (Setting("", account_concurrency=5000), "the mapping's concurrency", 1250),
        (Setting("", pollers=(2, 20)), "pollers' concurrency", 200),
        (Setting("", pollers=(2, 200)), "account concurrency", 1000),
    ],
)
def test_the_tightest_concurrency(setting: Setting, name: str, most: int) -> None:
    """The least of the parameter, the mapping's or the pollers' own, and the account's."""
    found = tightest(setting.concurrency_limits())
    assert (found.name, found.most) == (name, most)


@pytest.mark.parametrize(
    ("setting", "batch_size", "name", "most"),
    [
        (Setting(""), 1, "DynamoDB writes", 4000),
        (Setting("", table_writes=40_000), 1, "S3 GETs", 5500),
        (Setting("", table_writes=40_000, gets_per_object=11), 1, "S3 GETs", 500),
        (Setting("", table_writes=40_000, prefixes=4), 1, "S3 GETs", 22_000),
        (Setting("", pollers=(2, 20)), 1, "pollers' polls", 200),
        (Setting("", pollers=(2, 20)), 100, "pollers' polls", 2000),
    ],
)
def test_the_tightest_rate(setting: Setting, batch_size: int, name: str, most: int) -> None:
    """The least of S3's requests, the table's writes and what the pollers fetch."""
    found = tightest(setting.rate_limits(batch_size))
    assert (found.name, found.most) == (name, most)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (Setting("", maximum_concurrency=1), "MaximumConcurrency is 1, not in 2..1000"),
        (Setting("", pollers=(1, 5)), "MinimumPollers is 1, not in 2..200"),
        (Setting("", pollers=(2, 10_001)), "MaximumPollers is 10001, not in 2..10000"),
        (Setting("", pollers=(9, 5)), "of 9 to 5 pollers, the least is above the most"),
        (Setting("", 5, (2, 5)), "provisioned pollers and MaximumConcurrency exclude each other"),
        (Setting("", maximum_concurrency=2), ""),
        (Setting("", pollers=(200, 10_000)), ""),
    ],
)
def test_what_aws_refuses(setting: Setting, why: str) -> None:
    """What the API would not take is told, with the range; what it takes is not."""
    assert setting.refused().startswith(why)
    assert bool(setting.refused()) == bool(why)


def test_pollers_start_with_ten_each() -> None:
    """Provisioned pollers are there from the start; more come by the thousand per minute."""
    ramp = Setting("", pollers=(20, 100)).ramp()
    assert (ramp.start, ramp.per_minute) == (200, 1000)


def test_a_steady_load_by_littles_law() -> None:
    """Ten objects a second that take 3 s each are thirty at a time; 50 allowed are used to 60 %."""
    found = uses(10, Burst(1, 3), Setting("", maximum_concurrency=50))
    assert found[0].limit.name == "MaximumConcurrency"
    assert found[0].used == pytest.approx(30)
    assert found[0].share == pytest.approx(0.6)


def test_a_steady_load_of_batches() -> None:
    """A batch of ten, five read at once, is 2 s for ten objects: one at a time does five a second.

    All ten are in flight meanwhile.
    """
    found = uses(5, Burst(1, 1, batch_size=10, at_once=5), Setting("", maximum_concurrency=2))
    used = {use.limit.name: use.used for use in found}
    assert used["MaximumConcurrency"] == pytest.approx(1)
    assert used["messages in flight"] == pytest.approx(10)
    assert used["uploads to S3"] == 5


def test_the_scarcest_comes_first() -> None:
    """What is exceeded most is told first."""
    shares = [use.share for use in uses(10_000, Burst(1, 0.07), Setting("", 50))]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 1

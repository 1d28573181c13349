"""scaling: estimates by hand, rules of every estimate, and AWS's limits as AWS has them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.scaling import limits
from bench.scaling.command import DOCUMENT
from bench.scaling.limits import RATE_LIMIT, Setting
from bench.scaling.model import SCALE_UP, Burst, Minute, estimate, uses
from bench.scaling.tables import DEFAULT, baseline_estimate
from botocore.session import Session
from hypothesis import given
from hypothesis import strategies as st
from tests.support.documents import Document
from tests.support.sam_template import load_template

BURSTS = st.builds(
    Burst,
    objects=st.integers(1, 5000),
    seconds_per_object=st.floats(0.01, 50),
)
MAPPINGS = st.builds(
    Setting,
    name=st.just(""),
    maximum_concurrency=st.none() | st.integers(2, 1000),
    account_concurrency=st.integers(5, 2000),
    per_minute=st.integers(1, 300),
    evenly=st.booleans(),
)


def test_the_first_row_is_the_baselines() -> None:
    """30, 390, 750 and 1,170 files, with 5, 65 and 125 concurrent invocations."""
    assert baseline_estimate().rows[0][1:] == ("5 → 65 → 125", 30, 390, 750, 1170)


def test_bursts_by_hand() -> None:
    """Rounds of objects, DynamoDB's 4,000 writes per second, and the limit of each minute."""
    cap = "MaximumConcurrency"
    two = estimate(Burst(7, 25), Setting("", maximum_concurrency=2))
    assert (two.seconds, two.minutes) == (100, (Minute(4, 2, cap), Minute(3, 2, cap)))
    small = estimate(Burst(9_000, 0.001), Setting("", maximum_concurrency=5))
    assert (small.seconds, small.minutes) == (3, (Minute(9_000, 5, "DynamoDB writes"),))
    capped = estimate(Burst(60, 30), Setting("", maximum_concurrency=15, per_minute=10))
    first, *others = [minute.limit for minute in capped.minutes]
    assert (first, set(others)) == (SCALE_UP, {cap})


@pytest.mark.parametrize(
    ("setting", "concurrency"),
    [
        (Setting(""), {0: 5, 59: 5, 60: 305, 300: 1000}),
        (Setting("", evenly=True), {0: 5, 59: 300, 60: 305}),
        (Setting("", account_concurrency=5000), {300: 1250}),
        (Setting("", per_minute=150_000), {0: 5, 60: 1000}),
    ],
    ids=["steps", "evenly", "mapping", "account"],
)
def test_concurrency_grows(setting: Setting, concurrency: dict[int, int]) -> None:
    """At the end of each minute or evenly; never faster than environments start."""
    assert {second: setting.concurrency_at(second) for second in concurrency} == concurrency


@given(BURSTS, MAPPINGS)
def test_every_object_is_finished_once_and_no_limit_is_exceeded(
    burst: Burst, setting: Setting
) -> None:
    """The minutes add up to the burst, below the rate limit and below all concurrency."""
    result = estimate(burst, setting)
    assert sum(minute.finished for minute in result.minutes) == burst.objects
    most_per_minute = 60 * RATE_LIMIT.most
    cap = setting.concurrency_limit().most
    for minute in result.minutes:
        assert minute.finished <= most_per_minute + 1
        assert minute.concurrency <= cap
    work = burst.objects * burst.seconds_per_object
    assert result.seconds >= work / cap * (1 - 1e-9) - burst.seconds_per_object


@given(BURSTS, MAPPINGS, st.integers(0, 50))
def test_more_concurrency_never_finishes_later(burst: Burst, setting: Setting, more: int) -> None:
    """A higher quota and a steeper scale-up only help."""
    before = estimate(burst, setting).seconds
    larger = replace(setting, account_concurrency=setting.account_concurrency + more)
    assert estimate(burst, larger).seconds <= before
    steeper = replace(setting, per_minute=setting.per_minute + more)
    assert estimate(burst, steeper).seconds <= before


def test_a_constant_load_by_littles_law() -> None:
    """Ten objects per second that take 3 s each are thirty at a time; all shares are in order."""
    load = uses(10, Burst(1, 3), Setting("", maximum_concurrency=50))
    assert load[0][0] == pytest.approx(30 / 50)
    assert load[0][1].name == "MaximumConcurrency"
    shares = [share for share, _ in load]
    assert shares == sorted(shares, reverse=True)


def test_limits_are_those_of_aws_and_the_template() -> None:
    """The page has the range of Lambda's API model, and every number of the model."""
    parameter = load_template()["Parameters"]["MaximumConcurrency"]
    assert parameter["Default"] == DEFAULT.maximum_concurrency
    shape = Session().get_service_model("lambda").shape_for("MaximumConcurrency")
    numbers = {row[0]: row[1] for row in Document.read(DOCUMENT).table("limit")}
    least, most = shape.metadata["min"], shape.metadata["max"]
    assert numbers["`MaximumConcurrency`"] == f"{least} to {most:,}"
    listed = "; ".join(numbers.values()).replace(",", "")
    for name, number in vars(limits).items():
        assert not isinstance(number, int) or f"{number}" in listed, name

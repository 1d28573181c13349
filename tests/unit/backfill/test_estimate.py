"""The estimate of a backfill, before anything starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bucketsum.prices import prices_in
from bucketsum_cli.backfill.estimate import Group, Limit, Setup, Work, estimate_of

PRICES = prices_in("us-east-1", "arm64")
DEPLOYED = Setup(memory_mb=256, concurrency=10, batch_size=10)
BILLION = 10**9


def test_a_billion_objects_cost_under_100_usd_of_orchestration() -> None:
    """Finding 10⁹ objects and passing them on costs less than a tenth of hashing them."""
    estimate = estimate_of(Work(BILLION, BILLION * 100_000), DEPLOYED, PRICES)
    assert estimate.usd_of(Group.ORCHESTRATION) < 100
    assert estimate.usd_of(Group.ORCHESTRATION) < estimate.usd_of(Group.HASHING) / 10


def test_requests_are_counted() -> None:
    """Each number of the estimate follows from the sizes of pages, messages and batches."""
    estimate = estimate_of(Work(1_000_000, 0), DEPLOYED, PRICES)
    numbers = {item.name: item.requests for item in estimate.items}
    assert numbers["S3 lists"] == 1000
    assert numbers["S3 GETs"] == numbers["rows written"] == numbers["look-ups of rows"] == 1_000_000
    assert numbers["hasher, Lambda requests"] == 10_000  # batches of 10 messages of 10 objects
    assert numbers["SQS requests"] > 10_000 + 2 * 10_000
    assert estimate.usd == pytest.approx(sum(item.usd for item in estimate.items))


def test_without_the_index_a_row_is_one_write() -> None:
    """With it, it is two."""
    setups = DEPLOYED, replace(DEPLOYED, is_indexed=False)
    usd = [
        item.usd
        for setup in setups
        for item in estimate_of(Work(1_000_000, 0), setup, PRICES).items
        if item.name == "rows written"
    ]
    assert usd == [1.25, 0.625]


def test_large_objects_are_alone_in_their_messages() -> None:
    """A message holds no more bytes than a retry may read again."""
    estimate = estimate_of(Work(1000, 1000 * 10**9), DEPLOYED, PRICES)
    numbers = {item.name: item.requests for item in estimate.items}
    assert numbers["hasher, Lambda requests"] == 100


@pytest.mark.parametrize(
    ("concurrency", "limit"), [(10, Limit.CONCURRENCY), (1000, Limit.REQUESTS)]
)
def test_the_limit_is_named(concurrency: int, limit: Limit) -> None:
    """More concurrency helps until S3's own limit for a prefix is reached."""
    setup = Setup(memory_mb=256, concurrency=concurrency, batch_size=10)
    assert estimate_of(Work(BILLION, 0), setup, PRICES).limited_by is limit


def test_no_objects_cost_nothing() -> None:
    """An empty bucket has an estimate, of zero."""
    estimate = estimate_of(Work(0, 0), DEPLOYED, PRICES)
    assert (estimate.usd, estimate.hours) == (0, 0)

"""cost.model: every item by hand, and the effects of batches and memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.cost.alternatives import alternatives
from bench.cost.model import ROW_WRITE_UNITS, Handling, cost_of
from bench.cost.prices import PRICES
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.digests_table import ReadSetup, Row, Status, Timing, item_of
from bucketsum.sweep.prices import prices_in

HANDLINGS = st.builds(
    Handling,
    memory_mb=st.integers(128, 10_240),
    architecture=st.sampled_from(["arm64", "x86_64"]),
    object_bytes=st.integers(1, 10**12),
    seconds=st.floats(0.001, 900),
    batch_size=st.integers(1, 10),
    gets=st.integers(1, 100),
)


def test_a_small_object_by_hand() -> None:
    """100 ms at 1,024 MB on x86, alone in its invocation, item by item."""
    cost = cost_of(Handling(1024, "x86_64", 10_000, 0.1))
    assert cost.lambda_time == pytest.approx(0.1 * 0.0000166667)
    assert cost.lambda_requests == pytest.approx(0.20e-6)
    assert cost.sqs == pytest.approx(3 * 0.40e-6)
    assert cost.s3 == pytest.approx(0.0004e-3)
    assert cost.dynamodb == pytest.approx(2 * 0.625e-6)
    assert cost.logs == pytest.approx(0.5e-9 * (710 + 1100) + 5e-6 * 0.05)
    items = (cost.lambda_time, cost.lambda_requests, cost.sqs, cost.s3, cost.dynamodb, cost.logs)
    assert cost.total == pytest.approx(sum(items))
    assert cost.requests == pytest.approx(cost.total - cost.lambda_time)


def test_a_batch_of_ten_by_hand() -> None:
    """The invocation, its log, its trace, receiving and deleting are shared; the rest is not."""
    cost = cost_of(Handling(1024, "arm64", 10_000, 0.1, batch_size=10))
    assert cost.lambda_time == pytest.approx(0.1 * 0.0000133334)
    assert cost.lambda_requests == pytest.approx(0.02e-6)
    assert cost.sqs == pytest.approx(1.2 * 0.40e-6)
    assert cost.dynamodb == pytest.approx(2 * 0.625e-6)
    assert cost.logs == pytest.approx(0.5e-9 * (710 + 110) + 5e-6 * 0.005)


def test_a_large_object_is_looked_up_first() -> None:
    """From 16 MiB on, half a read unit more."""
    small, large = (cost_of(Handling(512, "arm64", size, 1)) for size in (2**24 - 1, 2**24))
    assert large.dynamodb - small.dynamodb == pytest.approx(0.5 * 0.125e-6)


def test_time_is_billed_by_the_millisecond() -> None:
    """A tenth of a millisecond is one; a whole invocation is rounded up, not each object."""
    usd_per_ms = 0.001 * 0.0000133334
    assert cost_of(Handling(1024, "arm64", 1, 0.0001)).lambda_time == pytest.approx(usd_per_ms)
    shared = cost_of(Handling(1024, "arm64", 1, 0.0001, batch_size=10)).lambda_time
    assert shared == pytest.approx(usd_per_ms / 10)


@given(HANDLINGS)
def test_lambda_is_priced_as_the_sweep_prices_it(handling: Handling) -> None:
    """An invocation of one costs what the sweep's own table says."""
    alone = replace(handling, batch_size=1)
    cost = cost_of(alone)
    prices = prices_in("us-east-1", handling.architecture)
    lowest = prices.invocation_usd(handling.seconds * 1000, handling.memory_mb)
    highest = prices.invocation_usd(handling.seconds * 1000 + 1, handling.memory_mb)
    assert lowest * 0.999999 <= cost.lambda_time + cost.lambda_requests <= highest * 1.000001


@given(HANDLINGS)
def test_more_of_anything_never_costs_less(handling: Handling) -> None:
    """More memory, more time, more requests: never cheaper. Larger batches: never dearer."""
    total = cost_of(handling).total
    assert cost_of(replace(handling, memory_mb=handling.memory_mb + 1)).total >= total
    assert cost_of(replace(handling, seconds=handling.seconds * 1.1)).total >= total * (1 - 1e-9)
    assert cost_of(replace(handling, gets=handling.gets + 1)).total > total
    longer = replace(handling, batch_size=handling.batch_size * 2)
    assert cost_of(longer).total <= total * (1 + 1e-9)


def test_a_row_is_as_many_writes_as_priced() -> None:
    """A full row with a key of 200 characters is below 1 KB: a write, and one for the index."""
    row = Row(
        bucket="b" * 63,
        key="k" * 200,
        entry="v" * 32,
        status=Status.HASHED,
        size_bytes=10**12,
        sequencer="0" * 18,
        arrived_at="2026-11-21T00:00:00.000Z",
        recorded_at="2026-11-21T00:00:00.000Z",
        etag="e" * 36,
        sha1="a" * 40,
        timing=Timing(123456.789, 1234.567),
        setup=ReadSetup(chunk_bytes=2**20, streams=1, memory_mb=10_240),
    )
    size = sum(len(name) + len(next(iter(value.values()))) for name, value in item_of(row).items())
    assert size <= 1024
    assert ROW_WRITE_UNITS == 2


def test_the_alternatives_by_hand() -> None:
    """AWS's estimate by ten; 0.4 cents a GB; 9 cents a GB; 0.937 Gbit/s at 7.25 cents an hour."""
    rows = alternatives().rows
    usd = {row[0].split(",")[0].split(" c7g")[0]: row[1] for row in rows}
    assert usd["AWS's fixity solution"] == pytest.approx(3.004)
    assert usd["S3 Batch Operations"] == pytest.approx(4 + 0.25 + 0.001)
    assert usd["a laptop"] == pytest.approx(90 + 0.0004)
    assert usd["an EC2"] == pytest.approx(8e12 / 0.937e9 / 3600 * 0.0725 + 0.0004)


def test_every_price_says_where_it_is_from() -> None:
    """AWS's page, and the text that the price was read from."""
    for price in PRICES:
        assert price.usd > 0
        assert price.page
        assert price.read

"""The estimate of a backfill, before anything starts."""

from dataclasses import replace

import pytest

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import prices_in
from bucketsum_cli.backfill.estimate import Group, Limit, Setup, estimate_of
from bucketsum_cli.backfill.estimate_views import remarks_of
from bucketsum_cli.backfill.work import Work

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
    ("concurrency", "size_bytes", "limit"),
    [
        (10, 0, Limit.CONCURRENCY),
        (60, 0, Limit.CONCURRENCY),
        (70, 0, Limit.TABLE),
        (1000, 0, Limit.TABLE),
        (1000, 20_000_000, Limit.REQUESTS),  # several GETs each
    ],
)
def test_the_limit_is_named(concurrency: int, size_bytes: int, limit: Limit) -> None:
    """More concurrency helps until a new table's limit, or S3's for a prefix, is reached."""
    setup = Setup(memory_mb=1769, concurrency=concurrency, batch_size=10)
    setup = replace(setup, memory_mb=256 if not size_bytes else 1769)
    assert estimate_of(Work(BILLION, BILLION * size_bytes), setup, PRICES).limited_by is limit


def test_a_verification_is_one_write_and_no_new_row() -> None:
    """It changes no attribute of the index, and the rows are there and paid for."""
    work = Work(1_000_000, 10**12)
    estimates = [estimate_of(work, DEPLOYED, PRICES, purpose) for purpose in Purpose]
    written = [i.usd for e in estimates for i in e.items if i.name == "rows written"]
    assert written == [1.25, 0.625]
    assert [bool(estimate.rows_usd_per_month) for estimate in estimates] == [True, False]


def test_objects_that_are_passed_over_are_listed_and_looked_up_alone() -> None:
    """A verification each week pays its listing of everything, and the reading of what is due."""
    due, passed_over = Work(1000, 10**9), Work(1000, 10**9, passed_over=99_000)
    all_of_them = Work(100_000, 100 * 10**9)
    hashing, orchestration = (
        [
            estimate_of(work, DEPLOYED, PRICES, Purpose.VERIFY).usd_of(group)
            for work in (due, passed_over, all_of_them)
        ]
        for group in (Group.HASHING, Group.ORCHESTRATION)
    )
    assert hashing[0] <= hashing[1] < 0.1 * hashing[2]
    assert orchestration[1] > 5 * orchestration[0]


@pytest.mark.parametrize("memory_mb", [128, 256, 512, 1769, 10_240])
@pytest.mark.parametrize("algorithm", EXTRA_ALGORITHMS)
def test_another_digest_takes_time_where_the_cpu_is_the_limit(
    memory_mb: int, algorithm: str
) -> None:
    """Each digest has its CPU time; with more memory, the network stays the limit."""
    setup = Setup(memory_mb, 10, 10)
    more = replace(setup, algorithms=(algorithm,))
    assert more.bytes_per_second <= setup.bytes_per_second
    if memory_mb == 128:
        assert more.bytes_per_second < setup.bytes_per_second
    if memory_mb >= 1769:
        assert more.bytes_per_second == setup.bytes_per_second
    work = Work(1000, 10**12)
    assert estimate_of(work, more, PRICES).hours >= estimate_of(work, setup, PRICES).hours


def test_no_objects_cost_nothing() -> None:
    """An empty bucket has an estimate, of zero."""
    estimate = estimate_of(Work(0, 0), DEPLOYED, PRICES)
    assert (estimate.usd, estimate.hours) == (0, 0)


def test_a_checksum_of_aws_is_cheaper_for_small_objects_and_one_digest() -> None:
    """S3 Batch Operations computes one checksum in a job."""
    work = Work(BILLION, BILLION * 100_000)
    alone = estimate_of(work, DEPLOYED, PRICES)
    both = estimate_of(work, replace(DEPLOYED, algorithms=("sha256",)), PRICES)
    assert alone.checksum_usd == pytest.approx(1400.25)
    assert both.checksum_usd == pytest.approx(2800.5)
    assert (alone.checksum_is_cheaper, both.checksum_is_cheaper) == (True, False)
    assert not estimate_of(Work(1_000_000, 10**12), DEPLOYED, PRICES).checksum_is_cheaper


def test_a_new_table_has_a_limit_and_a_way_around_it() -> None:
    """Throttled writes are read again, and end as dead letters: the command is named before."""
    work = Work(BILLION, 0)
    estimate = estimate_of(work, replace(DEPLOYED, concurrency=100), PRICES)
    text = " ".join(remarks_of(work, estimate, "us-east-1", Purpose.RECORD))
    assert "limited by a new table's 4,000 writes per second" in text
    assert "--warm-throughput" in text

"""The price of an archive, and of reading it again and again."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.hashing.ending import Purpose
from bucketsum.prices import prices_in
from bucketsum_cli.backfill.alternatives import Service, alternatives
from bucketsum_cli.backfill.archive_price import ArchivePrice, VerificationPlan, price_of
from bucketsum_cli.backfill.estimate import Group, Setup, estimate_of
from bucketsum_cli.backfill.work import Work

PRICES = prices_in("us-east-1", "arm64")
DEPLOYED = Setup(memory_mb=256, concurrency=10, batch_size=10)
ARCHIVE = Work(12_000_000, 39_600_000_000_000, {"STANDARD": 29_700_000_000_000,
                                                "STANDARD_IA": 9_900_000_000_000})  # fmt: skip


def usd(price: ArchivePrice, service: str, item: str = "sum") -> tuple[float, float]:
    """The prices of a line."""
    [line] = [line for line in price.lines if (line.service, line.item) == (service, item)]
    return line.usd_once, line.usd_per_year


@given(days=st.integers(2, 3650), recorded=st.integers(0, 13))
def test_no_object_waits_longer_than_the_schedule_says(days: int, recorded: int) -> None:
    """Whenever it was recorded, it is read again within the days, and as often as is priced."""
    schedule = VerificationPlan(days)
    runs = (n * schedule.interval_days for n in count(1))
    first = next(run for run in runs if run - recorded >= schedule.older_than_days)
    second = next(run for run in runs if run - first >= schedule.older_than_days)
    assert first - recorded <= days
    assert second - first <= days
    assert schedule.readings_per_year == pytest.approx(365 / (second - first))


def test_the_first_reading_is_a_backfill_and_a_year_has_rows_and_verifications() -> None:
    """The lines add up, with the same model as a dry run."""
    price = price_of(ARCHIVE, DEPLOYED, PRICES, VerificationPlan(90))
    once, per_year = usd(price, "bucketsum")
    backfill = estimate_of(ARCHIVE, DEPLOYED, PRICES)
    assert once == pytest.approx(backfill.usd)
    assert usd(price, "bucketsum", "S3's retrieval") == pytest.approx((99.0, 99 * 365 / 84))
    rows = usd(price, "bucketsum", "rows in DynamoDB, with recovery")
    assert rows == pytest.approx((0, 12 * backfill.rows_usd_per_month))
    verifications = usd(price, "bucketsum", "reading and hashing")[1]
    assert per_year == pytest.approx(verifications + 99 * 365 / 84 + rows[1])
    whole = estimate_of(ARCHIVE, DEPLOYED, PRICES, Purpose.VERIFY)
    reading = 365 / 84 * whole.usd_of(Group.HASHING)
    assert reading < verifications < reading + 53 * whole.usd_of(Group.ORCHESTRATION)


def test_without_a_schedule_a_year_is_the_rows() -> None:
    """Nothing is read again, and no alternative costs anything."""
    price = price_of(ARCHIVE, DEPLOYED, PRICES, None)
    assert (
        usd(price, "bucketsum")[1] == usd(price, "bucketsum", "rows in DynamoDB, with recovery")[1]
    )
    assert {line.usd_per_year for line in price.lines if line.service != "bucketsum"} == {0}


def test_other_readers_pay_s3s_retrieval_too() -> None:
    """All but the checksums of S3 itself, which read nothing."""
    standard = Work(ARCHIVE.object_count, ARCHIVE.size_bytes)
    more = {
        service: price - alternatives(standard)[service]
        for service, price in alternatives(ARCHIVE).items()
    }
    assert more.pop(Service.CHECKSUM) == 0
    assert list(more.values()) == pytest.approx([99.0] * len(more))

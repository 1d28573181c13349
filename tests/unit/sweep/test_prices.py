"""prices: dated, per Region and architecture; what is not known is an error."""

from __future__ import annotations

from datetime import date

import pytest

from bucketsum.errors import BadSweep
from bucketsum.sweep.prices import PRICE_DATE, prices_in


def test_a_known_invocation_costs_what_aws_charges() -> None:
    """One second at 1,024 MB on x86 is one GB-second and one request."""
    prices = prices_in("us-east-1", "x86_64")
    assert prices.invocation_usd(1000, 1024) == pytest.approx(0.0000166667 + 0.0000002)


def test_arm_costs_a_fifth_less_per_second() -> None:
    """The two architectures have prices of their own."""
    arm, x86 = (prices_in("us-east-1", one).gb_second for one in ("arm64", "x86_64"))
    assert arm == pytest.approx(x86 * 0.8, rel=1e-4)


def test_storage_above_512_mb_costs_extra() -> None:
    """The first 512 MB of /tmp are free."""
    prices = prices_in("us-east-1", "arm64")
    free, extra = (prices.invocation_usd(1000, 128, storage_mb=one) for one in (512, 1536))
    assert extra - free == pytest.approx(0.0000000309)
    assert free == prices.invocation_usd(1000, 128)


@pytest.mark.parametrize(
    ("region", "architecture", "told"),
    [
        ("mars-1", "arm64", "no prices for the Region 'mars-1'; known are us-east-1"),
        ("", "arm64", "no prices for the Region ''"),
        ("us-east-1", "riscv", "no prices for the architecture 'riscv'"),
    ],
)
def test_what_the_table_lacks_is_an_error(region: str, architecture: str, told: str) -> None:
    """There is no default price; the text names what is known and where to look."""
    with pytest.raises(BadSweep, match=told):
        prices_in(region, architecture)


def test_the_table_is_dated() -> None:
    """Every result says of when its prices are."""
    assert date.fromisoformat(PRICE_DATE) == date.fromisoformat(
        prices_in("us-east-1", "arm64").date
    )

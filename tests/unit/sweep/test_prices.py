"""prices: dated, by Region and architecture; an unknown Region has those of us-east-1."""

from dataclasses import replace

import pytest

from bucketsum.prices import prices_in


def test_a_known_invocation_costs_what_aws_charges() -> None:
    """One second at 1,024 MB on x86 is one GB-second and one request."""
    prices = prices_in("us-east-1", "x86_64")
    assert prices.invocation_usd(1000, 1024) == pytest.approx(0.0000166667 + 0.0000002)


def test_storage_above_512_mb_costs_extra() -> None:
    """The first 512 MB of /tmp are free."""
    prices = prices_in("us-east-1", "arm64")
    free, extra = (prices.invocation_usd(1000, 128, storage_mb=size) for size in (512, 1536))
    assert extra - free == pytest.approx(0.0000000309)
    assert free == prices.invocation_usd(1000, 128)


@pytest.mark.parametrize(
    ("region", "x86_usd", "arm_usd"),
    [
        ("eu-central-1", 0.0000166667, 0.0000133334),
        ("ap-east-1", 0.00002292, 0.0000183),
        ("me-central-1", 0.0000206667, 0.0000165334),
    ],
)
def test_a_known_region_has_prices_of_its_own(region: str, x86_usd: float, arm_usd: float) -> None:
    """Some Regions cost more than us-east-1; requests too."""
    x86, arm = prices_in(region, "x86_64"), prices_in(region, "arm64")
    assert (x86.gb_second, arm.gb_second) == (x86_usd, arm_usd)
    assert (x86.region, x86.priced_as) == (region, None)
    assert (x86.request > 0.2e-6) == (region != "eu-central-1")


@pytest.mark.parametrize("region", ["mars-1", ""])
def test_an_unknown_region_is_priced_as_us_east_1_and_says_so(region: str) -> None:
    """A guess that names its origin, never a refusal."""
    known = prices_in("us-east-1", "arm64")
    assert prices_in(region, "arm64") == replace(known, region=region, priced_as="us-east-1")


def test_an_unknown_architecture_is_refused() -> None:
    """The text names the known architectures."""
    with pytest.raises(ValueError, match="architecture 'riscv'; known are arm64, x86_64"):
        prices_in("us-east-1", "riscv")

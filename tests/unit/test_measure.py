"""MB/s are 10⁶ bytes per second."""

from __future__ import annotations

import pytest

from bucketsum.measure import Measurement


@pytest.mark.parametrize(
    ("size_bytes", "seconds", "mb_per_s"),
    [(5_000_000, 2.0, 2.5), (1_048_576, 1.0, 1.048576), (0, 1.0, 0.0), (500, 0.001, 0.5)],
)
def test_speed_is_millions_of_bytes_per_second(
    size_bytes: int, seconds: float, mb_per_s: float
) -> None:
    """MB is 10⁶ bytes, not 2²⁰."""
    assert Measurement(size_bytes, seconds).mb_per_s == pytest.approx(mb_per_s)


@pytest.mark.parametrize("seconds", [0.0, -0.001])
def test_no_time_is_no_speed(seconds: float) -> None:
    """A clock that did not advance, or went back, gives 0 and no error."""
    assert Measurement(1, seconds).mb_per_s == 0.0

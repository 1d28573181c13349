"""MB/s are 10⁶ bytes per second."""

import pytest

from bucketsum.measure import Measurement


@pytest.mark.parametrize(
    ("size_bytes", "seconds", "mb_per_s"),
    [(1_048_576, 2.0, 0.524288), (0, 1.0, 0.0), (1, 0.0, 0.0), (1, -0.001, 0.0)],
)
def test_speed_is_millions_of_bytes_per_second(
    size_bytes: int, seconds: float, mb_per_s: float
) -> None:
    """MB is 10⁶ bytes, not 2²⁰; a clock that did not advance, or went back, gives 0."""
    assert Measurement(size_bytes, seconds).mb_per_s == pytest.approx(mb_per_s)

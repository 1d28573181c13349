"""formatting: numbers are exact if possible, and otherwise have the documented digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum_cli.terminal.formatting import duration_text, usd_text
from bucketsum_cli.tune.formatting import chunk_text, percent_text, seconds_text, used_text

UNITS = {"MiB": 1024**2, "MB": 10**6, "KiB": 1024, "kB": 1000, "B": 1}


@given(st.integers(1, 10**10))
def test_a_chunk_size_is_never_rounded(chunk_bytes: int) -> None:
    """The text is exactly the size that is deployed."""
    number, unit = chunk_text(chunk_bytes).split()
    assert int(number.replace(",", "")) * UNITS[unit] == chunk_bytes


@given(st.floats(1e-12, 1e3))
def test_dollars_have_three_digits_and_no_exponent(usd: float) -> None:
    """However small a cost is, a person can compare it digit by digit; commas part thousands."""
    text = usd_text(usd).replace(",", "")
    assert set(text) <= set("0123456789.")
    assert float(text) == pytest.approx(usd, rel=0.006)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(7.4, "7 s"), (80, "1 min 20 s"), (59.6, "1 min 0 s"), (7500, "2 h 5 min")],
)
def test_a_time_to_wait_has_two_units(seconds: float, text: str) -> None:
    """More digits would say that it is known so exactly."""
    assert duration_text(seconds) == text


def test_what_is_not_known_is_a_dash() -> None:
    """Nothing measured is not 0."""
    assert {usd_text(None), seconds_text(None), percent_text(None), used_text(None)} == {"–"}
    assert (usd_text(0), seconds_text(9.9996), seconds_text(217.84)) == ("0", "10.000", "217.84")

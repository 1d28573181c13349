"""scaling_model: the article's arithmetic comes out, and no burst beats its limits."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import pytest
from bench.scaling.model import (
    SCALE_UP,
    US_PER_SECOND,
    Burst,
    Limit,
    Minute,
    Ramp,
    invocations,
    simulate,
)
from hypothesis import given
from hypothesis import strategies as st


def limit(most: float, name: str = "cap") -> Limit:
    """A limit of which only the number matters."""
    return Limit(name, most, "")


BURSTS = st.builds(
    Burst,
    objects=st.integers(0, 300),
    seconds_per_object=st.floats(0.01, 100),
    batch_size=st.integers(1, 12),
    at_once=st.integers(1, 4),
    seconds_per_invocation=st.floats(0, 5),
)
RAMPS = st.builds(
    Ramp,
    start=st.integers(1, 20),
    per_minute=st.integers(0, 300),
    step_seconds=st.sampled_from([1, 60]),
    per_10_seconds=st.integers(1, 100),
)
CAPS = st.integers(1, 200).map(limit)
RATES = st.none() | st.floats(0.5, 500).map(limit)


def test_the_articles_napkin() -> None:
    """5, 65 and 125 at a time, 10 s each: 30, 390 and 750 files in minutes 1, 2 and 3."""
    run = simulate(Burst(100_000, 10), Ramp(start=5, per_minute=60), limit(1000))
    assert [minute.finished for minute in run.minutes[:3]] == [30, 390, 750]
    assert [minute.concurrency for minute in run.minutes[:3]] == [5, 65, 125]


def test_one_after_the_other_by_hand() -> None:
    """Seven objects, two at a time, 25 s each: four rounds, two of them in the first minute."""
    run = simulate(Burst(7, 25), Ramp(2, 300), limit(2))
    assert run.seconds == 100
    assert run.minutes == (Minute(4, 2, "cap"), Minute(3, 2, "cap"))


def test_batches_by_hand() -> None:
    """Ten objects in batches of 4, 2 of them read at once, 3 s each and 1 s beside: 7, 7, 4 s."""
    burst = Burst(10, 3, batch_size=4, at_once=2, seconds_per_invocation=1)
    took = [one.end_us - one.start_us for one in invocations(burst, Ramp(1, 0), limit(1))]
    assert took == [7 * US_PER_SECOND, 7 * US_PER_SECOND, 4 * US_PER_SECOND]
    assert simulate(burst, Ramp(1, 0), limit(1)).seconds == 18


def test_what_ends_with_a_minute_belongs_to_it() -> None:
    """Six objects of 10 s fill the first minute exactly."""
    assert [one.finished for one in simulate(Burst(6, 10), Ramp(1, 0), limit(1)).minutes] == [6]


@pytest.mark.parametrize(
    ("ramp", "seconds"),
    [
        (Ramp(2, 3), [0, 0, 60, 60, 60, 120]),
        (Ramp(2, 3, step_seconds=1), [0, 0, 20, 40, 60, 80]),
        (Ramp(2, 0), [0, 0]),
        (Ramp(6, 300, per_10_seconds=2), [0, 0, 10, 10, 20, 20]),
    ],
    ids=["steps", "evenly", "no ramp", "new environments"],
)
def test_when_concurrency_grows(ramp: Ramp, seconds: list[int]) -> None:
    """Together when the minute is over, or evenly; never faster than environments start."""
    assert [us / US_PER_SECOND for us in ramp.openings_us(6)] == seconds


def test_the_rate_binds_where_concurrency_does_not() -> None:
    """1,000 at a time could do 1,000 a second; a rate of 10 lets 11 at once and 10 a second."""
    run = simulate(Burst(611, 1), Ramp(1000, 0), limit(1000), limit(10, "rate"))
    assert run.seconds == 61
    assert run.minutes == (Minute(601, 1000, "rate"), Minute(10, 1000, "rate"))


def test_what_binds_is_told_minute_by_minute() -> None:
    """First the scale-up, then the cap; nothing in the last, in which no more is started."""
    run = simulate(Burst(25, 50), Ramp(5, 10), limit(15))
    assert [minute.bound_by for minute in run.minutes] == [SCALE_UP, "cap", ""]


def test_nothing_to_do_takes_no_time() -> None:
    """No objects, no minutes."""
    run = simulate(Burst(0, 1), Ramp(5, 300), limit(5))
    assert (run.minutes, run.seconds) == ((), 0)


def test_nothing_allowed_is_an_error() -> None:
    """A cap of none would wait for ever."""
    with pytest.raises(ValueError, match="nothing is ever hashed"):
        simulate(Burst(1, 1), Ramp(5, 300), limit(0))


@given(BURSTS, RAMPS, CAPS, RATES)
def test_every_object_is_finished_once(
    burst: Burst, ramp: Ramp, cap: Limit, rate: Limit | None
) -> None:
    """The minutes add up to the burst, whatever the limits."""
    run = simulate(burst, ramp, cap, rate)
    assert sum(minute.finished for minute in run.minutes) == burst.objects
    assert not run.minutes or run.minutes[-1].finished > 0


@given(BURSTS, RAMPS, CAPS, RATES)
def test_never_more_at_a_time_than_allowed(
    burst: Burst, ramp: Ramp, cap: Limit, rate: Limit | None
) -> None:
    """At every start no more are under way than the ramp has opened by then, nor than the cap."""
    openings = list(ramp.openings_us(int(cap.most)))
    all_of_them = list(invocations(burst, ramp, cap, rate))
    for one in all_of_them:
        under_way = sum(other.start_us <= one.start_us < other.end_us for other in all_of_them)
        assert under_way <= bisect_right(openings, one.start_us) <= cap.most


@given(BURSTS, RAMPS, CAPS, st.floats(0.5, 500))
def test_never_faster_than_the_rate(burst: Burst, ramp: Ramp, cap: Limit, rate: float) -> None:
    """Between any two starts lie no more objects than the rate allows in that time and 1 s more."""
    starts = list(invocations(burst, ramp, cap, limit(rate)))
    begun = 0
    for one in starts:
        assert begun <= rate * (one.start_us / US_PER_SECOND + 1) + 1e-3
        begun += one.messages


@given(BURSTS, RAMPS, CAPS, RATES, st.integers(0, 50))
def test_more_concurrency_never_finishes_later(
    burst: Burst, ramp: Ramp, cap: Limit, rate: Limit | None, more: int
) -> None:
    """A higher cap, a higher start and a steeper ramp only help."""
    before = simulate(burst, ramp, cap, rate).seconds
    assert simulate(burst, ramp, replace(cap, most=cap.most + more), rate).seconds <= before
    assert simulate(burst, replace(ramp, start=ramp.start + more), cap, rate).seconds <= before
    steeper = replace(ramp, per_minute=ramp.per_minute + more)
    assert simulate(burst, steeper, cap, rate).seconds <= before


@given(BURSTS, RAMPS, CAPS)
def test_no_faster_than_all_of_the_cap_at_once(burst: Burst, ramp: Ramp, cap: Limit) -> None:
    """The work divided by the cap is a bound that no schedule beats."""
    work_us = sum(one.end_us - one.start_us for one in invocations(burst, ramp, cap))
    assert simulate(burst, ramp, cap).seconds >= work_us / cap.most / US_PER_SECOND - 1e-9

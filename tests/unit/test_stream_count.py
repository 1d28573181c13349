"""The number of streams that follows the throughput, over simulated links."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.unit.simulated_link import Link, read, without_rule

from bucketsum.prices import S3_GET, prices_in
from bucketsum.s3.read_plan import ReadPlan, ReadPolicy
from bucketsum.s3.stream_count import GET_GB_SECONDS, StreamCount, StreamRule

MIB: Final = 1024 * 1024
GB: Final = 10**9
STEADY: Final = Link(78e6)
BURST: Final = Link(78e6, burst_bytes=300e6)
_QUICK_FIRST_BYTE_SECONDS: Final = 0.08


def cpu_of(memory_mb: int) -> float:
    """Bytes per second that a function of this memory hashes and decrypts."""
    return min(900e6, 900e6 * memory_mb / 1769)


def plan_of(memory_mb: int) -> ReadPlan:
    """The plan of ``auto`` for a large object."""
    return ReadPolicy(None, MIB, memory_mb).plan_for(GB)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


class Windows:
    """A stream count whose windows bring given throughputs."""

    def __init__(self, memory_mb: int = 3008) -> None:
        plan = plan_of(memory_mb)
        assert plan.rule
        self._clock = Clock()
        self.count = StreamCount(plan.streams, plan.part_bytes, plan.rule, self._clock)
        self._received = 0
        self.look(0)

    def look(self, received: int, seconds: float = 0.02, waiting: int = 0) -> None:
        """So many bytes come in this time."""
        self._clock.now += seconds
        self._received += received
        self.count.look(self._received, running=self.count.streams, waiting=waiting)

    def bring(self, rate: float) -> int:
        """A window with *rate* bytes per second ends; returns the number of streams."""
        seconds = self.count.streams * self.count.part_bytes / rate
        self.look(1)
        self.look(int(rate * seconds), seconds)
        return self.count.streams


@pytest.mark.parametrize(
    ("memory_mb", "link"),
    [
        (512, STEADY),
        (512, BURST),
        (512, Link(78e6, connection=20e6)),
        (1769, STEADY),
        (1769, BURST),
        (3008, Link(150e6)),
        (3538, Link(375e6)),
        (3538, STEADY),
        (3538, Link(375e6, connection=20e6)),
        (3538, Link(375e6, first_byte_seconds=0.2)),
        (10_240, Link(375e6, burst_bytes=600e6)),
    ],
)
def test_never_slower_than_the_better_fixed_number(memory_mb: int, link: Link) -> None:
    """It is at most 3 % slower than one stream or all of them, whatever limits the throughput."""
    link = link.with_cpu(cpu_of(memory_mb))
    plan = plan_of(memory_mb)
    fixed = [read(link, other, GB).seconds for other in (ReadPlan(), without_rule(plan))]
    assert read(link, plan, GB).seconds <= 1.03 * min(fixed)


@given(
    memory_mb=st.sampled_from([512, 1024, 1769, 2048, 3008, 10_240]),
    link=st.builds(
        Link,
        sustained=st.floats(40e6, 375e6),
        burst_bytes=st.sampled_from([0, 300e6, 600e6]),
        connection=st.floats(60e6, 110e6),
        first_byte_seconds=st.floats(0.02, 0.2),
    ),
)
@hypothesis_settings(max_examples=20)
def test_what_is_slower_is_cheaper(memory_mb: int, link: Link) -> None:
    """Compared with each fixed number: at most 6 % slower, or at most 6 % dearer with its GETs.

    If the first byte takes more than 0.08 s, each trial costs more: then 17 % (decision 0010).
    """
    bound = 1.06 if link.first_byte_seconds <= _QUICK_FIRST_BYTE_SECONDS else 1.17
    link = link.with_cpu(cpu_of(memory_mb))
    plan = plan_of(memory_mb)
    auto = read(link, plan, GB)
    for fixed in (read(link, ReadPlan(), GB), read(link, without_rule(plan), GB)):
        slower = auto.seconds / fixed.seconds
        dearer = auto.gb_seconds(memory_mb) / fixed.gb_seconds(memory_mb)
        assert min(slower, dearer) <= bound


def test_without_a_burst_one_request_brings_most_of_an_object() -> None:
    """At 512 MB: four parts at first, one that shows that one stream is enough, and the rest."""
    reading = read(STEADY.with_cpu(cpu_of(512)), plan_of(512), GB)
    assert (reading.gets, reading.streams) == (6, (4, 1))


def test_no_more_connections_than_the_link_needs() -> None:
    """1,200 and 3,000 Mbit/s need three and six to seven connections of S3, not twelve."""
    assert read(Link(150e6), plan_of(3008), GB).streams[-1] == 3
    assert read(Link(375e6), plan_of(3538), GB).streams[-1] in (6, 7)


def test_a_guess_that_was_wrong_is_taken_back() -> None:
    """If fewer connections bring less, there are soon more again, and the guess is not repeated."""
    windows = Windows()
    assert windows.bring(300e6) < 12
    guesses = [windows.count.streams]
    while windows.bring(20e6 * windows.count.streams) < 12:
        guesses.append(windows.count.streams)
    assert guesses == sorted(set(guesses))
    assert windows.bring(300e6) == 12


def test_a_small_difference_changes_nothing() -> None:
    """Windows differ by some percent; the number stays."""
    windows = Windows()
    chosen = windows.bring(150e6)
    assert [windows.bring(rate) for rate in (145e6, 155e6, 142e6)] == [chosen] * 3


def test_the_end_of_a_burst_is_seen() -> None:
    """A window that is much slower is not judged; the next is, as the first was."""
    windows = Windows()
    several = windows.bring(400e6)
    assert windows.bring(390e6) == several
    assert windows.bring(200e6) == several  # half of it was in the burst
    assert windows.bring(78e6) == 1
    assert not windows.count.takes_rest
    windows.bring(78e6)
    assert windows.count.takes_rest


def test_one_stream_is_tried_three_times() -> None:
    """A slow moment does not make a whole object dear; a slow connection does not stay a guess."""
    windows = Windows()
    assert windows.bring(78e6) == 1
    for _ in range(2):
        assert windows.bring(20e6) > 1
        while windows.bring(78e6) > 1:
            pass
    several = windows.bring(20e6)
    assert [windows.bring(78e6) for _ in range(3)] == [several] * 3


def test_one_stream_is_not_judged_by_the_time_between_its_requests() -> None:
    """A window in which it waits for a first byte does not count."""
    windows = Windows()
    assert windows.bring(78e6) == 1
    windows.look(1)
    windows.look(10**6, 0.2, waiting=1)
    assert windows.bring(78e6) == 1
    assert windows.count.takes_rest


@pytest.mark.parametrize("fault", ["failure", "silence", "unanswered"])
def test_faults_say_nothing_about_the_link(fault: str) -> None:
    """After a failed request or a silence of all connections, a new window begins."""
    windows = Windows()
    windows.look(1)
    windows.look(10**6)
    if fault == "failure":
        windows.count.forget_window()
    windows.look(0, 20.0, waiting=12 if fault == "unanswered" else 0)
    assert windows.bring(400e6) > 1


def test_a_constant_number_never_changes() -> None:
    """Without a rule nothing is measured."""
    count = StreamCount(3, MIB)
    assert not count.is_due
    assert not count.takes_rest


RATES: Final = st.dictionaries(st.integers(1, 12), st.floats(1e6, 1e9), min_size=1)


@given(rates=RATES, first_byte=st.floats(0, 1), memory_mb=st.integers(512, 10_240))
def test_a_guess_lies_between_too_few_and_enough(
    rates: dict[int, float], first_byte: float, memory_mb: int
) -> None:
    """Each guess is new and narrows the choice, so that guessing ends."""
    rule = plan_of(memory_mb).rule
    assert rule
    streams = rule.streams_for(rates, first_byte)
    enough = min(number for number, rate in rates.items() if rate >= 0.9 * max(rates.values()))
    too_few = max((number for number in rates if number < enough), default=0)
    assert streams in (1, enough) or too_few < streams < enough


@given(memory_mb=st.integers(512, 10_240), streams=st.integers(1, 12))
def test_parts_of_any_number_fit_into_the_memory(memory_mb: int, streams: int) -> None:
    """So many parts and one more never exceed what the settings reckon with."""
    plan = plan_of(memory_mb)
    assert plan.rule
    if streams <= plan.streams:
        part_bytes = plan.rule.part_bytes_for(streams)
        assert plan.part_bytes <= part_bytes
        assert (streams + 1) * part_bytes <= plan.held_bytes


def test_the_price_of_a_request_is_the_price_list_s() -> None:
    """A GET is counted in GB-seconds of arm64 in us-east-1."""
    price = prices_in("us-east-1", "arm64").gb_second
    assert pytest.approx(S3_GET.each / price, rel=1e-3) == GET_GB_SECONDS


def test_requests_are_counted_as_money() -> None:
    """Twice the speed pays for requests with much memory, but not with little."""
    rates = {12: 180e6}
    assert StreamRule(10_240, 12, 8 * MIB).streams_for(rates, 0.03) > 1
    assert StreamRule(512, 12, 8 * MIB).streams_for(rates, 0.03) == 1

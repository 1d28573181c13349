"""bottleneck: the name of the limit at which a constructed cell spends its time."""

from dataclasses import replace
from functools import partial

import pytest

from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import Bottleneck, CellRow
from bucketsum_lab.protocol.samples import Billing, ProberProcess, Reading, Sample, SampleStatus
from bucketsum_lab.protocol.use import INTERVALS_MAX, Use, UseCurve
from bucketsum_lab.results.bottleneck import bottleneck_of, bottlenecks_of
from bucketsum_lab.results.network import BURST_BYTES, bursts, is_at_lambdas_limit
from bucketsum_lab.results.record_values import item_values, sample_of

MB = 1_000_000
IDLE = Use(1.0, 0.02, 0.03, 0.02, 0.0, 0.0, 0.0, 2 * MB, 0, 0, 0, 80 * MB)
BUSY = Use(1.0, 0.9, 0.08, 0.97, 0.0, 0.0, 0.0, 2 * MB, 0, 0, 0, 80 * MB)
THROTTLED = Use(1.0, 0.25, 0.03, 0.28, 0.0, 0.0, 0.7, 2 * MB, 0, 0, 0, 80 * MB)
LINKED = Use(1.0, 0.2, 0.1, 0.2, 0.0, 0.0, 0.0, 78 * MB, 0, 0, 0, 80 * MB)
ON_DISK = Use(1.0, 0.1, 0.1, 0.1, 0.9, 0.0, 0.0, 0, 0, 0, 120 * MB, 80 * MB)
SYNCED = Use(1.0, 0.18, 0.25, 0.43, 0.41, 0.0, 0.0, 0, 0, 4096, 27 * MB, 16 * MB)
BURST = Use(1.0, 0.2, 0.1, 0.2, 0.0, 0.0, 0.0, 154 * MB, 0, 0, 0, 80 * MB)
BUSY_LINKED = Use(1.0, 0.9, 0.08, 0.97, 0.0, 0.0, 0.0, 78 * MB, 0, 0, 0, 80 * MB)


@pytest.mark.parametrize(
    ("uses", "quota", "connections", "bottleneck"),
    [
        ([BUSY] * 9 + [IDLE], None, 4, Bottleneck("cpu", 0.9)),
        ([THROTTLED] * 10, 0.29, 4, Bottleneck("cpu share", 1.0)),
        ([*[BURST] * 4, *[LINKED] * 8], None, 4, Bottleneck("network", 0.75)),
        ([ON_DISK] * 7 + [IDLE] * 3, None, 4, Bottleneck("disk", 0.7)),
        ([SYNCED] * 10, None, 4, Bottleneck("disk", 1.0)),
        ([IDLE] * 10, None, 4, Bottleneck("waiting", 1.0)),
        ([*[BURST] * 4, *[BUSY_LINKED] * 12], None, 4, Bottleneck("cpu, network", 0.812)),
        # within the burst, one connection is at its limit at 90 MB/s, and four are not
        ([replace(LINKED, received_bytes=89 * MB)], None, 1, Bottleneck("network", 1.0)),
        ([replace(LINKED, received_bytes=89 * MB)], None, 4, Bottleneck("waiting", 1.0)),
        # a limit that is exceeded, as on an emulator without Lambda's network, is not in force
        ([replace(LINKED, received_bytes=728 * MB)] * 3, None, 4, Bottleneck("waiting", 1.0)),
        # a link that is a little slower than published is a limit
        (
            [BURST] * 4 + [replace(LINKED, received_bytes=74 * MB)] * 20,
            None,
            2,
            Bottleneck("network", 0.875),
        ),
        # a system that tells no CPU time gives no verdict, never `waiting`
        ([Use(1.0)], None, 4, None),
    ],
)
def test_the_limit_of_most_of_the_time_is_named(
    uses: list[Use], quota: float | None, connections: int, bottleneck: Bottleneck | None
) -> None:
    """The verdict is the limit of most of the time, with its share; equal limits are both named."""
    curve = UseCurve(2, quota, tuple(uses))
    is_at_limit = partial(is_at_lambdas_limit, connections)
    assert bottleneck_of([(curve, BURST_BYTES)], is_at_limit) == bottleneck


def a_sample(cell: str, use: Use, *, excluded_ms: int | None = None, size_bytes: int = 1) -> Sample:
    """A warm sample of ten seconds of *use*."""
    return Sample(
        cell, 1, 1, SampleStatus.OK, "2026-11-24T06:00:10Z", reading=Reading(size_bytes, 10.0, 1.0),
        billing=Billing(cold=False, billed_ms=10_000, excluded_ms=excluded_ms),
        use=UseCurve(2, None, (use,) * 10),
    )  # fmt: skip


def later(sample: Sample, number: int, at: str, log_stream: str | None = None) -> Sample:
    """A repetition of *sample* that ends at second *at* of the minute."""
    process = ProberProcess(1024, log_stream=log_stream) if log_stream else None
    at = f"2026-11-24T06:00:{at}Z"
    return replace(sample, repetition=number, at=at, process=process)


def rows(*streams: int) -> list[CellRow]:
    """A cell for each number of streams."""
    return [CellRow(f"c{n}", Setting(1024, 65_536, n), 1, 1000, "key") for n in streams]


@pytest.mark.parametrize(("second", "verdict"), [(78, "network"), (156, "waiting")])
def test_more_connections_that_are_not_faster_show_the_limit(second: int, verdict: str) -> None:
    """On a machine, the network is a limit only if more connections are not faster."""
    use = Use(1.0, 0.2, 0.1, 0.2, 0.0, 0.0, 0.0, second * MB, 0, 0, 0, 80 * MB)
    samples = {"c1": [a_sample("c1", LINKED)], "c2": [a_sample("c2", use)]}
    verdicts = bottlenecks_of(rows(1, 2), samples, is_lambda=False)
    assert verdicts["c2"].bottleneck == verdict


def test_samples_of_an_environment_share_its_burst() -> None:
    """The burst that a sample has used is refilled at 625 Mbit/s, in its own environment alone."""
    linked = a_sample("c1", LINKED)
    samples = [
        a_sample("c1", BURST),
        later(linked, 2, "21.000"),
        later(linked, 3, "22.000", "other"),
        later(linked, 4, "59.000"),
    ]
    left = bursts(reversed(samples))
    assert [round(left["c1", number, 1] / MB) for number in (1, 2, 3, 4)] == [300, 78, 300, 300]


def test_a_sample_after_the_burst_is_limited_from_its_begin() -> None:
    """One connection at 78 MB/s is at the limit if the sample before has used the burst."""
    samples = {"c2": [a_sample("c2", BURST)], "c1": [later(a_sample("c1", LINKED), 1, "20.100")]}
    verdicts = bottlenecks_of(rows(1, 2), samples, is_lambda=True)
    assert verdicts["c1"] == Bottleneck("network", 1.0)


def test_a_burst_that_is_nearly_used_up_counts_as_such() -> None:
    """Less than a tenth of the burst may be an error of the model, also with four connections."""
    nearly = (UseCurve(2, None, (LINKED,) * 10), 0.08 * BURST_BYTES)
    assert bottleneck_of([nearly], partial(is_at_lambdas_limit, 4)) == Bottleneck("network", 1.0)


@pytest.mark.parametrize(("use", "verdict"), [(IDLE, None), (BUSY, Bottleneck("cpu", 1.0))])
def test_a_missed_connection_is_not_waiting(use: Use, verdict: Bottleneck | None) -> None:
    """If no counter has seen most bytes, a sample without another limit has no verdict."""
    samples = {"c1": [a_sample("c1", use, size_bytes=1000 * MB)]}
    assert bottlenecks_of(rows(1), samples, is_lambda=False).get("c1") == verdict


@pytest.mark.parametrize(
    ("cpu", "verdict"), [(0.55, "cpu share"), (0.3, "waiting"), (0.8, "waiting")]
)
def test_the_cpu_share_of_lambda_follows_from_the_memory(cpu: float, verdict: str) -> None:
    """Without a control group, the share of 1,024 MB is 58 % of a CPU, unless it is exceeded."""
    use = Use(1.0, cpu, 0.0, cpu, 0.0, 0.0, None, 2 * MB, 0, 0, 0, MB)
    verdicts = bottlenecks_of(rows(1), {"c1": [a_sample("c1", use)]}, is_lambda=True)
    assert verdicts["c1"].bottleneck == verdict


def test_preparations_are_not_judged() -> None:
    """A sample that mostly prepares gives no verdict."""
    samples = {"c1": [a_sample("c1", BUSY, excluded_ms=5_000)]}
    assert bottlenecks_of(rows(1), samples, is_lambda=True) == {}


def test_a_sample_keeps_its_curve() -> None:
    """The curve survives the table, with None where the system told nothing."""
    sample = a_sample("c1", Use(1.0, 0.2, 0.1, received_bytes=5))
    assert sample_of(item_values(sample)) == sample


def test_a_long_curve_gets_longer_intervals() -> None:
    """A curve of 15 minutes keeps its sums in 60 intervals."""
    curve = UseCurve.from_text(UseCurve(2, 0.5, (LINKED,) * 900).to_text())
    assert len(curve.uses) == INTERVALS_MAX
    assert sum(use.received_bytes or 0 for use in curve.uses) == 900 * 78 * MB
    assert {use.memory_bytes for use in curve.uses} == {80 * MB}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cores":1,"quota":null,"user":["x"]}'])
def test_a_damaged_curve_is_an_error(text: str) -> None:
    """A text that is not a curve is refused."""
    with pytest.raises(ValueError, match=r"curve|Expecting"):
        UseCurve.from_text(text)

"""analysis: statistics of samples, checked against the standard library and by hand."""

import itertools
import statistics
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.sweeps import HASH, UNZIP, stats_of

from bucketsum.prices import prices_in
from bucketsum_lab.protocol.measuring import percentile
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, ColdStatistics
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.results.analysis import cell_rows, p_value
from bucketsum_lab.results.record_values import sample_of
from bucketsum_lab.workloads.unzip.workload import UnzipStatistics

PRICES = prices_in("us-east-1", "x86_64")
SECONDS = st.lists(st.floats(0.001, 900), min_size=2, max_size=30)


def cell_of(memory_mb: int = 1024, concurrency: int = 1) -> CellRow:
    """A cell of 100 MB objects."""
    return CellRow(
        f"m{memory_mb}-k{concurrency}",
        Setting(memory_mb, 65_536, 1),
        concurrency,
        100_000_000,
        "key",
    )


def samples(cell: CellRow, *seconds: float, **fields: object) -> list[Sample]:
    """Warm samples that took *seconds*; billed as long."""
    return [
        sample_of(
            {
                "cell_id": cell.cell_id, "run": run, "invocation": 1, "status": "ok", "at": "",
                "size_bytes": 100_000_000, "seconds": took, "mb_per_s": 100 / took,
                "cpu_seconds": 0.1, "max_rss_bytes": run,
                "cold": False, "billed_ms": round(took * 1000), **fields,
            }
        )
        for run, took in enumerate(seconds, start=1)
    ]  # fmt: skip


def row(cell: CellRow, its: list[Sample]) -> CellRow:
    """The cell's row, summed up from its samples alone."""
    [summed] = cell_rows([cell], its, PRICES, UNZIP)
    return summed


@given(SECONDS, st.floats(0, 1))
def test_percentiles_are_those_of_the_standard_library(values: list[float], share: float) -> None:
    """The 90th is `statistics.quantiles`' inclusive one, and all lie between the extremes."""
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    assert percentile(values, 0.9) == pytest.approx(tenths[8])
    assert percentile(values, 0.5) == pytest.approx(statistics.median(values))
    assert min(values) <= percentile(values, share) <= max(values) * (1 + 1e-12)


def test_a_disk_makes_a_cell_dearer_and_its_archive_is_described() -> None:
    """The cost per GB includes the prober's disk; the archive's contents are the samples'."""
    cell = replace(cell_of(), storage_mb=10_240)
    contents = {"members": 165, "directories": 129, "member_bytes": 295_000_000}
    summed, without = (
        row(settings, samples(settings, 1.0, 2.0, 3.0, **contents))
        for settings in (cell, replace(cell, storage_mb=512))
    )
    assert summed.own == UnzipStatistics(**contents)
    storage_usd = 2.0 * (10_240 - 512) / 1024 * PRICES.storage_gb_second
    cheaper_usd = stats_of(without).usd_per_gb
    assert cheaper_usd is not None
    dearer = cheaper_usd + storage_usd * 10
    assert stats_of(summed).usd_per_gb == pytest.approx(dearer)
    assert row(cell_of(), samples(cell_of(), 1.0)).own is None


def test_a_cell_is_summed_up() -> None:
    """Spread, speed and cost of known seconds."""
    cell = cell_of()
    summed = row(cell, samples(cell, 1.0, 2.0, 3.0, 4.0, 10.0))
    stats = stats_of(summed)
    assert (stats.n, summed.failed, summed.cold, stats.few_samples) == (5, 0, None, False)
    assert (stats.min_seconds, stats.p50_seconds, stats.max_seconds) == (1.0, 3.0, 10.0)
    assert stats.p90_seconds == pytest.approx(7.6)
    assert stats.mean_seconds == pytest.approx(4.0)
    assert stats.stdev_seconds == pytest.approx(statistics.stdev([1, 2, 3, 4, 10]))
    assert stats.mb_per_s == pytest.approx(100 / 3)
    assert summed.max_rss_bytes == 5
    per_gb = (3 * 0.0000166667 + 0.0000002) * 10
    assert stats.usd_per_gb == pytest.approx(per_gb)
    assert stats.usd_per_tb == pytest.approx(per_gb * 1000)


def test_cold_samples_and_warm_ups_are_kept_apart() -> None:
    """They count for cold starts and for nothing else."""
    cell = cell_of()
    cold = samples(cell, 9.0, cold=True, init_ms=400)
    warm_up = samples(cell, 8.0, run=0)
    summed = row(cell, [*cold, *warm_up, *samples(cell, 1.0, 2.0)])
    assert (stats_of(summed).n, stats_of(summed).max_seconds) == (2, 2.0)
    assert summed.cold == ColdStatistics(1, 9.0, 400)


def test_failed_samples_count_as_failed_alone() -> None:
    """A failure has a cause and no seconds; the first one's cause is the cell's."""
    cell = cell_of()
    failed = samples(cell, 5.0, 6.0, status=SampleStatus.FAILED, error="Timeout", cause="900 s")
    summed = row(cell, [*failed, *samples(cell, 1.0)])
    assert (stats_of(summed).n, summed.failed, summed.cause) == (1, 2, "Timeout: 900 s")
    assert stats_of(summed).p50_seconds == 1.0


def test_a_cell_without_samples_keeps_its_reason() -> None:
    """Why it was not run stays; no number is made up."""
    cell = replace(cell_of(), cause="does not fit")
    assert row(cell, []) == cell


@pytest.mark.parametrize(("count", "few"), [(1, True), (4, True), (5, False)])
def test_few_samples_are_marked(count: int, few: bool) -> None:  # noqa: FBT001 - an expectation
    """Below five warm samples the spread is weak; one has no spread at all."""
    cell = cell_of()
    summed = row(cell, samples(cell, *[1.0] * count))
    assert stats_of(summed).few_samples is few
    assert (stats_of(summed).stdev_seconds is None) == (count == 1)


@pytest.mark.parametrize(
    ("sample", "other", "chance"),
    [
        ([1, 2, 3], [10, 11, 12], 2 / 20),
        ([1, 2], [10, 11], 2 / 6),
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 2 / 252),
        # by the tables of Mann and Whitney: ranks count, and not how far an outlier lies
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 1000], 2 / 252),
        ([1, 2, 3, 4, 1000], [5, 6, 7, 8, 9], 38 / 252),
        # 1.1 + 1.4 is as far from the rest as 1.2 + 1.3, although floats disagree
        ([1.1, 1.4], [1.2, 1.3], 1),
        ([1, 2, 3], [1, 2, 3], 1),
    ],
)
def test_p_is_the_share_of_ways_at_least_as_far_apart(
    sample: list[float], other: list[float], chance: float
) -> None:
    """By hand: 3 against 3, disjoint: 2 of 20 ways are as far apart; of equal samples, all."""
    assert p_value(sample, other) == pytest.approx(chance)


@given(
    st.lists(st.floats(0.001, 900), min_size=2, max_size=6),
    st.lists(st.floats(0.001, 900), min_size=2, max_size=6),
)
@example(
    [1.0, 1.0, 1.0, 246.0, 900.0, 899.2421875], [1.0, 1.0, 1.0, 247.0, 899.001, 899.2414247800987]
)
@example([1.0, 2.0, 4.0, 8.0] * 5, [3.0] * 12)
def test_p_is_a_share_and_has_no_order(sample: list[float], other: list[float]) -> None:
    """It lies in (0, 1] and is the same to the bit for swapped samples, drawn or exact."""
    chance = p_value(sample, other)
    assert 0 < chance <= 1
    assert chance == p_value(other, sample) == p_value(sample[::-1], other)


def test_many_samples_are_compared_by_drawing() -> None:
    """Above 20,000 ways the answer is an estimate, and the same one every time."""
    near = [1 + 0.01 * i for i in range(12)]
    far = [value + 5 for value in near]
    assert p_value(near, far) == p_value(near, far) < 0.001
    shuffled = near[::2], near[1::2]
    assert p_value(*shuffled) > 0.2


def test_cells_are_compared_with_the_fastest_of_their_kind() -> None:
    """Same object and concurrency; others are another question."""
    fast, slow, same = cell_of(2048), cell_of(128), cell_of(3008)
    wide = cell_of(2048, concurrency=4)
    its = list(
        itertools.chain(
            samples(fast, 1.0, 1.1, 1.2, 1.3, 1.4),
            samples(slow, 5.0, 5.1, 5.2, 5.3, 5.4),
            samples(same, 1.05, 1.15, 1.25, 1.35, 1.45),
            samples(wide, 9.0, 9.1, 9.2, 9.3, 9.4),
        )
    )
    rows = {cell.cell_id: cell for cell in cell_rows([fast, slow, same, wide], its, PRICES, HASH)}
    assert [stats_of(rows[cell.cell_id]).best for cell in (fast, slow, same, wide)] == [
        True,
        False,
        False,
        True,
    ]
    assert stats_of(rows[slow.cell_id]).indistinguishable_from_best is False
    assert stats_of(rows[same.cell_id]).indistinguishable_from_best is True


OUTLIER: Final = 9.0
STEADY: Final = (1.0, 1.01, 1.02, 1.03, 1.04)
A_THIRD_SLOWER: Final = (1.33, 1.34, 1.35, 1.36, 1.37)


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        (STEADY, (*A_THIRD_SLOWER[1:], OUTLIER)),
        ((*STEADY[:4], OUTLIER), A_THIRD_SLOWER),
        (STEADY[:2], A_THIRD_SLOWER[:2]),
    ],
    ids=["outlier of the slow cell", "outlier of the fastest", "too few runs for a test"],
)
def test_no_outlier_makes_a_slow_cell_as_fast(
    fast: tuple[float, ...], slow: tuple[float, ...]
) -> None:
    """A cell that is a third slower by its median is never alike the fastest."""
    cells = cell_of(2048), cell_of(128)
    its = [*samples(cells[0], *fast), *samples(cells[1], *slow)]
    summed = cell_rows(cells, its, PRICES, HASH)
    assert [stats_of(row).indistinguishable_from_best for row in summed] == [True, False]


def test_pareto_is_what_no_other_beats_in_both() -> None:
    """Dearer and slower is off the frontier; dearer but faster, or slower but cheaper, is on it."""
    cheap, fast, bad = cell_of(128), cell_of(2048), cell_of(3008)
    its = [*samples(cheap, 4.0), *samples(fast, 1.0), *samples(bad, 2.0)]
    rows = cell_rows([cheap, fast, bad], its, PRICES, HASH)
    assert [stats_of(summed).pareto for summed in rows] == [True, True, False]

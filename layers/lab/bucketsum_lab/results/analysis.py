"""Samples → the statistics of each cell, and its comparison with the best cell.

**Is it alike the best?** Cells with the same object and concurrency are compared by the rank-sum
test of Wilcoxon, Mann and Whitney: the warm samples of both are ranked together, and the p-value is
the share of relabellings whose rank sums lie at least as far apart. An outlier counts as the last
rank, however far it lies. Exact up to 20,000 relabellings (5 against 5: 252), else 10,000 drawn
with a fixed seed. A cell is alike the best if p ≥ 0.05 and its median is at most 10 % slower: few
runs, or an outlier in either cell, leave every difference without significance.
"""

from __future__ import annotations

import math
import operator
import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Final

from bucketsum.measure import mb_per_s
from bucketsum.prices import Prices
from bucketsum_lab.plan.input import FEW_SAMPLES_BELOW
from bucketsum_lab.protocol.measuring import GB_PER_TB, MachinePrice, percentile, usd_per_gb
from bucketsum_lab.protocol.run_records import (
    CellRow,
    CellStatistics,
    ColdStatistics,
    WarmStatistics,
)
from bucketsum_lab.protocol.samples import Sample, SampleStatus
from bucketsum_lab.protocol.workload import Workload
from bucketsum_lab.results.bottleneck import bottlenecks_of

SIGNIFICANCE: Final = 0.05

_ALIKE: Final = 1.1
"""Times the seconds of the best cell that a cell may need to be alike it."""

_EXACT_RELABELLINGS_MAX: Final = 20_000
_DRAWN_RELABELLINGS: Final = 10_000


@dataclass(frozen=True, slots=True)
class _MeasuredCell:
    """A cell with at least one warm sample."""

    cell: CellRow
    seconds: tuple[float, ...]
    warm: WarmStatistics

    def beats(self, other: _MeasuredCell) -> bool:
        """At least as fast and as cheap, and better in one of them."""
        mine, its = self._figures, other._figures
        return mine != its and all(map(operator.le, mine, its))

    @property
    def _figures(self) -> tuple[float, ...]:
        """Seconds, and the cost if it is known."""
        seconds, usd = self.warm.p50_seconds, self.warm.usd_per_gb
        return (seconds,) if usd is None else (seconds, usd)


def cell_rows(
    cells: Iterable[CellRow],
    samples: Iterable[Sample],
    prices: Prices | MachinePrice,
    workload: Workload,
) -> list[CellRow]:
    """*cells* with the statistics of their samples, compared with each other."""
    by_cell: dict[str, list[Sample]] = {}
    for sample in samples:
        by_cell.setdefault(sample.cell_id, []).append(sample)
    rows = [_with_samples(cell, by_cell.get(cell.cell_id, ()), workload) for cell in cells]
    limits = bottlenecks_of(rows, by_cell, is_lambda=not isinstance(prices, MachinePrice))
    rows = [replace(row, limit=limits.get(row.cell_id)) for row in rows]
    measured = {
        row.cell_id: _MeasuredCell(row, _seconds(warm), _warm_statistics(row, warm, prices))
        for row in rows
        if (warm := [sample for sample in by_cell.get(row.cell_id, ()) if _is_warm(sample)])
    }
    return [
        replace(row, stats=_compared(measured[row.cell_id], measured.values()))
        if row.cell_id in measured
        else row
        for row in rows
    ]


def p_value(sample: Sequence[float], other: Sequence[float]) -> float:
    """Likelihood of rank sums so far apart under the null hypothesis; see the module.

    Independent of the order of samples and values.
    """
    first, second = sorted(
        (sorted(sample), sorted(other)), key=lambda values: (len(values), values)
    )
    ordered, size = sorted([*first, *second]), len(first)
    # twice the rank of each value: equal values share the mean of their ranks
    pooled = [bisect_left(ordered, v) + bisect_right(ordered, v) + 1 for v in [*first, *second]]
    total = sum(pooled)

    def distance(part: Iterable[int]) -> int:
        """Distance of the mean ranks, times twice both sizes."""
        return abs(sum(part) * len(pooled) - total * size)

    observed = distance(pooled[:size])
    if math.comb(len(pooled), size) <= _EXACT_RELABELLINGS_MAX:
        hits = [distance(part) >= observed for part in combinations(pooled, size)]
        return sum(hits) / len(hits)
    generator = random.Random(0)  # noqa: S311 - the same answer every time
    drawn = sum(
        distance(generator.sample(pooled, size)) >= observed for _ in range(_DRAWN_RELABELLINGS)
    )
    return (drawn + 1) / (_DRAWN_RELABELLINGS + 1)


def _with_samples(cell: CellRow, samples: Sequence[Sample], workload: Workload) -> CellRow:
    good = [sample for sample in samples if sample.status is SampleStatus.OK]
    failed = [sample for sample in samples if sample.status is SampleStatus.FAILED]
    peaks = [reading.max_rss_bytes for sample in good if (reading := sample.reading)]
    return replace(
        cell,
        failed=len(failed),
        cause=str(failed[0].failure or "") if failed else cell.cause,
        max_rss_bytes=max((peak for peak in peaks if peak is not None), default=None),
        own=workload.statistics(good),
        cold=_cold_statistics([sample for sample in good if sample.is_cold]),
    )


def _cold_statistics(cold: Sequence[Sample]) -> ColdStatistics | None:
    seconds = _seconds(cold)
    if not seconds:
        return None
    billings = [sample.billing for sample in cold if sample.billing]
    init = [billing.init_ms for billing in billings if billing.init_ms is not None]
    return ColdStatistics(
        n_cold=len(cold),
        cold_p50_seconds=statistics.median(seconds),
        cold_init_ms=statistics.median(init) if init else None,
    )


def _warm_statistics(
    cell: CellRow, warm: Sequence[Sample], prices: Prices | MachinePrice
) -> WarmStatistics:
    seconds = _seconds(warm)
    p50_seconds = statistics.median(seconds)
    billed_ms = statistics.median(sample.billing.billed_ms for sample in warm if sample.billing)
    usd = prices.invocation_usd(billed_ms, cell.setting.memory_mb, cell.storage_mb)
    cost = None if usd is None else usd_per_gb(usd, cell.object_bytes)
    readings = [sample.reading for sample in warm if sample.reading]
    cpu_seconds = [read.cpu_seconds for read in readings if read.cpu_seconds is not None]
    return WarmStatistics(
        n=len(seconds),
        min_seconds=min(seconds),
        p50_seconds=p50_seconds,
        p90_seconds=percentile(seconds, 0.9),
        max_seconds=max(seconds),
        mean_seconds=statistics.fmean(seconds),
        stdev_seconds=statistics.stdev(seconds) if len(seconds) > 1 else None,
        mb_per_s=mb_per_s(cell.object_bytes, p50_seconds),
        cpu_seconds=statistics.fmean(cpu_seconds) if cpu_seconds else None,
        billed_ms=billed_ms,
        usd_per_gb=cost,
        usd_per_tb=None if cost is None else cost * GB_PER_TB,
        few_samples=len(seconds) < FEW_SAMPLES_BELOW,
    )


def warm_seconds(samples: Iterable[Sample]) -> tuple[float, ...]:
    """Seconds of the *samples* that count for the statistics."""
    return _seconds(sample for sample in samples if _is_warm(sample))


def _is_warm(sample: Sample) -> bool:
    """Neither failed, nor cold, nor a warm-up."""
    return bool(sample.warm_reading and sample.billing) and sample.repetition > 0


def _seconds(samples: Iterable[Sample]) -> tuple[float, ...]:
    return tuple(sample.reading.seconds for sample in samples if sample.reading)


def _compared(measured: _MeasuredCell, all_cells: Iterable[_MeasuredCell]) -> CellStatistics:
    key, concurrency = measured.cell.key, measured.cell.concurrency
    rivals = [
        rival
        for rival in all_cells
        if (rival.cell.key, rival.cell.concurrency) == (key, concurrency)
    ]
    best = min(rivals, key=lambda rival: (rival.warm.p50_seconds, rival.cell.cell_id))
    chance = 1.0 if measured is best else p_value(measured.seconds, best.seconds)
    return CellStatistics(
        **asdict(measured.warm),
        best=measured is best,
        p_value=chance,
        indistinguishable_from_best=chance >= SIGNIFICANCE
        and measured.warm.p50_seconds <= best.warm.p50_seconds * _ALIKE,
        pareto=not any(rival.beats(measured) for rival in rivals),
    )

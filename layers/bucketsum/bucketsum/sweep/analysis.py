"""Samples → what a cell's samples say together, which setting is best, and how sure that is.

**Can it be told apart from the best?** Cells with the same object and concurrency are compared by
a permutation test: if the two cells were the same, every way to deal their warm samples out to
two piles of these sizes would be as likely as the one seen. The p-value is the share of ways whose
means lie at least as far apart. Exact while there are at most 20,000 ways (5 against 5: 252),
else 10,000 ways drawn with a fixed seed. At p ≥ 0.05 the cell cannot be told apart. Two runs
against two can never be: the least p is 1/3.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from bucketsum.measure import mb_per_s, usd_per_gb
from bucketsum.sweep.causes import plain_cause
from bucketsum.sweep.input import WEAK_BELOW_RUNS
from bucketsum.sweep.records import CellRow, Sample, SampleStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bucketsum.sweep.prices import Prices

SIGNIFICANCE: Final = 0.05

_EXACT_WAYS_MAX: Final = 20_000
_DRAWN_WAYS: Final = 10_000
_GB_PER_TB: Final = 1000


def cell_rows(cells: Iterable[CellRow], samples: Iterable[Sample], prices: Prices) -> list[CellRow]:
    """Fill the statistics of *cells* in from their samples, and compare the cells."""
    by_cell: dict[str, list[Sample]] = {}
    for sample in samples:
        by_cell.setdefault(sample.cell_id, []).append(sample)
    rows = [_summed_up(cell, by_cell.get(cell.cell_id, []), prices) for cell in cells]
    warm = {row.cell_id: _warm_seconds(by_cell.get(row.cell_id, [])) for row in rows}
    return [_compared(row, rows, warm) for row in rows]


def percentile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between the closest ranks (0.5 is the median)."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def p_value(one: Sequence[float], other: Sequence[float]) -> float:
    """How likely means so far apart are if both come from the same; see the module."""
    pooled = [*one, *other]
    total, size = math.fsum(pooled), len(one)

    def distance(pile: Iterable[float]) -> float:
        part = math.fsum(pile)
        return abs(part / size - (total - part) / (len(pooled) - size))

    seen = distance(one) * (1 - 1e-9)  # equal sums must compare as equal
    if math.comb(len(pooled), size) <= _EXACT_WAYS_MAX:
        ways: Iterable[Iterable[float]] = combinations(pooled, size)
        hits = [distance(pile) >= seen for pile in ways]
        return sum(hits) / len(hits)
    draw = random.Random(0)  # noqa: S311 - the same answer every time
    drawn = sum(distance(draw.sample(pooled, size)) >= seen for _ in range(_DRAWN_WAYS))
    return (drawn + 1) / (_DRAWN_WAYS + 1)


def _summed_up(cell: CellRow, samples: Sequence[Sample], prices: Prices) -> CellRow:
    ok = [one for one in samples if one.status is SampleStatus.OK]
    failed = [one for one in samples if one.status is SampleStatus.FAILED]
    row = replace(
        cell,
        failed=len(failed),
        cause=plain_cause(failed[0].error, failed[0].cause) if failed else cell.cause,
        max_rss_bytes=max((one.max_rss_bytes or 0 for one in ok), default=None),
        **_of_archive(ok),
    )
    return _with_warm(_with_cold(row, ok), ok, prices)


def _of_archive(ok: Sequence[Sample]) -> dict[str, Any]:
    """What was in it: the same in every good sample, which the prober has checked."""
    one = next((one for one in ok if one.members is not None), None)
    if one is None:
        return {}
    return {
        "members": one.members,
        "directories": one.directories,
        "member_bytes": one.member_bytes,
    }


def _with_cold(row: CellRow, ok: Sequence[Sample]) -> CellRow:
    cold = [one for one in ok if one.cold]
    if not cold:
        return row
    return replace(
        row,
        n_cold=len(cold),
        cold_p50_seconds=statistics.median(one.seconds or 0 for one in cold),
        cold_init_ms=statistics.median(one.init_ms or 0 for one in cold),
    )


def _with_warm(row: CellRow, ok: Sequence[Sample], prices: Prices) -> CellRow:
    warm = [one for one in ok if _counts(one)]
    seconds = _warm_seconds(ok)
    if not seconds:
        return row
    middle = statistics.median(seconds)
    billed_ms = statistics.median(one.billed_ms or 0 for one in warm)
    usd = prices.invocation_usd(billed_ms, row.memory_mb, row.storage_mb)
    cost = usd_per_gb(usd, row.object_bytes)
    return replace(
        row,
        n=len(seconds),
        min_seconds=min(seconds),
        p50_seconds=middle,
        p90_seconds=percentile(seconds, 0.9),
        max_seconds=max(seconds),
        mean_seconds=statistics.fmean(seconds),
        stdev_seconds=statistics.stdev(seconds) if len(seconds) > 1 else None,
        mb_per_s=mb_per_s(row.object_bytes, middle),
        cpu_seconds=statistics.fmean(one.cpu_seconds or 0 for one in warm),
        billed_ms=billed_ms,
        usd_per_gb=cost,
        usd_per_tb=cost * _GB_PER_TB,
        weak=len(seconds) < WEAK_BELOW_RUNS,
    )


def _counts(sample: Sample) -> bool:
    """Warm, measured, and no warm-up."""
    return sample.status is SampleStatus.OK and not sample.cold and sample.run > 0


def _warm_seconds(samples: Iterable[Sample]) -> list[float]:
    return [one.seconds for one in samples if _counts(one) and one.seconds is not None]


def _compared(row: CellRow, rows: Iterable[CellRow], warm: dict[str, list[float]]) -> CellRow:
    peers = [
        one
        for one in rows
        if (one.key, one.concurrency) == (row.key, row.concurrency) and one.p50_seconds is not None
    ]
    if row.p50_seconds is None:
        return row
    best = min(peers, key=lambda one: (one.p50_seconds or 0, one.cell_id))
    chance = 1.0 if row is best else p_value(warm[row.cell_id], warm[best.cell_id])
    return replace(
        row,
        best=row is best,
        p_value=chance,
        indistinguishable_from_best=chance >= SIGNIFICANCE,
        pareto=not any(_beats(one, row) for one in peers),
    )


def _beats(one: CellRow, other: CellRow) -> bool:
    """Whether *one* is at least as fast and as cheap as *other*, and better in one of them."""
    mine = one.p50_seconds or 0, one.usd_per_gb or 0
    its = other.p50_seconds or 0, other.usd_per_gb or 0
    return mine != its and mine[0] <= its[0] and mine[1] <= its[1]

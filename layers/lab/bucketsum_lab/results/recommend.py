"""Cells → the setting to deploy, by the sweep's strategy, and its gain over the deployed one.

Only settings that the template has parameters for are candidates; the workload knows them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isclose
from typing import Final, TypeAlias

from bucketsum.measure import mb_per_s
from bucketsum.prices import Prices
from bucketsum_lab.plan.input import Strategy
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.protocol.measuring import GB_PER_TB, usd_per_gb
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, Run
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import Workload
from bucketsum_lab.results.analysis import SIGNIFICANCE, p_value, warm_seconds
from bucketsum_lab.results.recommendation import Candidate, Improvement, Recommendation
from bucketsum_lab.workloads import setting_of

_Measure: TypeAlias = "Callable[[Candidate], float]"
"""The number of a candidate that is lowest for the best."""

_EQUAL: Final = 0.01
"""Smaller differences between two settings are none: either may be ahead in the next run."""


def candidates(cells: Iterable[CellRow], prices: Prices, workload: Workload) -> list[Candidate]:
    """Every setting whose cells all have a warm sample and no failed sample."""
    by_setting: dict[Setting, list[CellRow]] = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, []).append(cell)
    return [
        _candidate(setting, own, prices, workload)
        for setting, own in sorted(by_setting.items(), key=lambda item: item[0].order)
        if all(cell.stats and not cell.failed for cell in own)
    ]


def recommend(
    cells: Sequence[CellRow], strategy: Strategy, prices: Prices, workload: Workload
) -> Recommendation:
    """The setting that *strategy* prefers.

    Of those that its measure does not tell apart, the best by the other measure; of these, the
    first in their order, which begins with the smaller memory, chunk size and connections.
    """
    measured = candidates(cells, prices, workload)
    if not measured:
        return Recommendation("no setting was measured in every cell without a failure")
    deployable = [candidate for candidate in measured if workload.is_deployable(candidate.setting)]
    if not deployable:
        return Recommendation(workload.undeployable)
    speed, cost = strategy.mb_per_s or 0, strategy.usd_per_gb or inf  # a strategy has one at most
    fitting = [cell for cell in deployable if cell.mb_per_s >= speed and cell.usd_per_gb <= cost]
    if not fitting:
        return Recommendation(_none_fits(deployable, strategy))
    weight = strategy.weight
    if strategy.name is not StrategyName.BALANCED:
        weight = float(strategy.name in (StrategyName.CHEAPEST, StrategyName.CHEAPEST_AT_LEAST))
    equal = fitting
    for measure in (_penalty(weight, deployable), _penalty(1 - weight, deployable)):
        lowest = min(map(measure, equal))
        equal = [rival for rival in equal if isclose(measure(rival), lowest, rel_tol=_EQUAL)]
    best = min(equal, key=lambda candidate: candidate.setting.order)
    also = _equally_fast(best, cells, deployable)
    planned = len({cell.setting for cell in cells})
    reason = f"{_choice(strategy)}, of {_count(planned, len(measured), len(deployable))}"
    return Recommendation(reason, best, also)


def improvement(
    run: Run,
    best: Candidate | None,
    cells: Sequence[CellRow],
    samples: Sequence[Sample],
    prices: Prices,
    workload: Workload,
) -> Improvement | None:
    """Compare *best* with the deployed setting of *run*; None if that has no measurement."""
    if best is None or run.deployed is None:
        return None
    setting = setting_of(run.deployed)
    deployed = next((c for c in candidates(cells, prices, workload) if c.setting == setting), None)
    if deployed is None:
        return None
    return Improvement(
        deployed,
        best.mb_per_s / deployed.mb_per_s - 1,
        1 - best.usd_per_gb / deployed.usd_per_gb,
        any(
            p_value(seconds[best.setting], seconds[setting]) < SIGNIFICANCE
            for seconds in _seconds_by_object(cells, samples)
        ),
    )


def _candidate(
    setting: Setting, cells: Sequence[CellRow], prices: Prices, workload: Workload
) -> Candidate:
    size_bytes = sum(cell.object_bytes for cell in cells)
    stats = [(cell, cell.stats) for cell in cells if cell.stats]
    usd = sum(
        prices.invocation_usd(own.billed_ms, setting.memory_mb, cell.storage_mb)
        for cell, own in stats
    )
    parameters = {
        "MemorySize": setting.memory_mb,
        **({"ChunkBytes": setting.chunk_bytes} if setting.chunk_has_effect else {}),
        "Streams": setting.streams,
        **workload.template_parameters(setting, cells[0].storage_mb),
    }
    return Candidate(
        setting,
        parameters,
        mb_per_s(size_bytes, sum(own.p50_seconds for _, own in stats)),
        usd_per_gb(usd, size_bytes),
        few_samples=any(own.few_samples for _, own in stats),
    )


def _penalty(weight: float, deployable: Sequence[Candidate]) -> _Measure:
    lowest = min(candidate.usd_per_gb for candidate in deployable)
    highest = max(candidate.mb_per_s for candidate in deployable)

    def of(candidate: Candidate) -> float:
        cost, time = candidate.usd_per_gb / lowest, highest / candidate.mb_per_s
        return weight * cost + (1 - weight) * time

    return of


def _count(planned: int, measured: int, deployable: int) -> str:
    """The number of settings that could be chosen, and the reasons why others could not."""
    if deployable == planned:
        return f"{planned} setting{'' if planned == 1 else 's'}"
    reasons = {
        "failed or is not measured": planned - measured,
        "cannot be deployed": measured - deployable,
    }
    texts = (f"{count} {reason}" for reason, count in reasons.items() if count)
    return f"{deployable} of {planned} settings: {', '.join(texts)}"


def _choice(strategy: Strategy) -> str:
    return {
        StrategyName.CHEAPEST: "the cheapest",
        StrategyName.FASTEST: "the fastest",
        StrategyName.BALANCED: (
            f"the best balance of speed and cost (cost weight {strategy.weight:g})"
        ),
        StrategyName.CHEAPEST_AT_LEAST: f"the cheapest that reaches {strategy.mb_per_s} MB/s",
        StrategyName.FASTEST_BELOW: f"the fastest within {_usd_per_tb(strategy.usd_per_gb)}",
    }[strategy.name]


def _none_fits(deployable: Sequence[Candidate], strategy: Strategy) -> str:
    if strategy.name is StrategyName.CHEAPEST_AT_LEAST:
        fastest = max(candidate.mb_per_s for candidate in deployable)
        return f"no setting reaches {strategy.mb_per_s} MB/s; the fastest came to {fastest:.1f}"
    cheapest = min(candidate.usd_per_gb for candidate in deployable)
    limit = _usd_per_tb(strategy.usd_per_gb)
    return f"no setting costs {limit} or less; the cheapest {_usd_per_tb(cheapest)}"


def _usd_per_tb(per_gb: float | None) -> str:
    return f"{(per_gb or 0) * GB_PER_TB:.3g} USD per TB"


def _equally_fast(
    best: Candidate, cells: Sequence[CellRow], deployable: Iterable[Candidate]
) -> tuple[Setting, ...]:
    """The other settings whose cells are all as fast as the best, if the chosen one's are too."""
    slower = {
        cell.setting
        for cell in cells
        if cell.stats is None or not cell.stats.indistinguishable_from_best
    }
    if best.setting in slower:
        return ()
    settings = (candidate.setting for candidate in deployable)
    return tuple(
        setting for setting in settings if setting not in slower and setting != best.setting
    )


def _seconds_by_object(
    cells: Sequence[CellRow], samples: Sequence[Sample]
) -> Iterable[Mapping[Setting, Sequence[float]]]:
    """Warm seconds of each setting, for each object and concurrency."""
    groups: dict[tuple[str, int], dict[Setting, Sequence[float]]] = defaultdict(dict)
    for cell in cells:
        own = (sample for sample in samples if sample.cell_id == cell.cell_id)
        groups[cell.key, cell.concurrency][cell.setting] = warm_seconds(own)
    return groups.values()

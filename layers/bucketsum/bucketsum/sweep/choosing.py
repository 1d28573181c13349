"""Cells → the setting to deploy, by the strategy that was asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bucketsum.measure import mb_per_s, usd_per_gb
from bucketsum.sweep.request import Setting, Strategy, StrategyName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bucketsum.sweep.prices import Prices
    from bucketsum.sweep.runs import CellRow


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting over all objects and concurrencies that it was measured with.

    Attributes:
        setting: Memory, chunk size, streams.
        mb_per_s: All objects' bytes over the sum of their median seconds.
        usd_per_gb: The sum of their invocations' costs over all objects' bytes.
        weak: Whether one of its cells has too few samples.
    """

    setting: Setting
    mb_per_s: float
    usd_per_gb: float
    weak: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """What to deploy, or why nothing can be recommended.

    Attributes:
        best: The setting chosen, or None.
        reason: Why this one, or why none.
        also: Settings that cannot be told apart from it in speed, for every object.
    """

    best: Candidate | None
    reason: str
    also: tuple[Setting, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As the run's summary holds it; the parameters have their names of the template."""
        answer: dict[str, Any] = {"reason": self.reason}
        if self.best is None:
            return answer
        one = self.best
        return answer | {
            "parameters": {
                "MemorySize": one.setting.memory_mb,
                "ChunkBytes": one.setting.chunk_bytes,
            },
            "streams": one.setting.streams,
            "mb_per_s": round(one.mb_per_s, 3),
            "usd_per_gb": round(one.usd_per_gb, 10),
            "weak": one.weak,
            "also": [asdict(setting) for setting in self.also],
        }


def candidates(cells: Iterable[CellRow], prices: Prices) -> list[Candidate]:
    """Every setting of which each cell has at least one warm sample and none that failed."""
    by_setting: dict[Setting, list[CellRow]] = {}
    for cell in cells:
        setting = Setting(cell.memory_mb, cell.chunk_bytes, cell.streams)
        by_setting.setdefault(setting, []).append(cell)
    return [
        _candidate(setting, own, prices)
        for setting, own in sorted(by_setting.items())
        if all(cell.n and not cell.failed for cell in own)
    ]


def choose(cells: Sequence[CellRow], strategy: Strategy, prices: Prices) -> Choice:
    """Pick the setting that *strategy* asks for. Ties go to the smaller memory and chunk."""
    all_of_them = candidates(cells, prices)
    if not all_of_them:
        return Choice(None, "no setting was measured in every cell without a failure")
    fitting = [one for one in all_of_them if _fits(one, strategy)]
    if not fitting:
        return Choice(None, _none_fits(all_of_them, strategy))
    best = min(fitting, key=lambda one: (_penalty(strategy, all_of_them)(one), one.setting))
    return Choice(best, _because(strategy, len(fitting)), _alike(best, cells, all_of_them))


def _candidate(setting: Setting, cells: Sequence[CellRow], prices: Prices) -> Candidate:
    size_bytes = sum(cell.object_bytes for cell in cells)
    seconds = sum(cell.p50_seconds or 0 for cell in cells)
    usd = sum(prices.invocation_usd(cell.billed_ms or 0, cell.memory_mb) for cell in cells)
    return Candidate(
        setting,
        mb_per_s(size_bytes, seconds),
        usd_per_gb(usd, size_bytes),
        weak=any(cell.weak for cell in cells),
    )


def _fits(one: Candidate, strategy: Strategy) -> bool:
    if strategy.name is StrategyName.CHEAPEST_AT_LEAST:
        return one.mb_per_s >= (strategy.mb_per_s or 0)
    if strategy.name is StrategyName.FASTEST_BELOW:
        return one.usd_per_gb <= (strategy.usd_per_gb or 0)
    return True


def _penalty(strategy: Strategy, among: Sequence[Candidate]) -> Callable[[Candidate], float]:
    """What the strategy wants to be small."""
    if strategy.name in (StrategyName.CHEAPEST, StrategyName.CHEAPEST_AT_LEAST):
        return lambda one: one.usd_per_gb
    if strategy.name in (StrategyName.FASTEST, StrategyName.FASTEST_BELOW):
        return lambda one: -one.mb_per_s
    cheapest = min(one.usd_per_gb for one in among)
    fastest = max(one.mb_per_s for one in among)
    return lambda one: (
        strategy.weight * one.usd_per_gb / cheapest + (1 - strategy.weight) * fastest / one.mb_per_s
    )


def _because(strategy: Strategy, fitting: int) -> str:
    what = {
        StrategyName.CHEAPEST: "the cheapest per GB",
        StrategyName.FASTEST: "the fastest",
        StrategyName.BALANCED: f"balanced, cost counting {strategy.weight:g}",
        StrategyName.CHEAPEST_AT_LEAST: f"the cheapest that reaches {strategy.mb_per_s} MB/s",
        StrategyName.FASTEST_BELOW: f"the fastest within {strategy.usd_per_gb} USD per GB",
    }[strategy.name]
    return f"{what}, of {fitting} settings"


def _none_fits(among: Sequence[Candidate], strategy: Strategy) -> str:
    if strategy.name is StrategyName.CHEAPEST_AT_LEAST:
        fastest = max(one.mb_per_s for one in among)
        return f"no setting reaches {strategy.mb_per_s} MB/s; the fastest came to {fastest:.1f}"
    cheapest = min(one.usd_per_gb for one in among)
    return f"no setting costs {strategy.usd_per_gb} USD per GB; the cheapest {cheapest:.9f}"


def _alike(
    best: Candidate, cells: Sequence[CellRow], among: Iterable[Candidate]
) -> tuple[Setting, ...]:
    """Settings that are as fast as the best cells everywhere, where the chosen one is too."""
    apart = {
        Setting(cell.memory_mb, cell.chunk_bytes, cell.streams)
        for cell in cells
        if not cell.indistinguishable_from_best
    }
    if best.setting in apart:
        return ()
    return tuple(
        one.setting for one in among if one.setting not in apart and one.setting != best.setting
    )

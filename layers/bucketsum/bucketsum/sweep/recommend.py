"""Cells → the setting to deploy, by the strategy that was asked for.

Only what the template has parameters for can be deployed: an archive is streamed or goes through
/tmp, and ISA-L inflates it. ``discard`` and ``zlib`` are measured to compare with.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from bucketsum.measure import mb_per_s, usd_per_gb
from bucketsum.sweep.axes import ENGINES
from bucketsum.sweep.strategy import Strategy, StrategyName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bucketsum.sweep.axes import Setting
    from bucketsum.sweep.prices import Prices
    from bucketsum.sweep.records import CellRow

_DEPLOYABLE_MODES: Final = ("stream", "tmp")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting over all objects and concurrencies that it was measured with.

    Attributes:
        setting: The setting.
        storage_mb: The /tmp that it was measured with, where it uses one.
        mb_per_s: All objects' bytes over the sum of their median seconds.
        usd_per_gb: The sum of their invocations' costs over all objects' bytes.
        weak: Whether one of its cells has too few samples.
    """

    setting: Setting
    storage_mb: int
    mb_per_s: float
    usd_per_gb: float
    weak: bool

    @property
    def parameters(self) -> dict[str, int | str]:
        """Values for those of the template's parameters that the workload has to do with."""
        setting = self.setting
        parameters: dict[str, int | str] = {
            "MemorySize": setting.memory_mb,
            "ChunkBytes": setting.chunk_bytes,
            "Streams": setting.streams,
        }
        if setting.mode is not None:
            parameters["ArchiveMode"] = setting.mode
        if setting.mode == "tmp":
            parameters["EphemeralStorageSize"] = self.storage_mb
        return parameters


@dataclass(frozen=True, slots=True)
class Recommendation:
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
            "parameters": one.parameters,
            "setting": asdict(one.setting),
            "mb_per_s": round(one.mb_per_s, 3),
            "usd_per_gb": round(one.usd_per_gb, 10),
            "weak": one.weak,
            "also": [asdict(setting) for setting in self.also],
        }


def candidates(cells: Iterable[CellRow], prices: Prices) -> list[Candidate]:
    """Every setting of which each cell has at least one warm sample and none that failed."""
    by_setting: dict[Setting, list[CellRow]] = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, []).append(cell)
    return [
        _candidate(setting, own, prices)
        for setting, own in sorted(by_setting.items(), key=lambda one: one[0].order)
        if all(cell.n and not cell.failed for cell in own)
    ]


def recommend(cells: Sequence[CellRow], strategy: Strategy, prices: Prices) -> Recommendation:
    """Pick the setting that *strategy* asks for. Ties go to the smaller memory and chunk."""
    measured = candidates(cells, prices)
    if not measured:
        return Recommendation(None, "no setting was measured in every cell without a failure")
    all_of_them = [one for one in measured if _is_deployable(one.setting)]
    if not all_of_them:
        return Recommendation(None, "discard and zlib are to compare with and cannot be deployed")
    fitting = [one for one in all_of_them if _fits(one, strategy)]
    if not fitting:
        return Recommendation(None, _none_fits(all_of_them, strategy))
    best = min(fitting, key=lambda one: (_penalty(strategy, all_of_them)(one), one.setting.order))
    return Recommendation(best, _because(strategy, len(fitting)), _alike(best, cells, all_of_them))


def _is_deployable(setting: Setting) -> bool:
    if setting.mode is None:
        return True
    return setting.mode in _DEPLOYABLE_MODES and setting.inflate == ENGINES[0]


def _candidate(setting: Setting, cells: Sequence[CellRow], prices: Prices) -> Candidate:
    size_bytes = sum(cell.object_bytes for cell in cells)
    seconds = sum(cell.p50_seconds or 0 for cell in cells)
    usd = sum(
        prices.invocation_usd(cell.billed_ms or 0, cell.memory_mb, cell.storage_mb)
        for cell in cells
    )
    return Candidate(
        setting,
        cells[0].storage_mb,
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
    apart = {cell.setting for cell in cells if not cell.indistinguishable_from_best}
    if best.setting in apart:
        return ()
    return tuple(
        one.setting for one in among if one.setting not in apart and one.setting != best.setting
    )

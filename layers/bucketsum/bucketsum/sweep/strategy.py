"""How the setting to deploy is chosen: JSON → frozen Strategy, or an error that names the field."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bucketsum.errors import BadSweep
from bucketsum.sweep.fields import Fields, among, number

EVEN_WEIGHT: Final = 0.5


class StrategyName(StrEnum):
    """What the recommended setting is to be best at."""

    CHEAPEST = "cheapest"
    FASTEST = "fastest"
    BALANCED = "balanced"
    CHEAPEST_AT_LEAST = "cheapest-at-least"
    """The cheapest of those that reach ``mb_per_s``."""
    FASTEST_BELOW = "fastest-below"
    """The fastest of those that cost at most ``usd_per_gb``."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How to choose.

    Attributes:
        name: What to be best at.
        weight: For balanced: how much cost counts against time, 0 (time alone) to 1 (cost alone).
        mb_per_s: For cheapest-at-least: the speed to reach.
        usd_per_gb: For fastest-below: the cost not to exceed.
    """

    name: StrategyName = StrategyName.CHEAPEST
    weight: float = EVEN_WEIGHT
    mb_per_s: float | None = None
    usd_per_gb: float | None = None


_PARAMETER_OF: Final = {
    StrategyName.BALANCED: "weight",
    StrategyName.CHEAPEST_AT_LEAST: "mb_per_s",
    StrategyName.FASTEST_BELOW: "usd_per_gb",
}


def strategy_from(place: str, raw: object) -> Strategy:
    """Read the field at *place*.

    Raises:
        BadSweep: A field of it is missing, unknown, out of range, or another strategy's.
    """
    fields = Fields(place, raw, ("name", "weight", "mb_per_s", "usd_per_gb"))
    strategy = Strategy(
        name=fields.needed("name", among(StrategyName)),
        weight=fields.one("weight", number(0, 1), EVEN_WEIGHT),
        mb_per_s=fields.one("mb_per_s", number(0.001, 1e6), None),
        usd_per_gb=fields.one("usd_per_gb", number(1e-9, 1e3), None),
    )
    wanted = _PARAMETER_OF.get(strategy.name)
    for name in ("weight", "mb_per_s", "usd_per_gb"):
        if name in fields and name != wanted:
            raise BadSweep(f"{place}.{name} means nothing to the strategy {strategy.name}")
    if wanted and getattr(strategy, wanted) is None:
        raise BadSweep(f"{place}.{wanted} is missing; the strategy {strategy.name} needs it")
    return strategy

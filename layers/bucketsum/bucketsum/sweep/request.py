"""What a person asks of a sweep: JSON → frozen SweepInput, or an error that names the field."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Final

from bucketsum.errors import BadSweep
from bucketsum.settings import CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum.sweep.fields import Fields, among, boolean, number, text, whole

MEMORY_MB_MIN: Final = 128
MEMORY_MB_MAX: Final = 10_240
OBJECT_BYTES_MAX: Final = 30_000_000_000
"""One invocation has to write it in 900 s, and one to read it at 128 MB of memory."""

WEAK_BELOW_RUNS: Final = 5
"""Fewer runs of a cell than this say little about its spread."""

DEFAULT_RUNS: Final = 5
EVEN_WEIGHT: Final = 0.5
_RUNS_MAX: Final = 1000
CONCURRENCY_MAX: Final = 40
"""[A] An inline Map runs at most 40 iterations at once."""

_WORKLOADS: Final = ("hash",)
_STREAMS: Final = (1,)


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


@dataclass(frozen=True, slots=True)
class Limits:
    """What a sweep may come to by the planner's estimate; None is no limit.

    Attributes:
        max_usd: US dollars for Lambda.
        max_seconds: Wall time.
    """

    max_usd: float | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """What can be deployed.

    Attributes:
        memory_mb: The function's memory in MiB, as Lambda counts.
        chunk_bytes: Bytes read and hashed at a time.
        streams: Connections that read one object.
    """

    memory_mb: int
    chunk_bytes: int
    streams: int = 1


@dataclass(frozen=True, slots=True)
class SweepInput:
    """A sweep as asked for. Every cell is a setting × an object × a concurrency.

    Attributes:
        settings: Memory and chunk sizes, in the order asked for, each once.
        object_bytes: Sizes of objects that the sweep makes itself; or else
        keys: objects that lie in the sweep's bucket, with their SHA-1 in the metadata ``sha1``.
        concurrency: How many invocations of a cell run at once.
        workload: What is done with an object's bytes.
        runs: How often each cell is measured.
        strategy: How the recommended setting is chosen.
        warm_up: Whether each version is invoked before it is measured; those samples are kept
            as run 0 and count for cold starts alone.
        limits: What the sweep may cost and last.
    """

    settings: tuple[Setting, ...]
    object_bytes: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    concurrency: tuple[int, ...] = (1,)
    workload: str = "hash"
    runs: int = DEFAULT_RUNS
    strategy: Strategy = field(default_factory=Strategy)
    warm_up: bool = True
    limits: Limits = field(default_factory=Limits)

    @property
    def weak(self) -> bool:
        """Whether there are too few runs for the spread to mean much."""
        return self.runs < WEAK_BELOW_RUNS

    @property
    def memory_mb(self) -> tuple[int, ...]:
        """Memory sizes in the order asked for, each once."""
        return tuple(dict.fromkeys(setting.memory_mb for setting in self.settings))

    @classmethod
    def from_json(cls, raw: object) -> SweepInput:
        """Read a sweep's input.

        Raises:
            BadSweep: A field is missing, unknown, of another type or out of range.
        """
        fields = Fields("", raw, _KNOWN)
        object_bytes, keys = _objects(fields)
        return cls(
            settings=_settings(fields),
            object_bytes=object_bytes,
            keys=keys,
            concurrency=fields.many("concurrency", whole(1, CONCURRENCY_MAX), (1,)),
            workload=fields.one("workload", among(_WORKLOADS), "hash"),
            runs=fields.one("runs", whole(1, _RUNS_MAX), DEFAULT_RUNS),
            strategy=fields.one("strategy", _strategy, Strategy()),
            warm_up=fields.one("warm_up", boolean, default=True),
            limits=fields.one("limits", _limits, Limits()),
        )


_KNOWN: Final = (
    "object_bytes", "keys", "memory_mb", "chunk_bytes", "streams", "pairs", "concurrency",
    "workload", "runs", "strategy", "warm_up", "limits",
)  # fmt: skip
_MEMORY_MB: Final = whole(MEMORY_MB_MIN, MEMORY_MB_MAX)
_CHUNK_BYTES: Final = whole(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)
_PARAMETER_OF: Final = {
    StrategyName.BALANCED: "weight",
    StrategyName.CHEAPEST_AT_LEAST: "mb_per_s",
    StrategyName.FASTEST_BELOW: "usd_per_gb",
}


def _objects(fields: Fields) -> tuple[tuple[int, ...], tuple[str, ...]]:
    if ("object_bytes" in fields) == ("keys" in fields):
        raise BadSweep(
            "give either object_bytes (sizes; the sweep makes the objects) or keys (objects in "
            "the sweep's bucket)"
        )
    return fields.many("object_bytes", whole(1, OBJECT_BYTES_MAX)), fields.many("keys", text)


def _settings(fields: Fields) -> tuple[Setting, ...]:
    streams = fields.many("streams", among(_STREAMS), (1,))
    if "pairs" in fields:
        if "memory_mb" in fields or "chunk_bytes" in fields:
            raise BadSweep("give either pairs, or memory_mb and chunk_bytes, not both")
        pairs = fields.many("pairs", _pair)
    else:
        sizes = fields.needed_many("memory_mb", _MEMORY_MB)
        pairs = tuple(product(sizes, fields.needed_many("chunk_bytes", _CHUNK_BYTES)))
    return tuple(Setting(*pair, count) for pair, count in product(pairs, streams))


def _pair(place: str, raw: object) -> tuple[int, int]:
    fields = Fields(place, raw, ("memory_mb", "chunk_bytes"))
    return fields.needed("memory_mb", _MEMORY_MB), fields.needed("chunk_bytes", _CHUNK_BYTES)


def _strategy(place: str, raw: object) -> Strategy:
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


def _limits(place: str, raw: object) -> Limits:
    fields = Fields(place, raw, ("max_usd", "max_seconds"))
    return Limits(
        max_usd=fields.one("max_usd", number(0, 1e6), None),
        max_seconds=fields.one("max_seconds", number(0, 31_536_000), None),
    )

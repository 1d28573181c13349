"""A sweep's input: JSON → frozen SweepInput, or an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from bucketsum.settings import AUTO_STREAMS
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.setting_fields import (
    SHARED_FIELDS,
    limit_combinations,
    settings_in,
    variants_in,
)
from bucketsum_lab.protocol.fields import Fields, among, boolean, number, several, text, whole
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName

FEW_SAMPLES_BELOW: Final = 5
"""Fewer samples of a cell than this say little about its spread."""

DEFAULT_REPETITIONS: Final = 5
REPETITIONS_MAX: Final = 1000
CONCURRENCY_MAX: Final = 40
"""[A] An inline Map runs at most 40 iterations at once."""

EVEN_WEIGHT: Final = 0.5

DEFAULT_MAX_USD: Final = 5.0
"""A sweep of the largest functions that fits one execution costs up to 174 US dollars."""


class StrategyName(StrEnum):
    """The aim of a recommendation."""

    CHEAPEST = "cheapest"
    FASTEST = "fastest"
    BALANCED = "balanced"
    CHEAPEST_AT_LEAST = "cheapest-at-least"
    """The cheapest of those that reach ``mb_per_s``."""
    FASTEST_BELOW = "fastest-below"
    """The fastest of those that cost at most ``usd_per_gb``."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rule by which a setting is recommended."""

    name: StrategyName = StrategyName.CHEAPEST
    weight: float = EVEN_WEIGHT
    """For balanced: how much cost counts against time, 0 (time alone) to 1 (cost alone)."""
    mb_per_s: float | None = None
    """For cheapest-at-least: the speed to reach."""
    usd_per_gb: float | None = None
    """For fastest-below: the cost not to exceed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits for the planner's estimate."""

    max_usd: float = DEFAULT_MAX_USD
    """US dollars for Lambda."""
    max_seconds: float | None = None
    """Wall time; None is no limit."""


@dataclass(frozen=True, slots=True)
class SweepInput:
    """A sweep as requested. Every cell is a setting × an object × a concurrency."""

    settings: tuple[Setting, ...]
    """In the order given, each once."""
    object_bytes: tuple[int, ...] = ()
    """Sizes of objects that the sweep generates; or else `keys`."""
    keys: tuple[str, ...] = ()
    """Objects in the sweep's bucket, with their SHA-1 in the metadata ``sha1``."""
    concurrency: tuple[int, ...] = (1,)
    """Numbers of invocations of a cell at once."""
    workload: WorkloadName = WorkloadName.HASH
    repetitions: int = DEFAULT_REPETITIONS
    """How often each cell is measured; ``runs`` in the input."""
    strategy: Strategy = field(default_factory=Strategy)
    warm_up: bool = True
    """Whether each version is invoked before it is measured; those samples are kept as run 0 and
    count for cold starts alone."""
    limits: Limits = field(default_factory=Limits)
    deployed: Setting | None = None
    """That of `settings` which the stack's hasher has; None if none of the workload's is one."""

    @property
    def few_samples(self) -> bool:
        """Whether there are too few repetitions for the spread to mean much."""
        return self.repetitions < FEW_SAMPLES_BELOW

    @property
    def memory_mb(self) -> tuple[int, ...]:
        """Memory sizes in the order given, each once."""
        return tuple(dict.fromkeys(setting.memory_mb for setting in self.settings))

    def with_deployed(self, parameters: Mapping[str, str]) -> SweepInput:
        """Return it with the setting that *parameters* of the template deploy, to measure it too.

        A setting that equals it but for a chunk size without an effect takes its place.
        """
        variant = WORKLOADS[self.workload].deployed_variant(parameters)
        if variant is None:
            return self
        streams = parameters["Streams"]
        deployed = Setting(
            int(parameters["MemorySize"]),
            int(parameters["ChunkBytes"]),
            streams if streams == AUTO_STREAMS else int(streams),
            variant,
        )
        equal = [setting for setting in self.settings if deployed.equals(setting)]
        if not equal:
            return replace(self, settings=(*self.settings, deployed), deployed=deployed)
        return replace(self, deployed=min(equal, key=lambda setting: setting.chunk_bytes))

    @classmethod
    def from_json(cls, raw: object) -> SweepInput:
        """Read a sweep's input.

        Raises:
            BadSweep: A field is missing, unknown, of another type or out of range.
        """
        fields = Fields("", raw, KNOWN_FIELDS)
        workload = fields.optional("workload", among(WorkloadName), WorkloadName.HASH)
        object_bytes, keys = _objects(fields, workload)
        settings = _settings(fields, workload)
        concurrency = fields.optional("concurrency", several(whole(1, CONCURRENCY_MAX)), (1,))
        repetitions = fields.optional("runs", whole(1, REPETITIONS_MAX), DEFAULT_REPETITIONS)
        limit_combinations(settings, concurrency, object_bytes or keys, repetitions=repetitions)
        return cls(
            settings=settings,
            object_bytes=object_bytes,
            keys=keys,
            concurrency=concurrency,
            workload=workload,
            repetitions=repetitions,
            strategy=fields.optional("strategy", _strategy, Strategy()),
            warm_up=fields.optional("warm_up", boolean, default=True),
            limits=fields.optional("limits", _limits, Limits()),
        )


KNOWN_FIELDS: Final = (
    "object_bytes", "keys", *SHARED_FIELDS, *OWN_PARAMETERS, "concurrency", "workload", "runs",
    "strategy", "warm_up", "limits",
)  # fmt: skip
PARAMETER_OF: Final = {
    StrategyName.BALANCED: "weight",
    StrategyName.CHEAPEST_AT_LEAST: "mb_per_s",
    StrategyName.FASTEST_BELOW: "usd_per_gb",
}


def _settings(fields: Fields, workload: WorkloadName) -> tuple[Setting, ...]:
    parameters, chunk_bytes = WORKLOADS[workload].parameters, WORKLOADS[workload].chunk_bytes
    for name, parameter in OWN_PARAMETERS.items():
        if name in fields and parameter not in parameters:
            raise BadSweep(f"{name} does not apply to the workload {workload}")
    variants = dict.fromkeys(map(WORKLOADS[workload].effective, variants_in(fields, parameters)))
    return settings_in(fields, variants, chunk_bytes)


def _objects(fields: Fields, workload: WorkloadName) -> tuple[tuple[int, ...], tuple[str, ...]]:
    default = WORKLOADS[workload].default_object_bytes
    if default is not None and "object_bytes" not in fields and "keys" not in fields:
        return (default,), ()
    if ("object_bytes" in fields) == ("keys" in fields):
        raise BadSweep(
            "give either object_bytes (sizes; the sweep makes the objects) or keys (objects in "
            "the sweep's bucket)"
        )
    sizes = WORKLOADS[workload].object_bytes
    size = whole(sizes[0], sizes[-1])
    object_bytes = fields.optional("object_bytes", several(size), ())
    return object_bytes, fields.optional("keys", several(text), ())


def _limits(place: str, raw: object) -> Limits:
    fields = Fields(place, raw, ("max_usd", "max_seconds"))
    return Limits(
        max_usd=fields.optional("max_usd", number(0, 1e6), DEFAULT_MAX_USD),
        max_seconds=fields.optional("max_seconds", number(0, 31_536_000), None),
    )


def _strategy(place: str, raw: object) -> Strategy:
    fields = Fields(place, raw, ("name", "weight", "mb_per_s", "usd_per_gb"))
    strategy = Strategy(
        name=fields.needed("name", among(StrategyName)),
        weight=fields.optional("weight", number(0, 1), EVEN_WEIGHT),
        mb_per_s=fields.optional("mb_per_s", number(0.001, 1e6), None),
        usd_per_gb=fields.optional("usd_per_gb", number(1e-9, 1e3), None),
    )
    own = PARAMETER_OF.get(strategy.name)
    for name in ("weight", "mb_per_s", "usd_per_gb"):
        if name in fields and name != own:
            raise BadSweep(f"{place}.{name} does not apply to the strategy {strategy.name}")
    if own and getattr(strategy, own) is None:
        raise BadSweep(f"{place}.{own} is missing; the strategy {strategy.name} needs it")
    return strategy

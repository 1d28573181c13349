"""A sweep's input: JSON → frozen SweepInput, or an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from bucketsum.s3.read_plan import AUTO_STREAMS
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.plan.input_fields import (
    CONCURRENCY,
    KEYS,
    MAX_SECONDS,
    MAX_USD,
    MB_PER_S,
    PARAMETER_OF,
    RUNS,
    STRATEGY,
    USD_PER_GB,
    WARM_UP,
    WEIGHT,
    WORKLOAD,
    StrategyName,
    known_in,
)
from bucketsum_lab.plan.setting_fields import (
    limit_combinations,
    settings_in,
    variants_in,
)
from bucketsum_lab.protocol.fields import Fields, several, whole
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName

FEW_SAMPLES_BELOW: Final = 5
"""Fewer samples of a cell than this say little about its spread."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rule by which a setting is recommended."""

    name: StrategyName = StrategyName.CHEAPEST
    weight: float = WEIGHT.default
    """For balanced: how much cost counts against time, 0 (time alone) to 1 (cost alone)."""
    mb_per_s: float | None = None
    """For cheapest-at-least: the speed to reach."""
    usd_per_gb: float | None = None
    """For fastest-below: the cost not to exceed."""


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """Upper limits for the planner's estimate."""

    max_usd: float = MAX_USD.default
    """US dollars for Lambda."""
    max_seconds: float | None = None
    """Wall time; None means no limit."""


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
    repetitions: int = RUNS.default
    """How often each cell is measured; ``runs`` in the input."""
    strategy: Strategy = field(default_factory=Strategy)
    warm_up: bool = True
    """Whether each version is invoked before it is measured; those samples are kept as run 0 and
    count for cold starts alone."""
    limits: SweepLimits = field(default_factory=SweepLimits)
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
        fields = Fields(FieldPlace(), raw, known_in())
        workload = WORKLOAD.of(fields)
        object_bytes, keys = _objects(fields, workload)
        settings = _settings(fields, workload)
        concurrency, repetitions = CONCURRENCY.of(fields), RUNS.of(fields)
        limit_combinations(settings, concurrency, object_bytes or keys, repetitions=repetitions)
        return cls(
            settings=settings,
            object_bytes=object_bytes,
            keys=keys,
            concurrency=concurrency,
            workload=workload,
            repetitions=repetitions,
            strategy=fields.optional("strategy", _strategy, Strategy()),
            warm_up=WARM_UP.of(fields),
            limits=fields.optional("limits", _limits, SweepLimits()),
        )


def _settings(fields: Fields, workload: WorkloadName) -> tuple[Setting, ...]:
    parameters, chunk_bytes = WORKLOADS[workload].parameters, WORKLOADS[workload].chunk_bytes
    for name, parameter in OWN_PARAMETERS.items():
        if name in fields and parameter not in parameters:
            raise BadSweep(FieldPlace(name), f" does not apply to the workload {workload}")
    variants = dict.fromkeys(map(WORKLOADS[workload].effective, variants_in(fields, parameters)))
    return settings_in(fields, variants, chunk_bytes)


def _objects(fields: Fields, workload: WorkloadName) -> tuple[tuple[int, ...], tuple[str, ...]]:
    default = WORKLOADS[workload].default_object_bytes
    if default is not None and "object_bytes" not in fields and "keys" not in fields:
        return (default,), ()
    if ("object_bytes" in fields) == ("keys" in fields):
        raise BadSweep(
            "give either ",
            FieldPlace("object_bytes"),
            " (sizes; the sweep makes the objects) or ",
            FieldPlace("keys"),
            " (objects in the sweep's bucket)",
        )
    sizes = WORKLOADS[workload].object_bytes
    size = whole(sizes[0], sizes[-1])
    return fields.optional("object_bytes", several(size), ()), KEYS.of(fields)


def _limits(place: FieldPlace, raw: object) -> SweepLimits:
    fields = Fields(place, raw, known_in("limits"))
    return SweepLimits(MAX_USD.of(fields), MAX_SECONDS.of(fields))


def _strategy(place: FieldPlace, raw: object) -> Strategy:
    fields = Fields(place, raw, known_in("strategy"))
    strategy = Strategy(
        STRATEGY.needed(fields), WEIGHT.of(fields), MB_PER_S.of(fields), USD_PER_GB.of(fields)
    )
    own = PARAMETER_OF.get(strategy.name)
    for parameter in PARAMETER_OF.values():
        if parameter.leaf in fields and parameter is not own:
            raise BadSweep(
                FieldPlace(parameter.name), f" does not apply to the strategy {strategy.name}"
            )
    if own and getattr(strategy, own.leaf) is None:
        raise BadSweep(FieldPlace(own.name), f" is missing; the strategy {strategy.name} needs it")
    return strategy

"""Parameter space: the lists in a sweep's input → every combination, a `Setting`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from bucketsum.errors import BadSweep
from bucketsum.s3.read_plan import STREAMS_MAX, ReadPolicy
from bucketsum.settings import AUTO_STREAMS, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum_lab.protocol.fields import Fields, among, several, shown, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Sized

MEMORY_MB_MIN: Final = 128
MEMORY_MB_MAX: Final = 10_240

Value = int | str

Statistic = int | float | str
"""A workload's own attribute of a sample, or statistic of a cell; a list is a text of JSON."""

_STREAMS_IN_ORDER: Final = (*range(1, STREAMS_MAX + 1), AUTO_STREAMS)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of one workload alone; its field in the input is a list of values."""

    name: str
    """The field, and the attribute of stored cells."""
    allowed: tuple[Value, ...] | range
    """Values in the order of tables and plots."""
    label: str = "{}"
    """Text of a value in labels, as ``{} threads``."""
    default: Value | None = None
    """The value if the input gives none; None for the first that is allowed."""
    meaning: str = "{}"
    """Its explanation in the command's help; ``{}`` stands for the allowed values."""
    option: str = ""
    """Name of the command's option if the field's name does not say enough."""

    @property
    def default_value(self) -> Value:
        """The value of a cell whose input gives none."""
        return self.allowed[0] if self.default is None else self.default

    @property
    def choices(self) -> str:
        """The allowed values as a text."""
        if isinstance(self.allowed, range):
            return f"{self.allowed[0]:,} to {self.allowed[-1]:,}"
        return ", ".join(map(str, self.allowed))

    def rank(self, value: Value) -> int:
        """The place of *value* in tables and plots."""
        return self.allowed.index(value)  # type: ignore[arg-type] # a value is of its type

    def read(self, place: str, raw: object) -> Value:
        """Check one value of the input.

        Raises:
            BadSweep: It is not allowed.
        """
        if isinstance(self.allowed, range):
            return whole(self.allowed[0], self.allowed[-1])(place, raw)
        return among(self.allowed)(place, raw)


Variant = tuple[tuple[Parameter, Value], ...]
"""A workload's own parameters with a value each, in the workload's order."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The values that a cell measures; `Workload.is_deployable` tells which can be deployed."""

    memory_mb: int
    """The function's memory in MiB, as Lambda counts."""
    chunk_bytes: int
    """Bytes of a range if several streams read an object; read size of botocore."""
    streams: Value = AUTO_STREAMS
    """Connections that read one object, or `AUTO_STREAMS`."""
    variant: Variant = ()
    """Values of the workload's own parameters."""

    @property
    def order(self) -> tuple[int, ...]:
        """Sort key: memory, chunk size, streams, then the ranks of the variant's values."""
        ranks = (parameter.rank(value) for parameter, value in self.variant)
        return (self.memory_mb, self.chunk_bytes, _STREAMS_IN_ORDER.index(self.streams), *ranks)

    @property
    def own(self) -> dict[str, Value]:
        """Values of the workload's own parameters by name."""
        return {parameter.name: value for parameter, value in self.variant}

    @property
    def values(self) -> dict[str, Value]:
        """All values by name."""
        shared = {"memory_mb": self.memory_mb, "chunk_bytes": self.chunk_bytes}
        return {**shared, "streams": self.streams, **self.own}

    @property
    def chunk_has_effect(self) -> bool:
        """Whether the chunk size matters: libcurl and the rule of ``auto`` choose sizes."""
        return isinstance(self.streams, int) and self.streams > 1

    def equals(self, other: Setting) -> bool:
        """Whether it equals *other*; a chunk size without an effect is ignored."""
        alike = self if self.chunk_has_effect else replace(self, chunk_bytes=other.chunk_bytes)
        return alike == other

    @property
    def read_policy(self) -> ReadPolicy:
        """The policy with which the function reads an object."""
        return read_policy(self.streams, self.chunk_bytes, self.memory_mb)


def read_policy(streams: Value, chunk_bytes: int, memory_mb: int) -> ReadPolicy:
    """The policy for *streams* connections, or for `AUTO_STREAMS`.

    Raises:
        BadSweep: *streams* is neither.
    """
    if streams not in _STREAMS_IN_ORDER:
        raise BadSweep(
            f"streams is {shown(streams)}, neither {AUTO_STREAMS} nor in 1..{STREAMS_MAX}"
        )
    return ReadPolicy(streams if isinstance(streams, int) else None, chunk_bytes, memory_mb)


COMBINATIONS_MAX: Final = 10_000
"""More cells than an execution of Step Functions can measure."""

ROUNDS_MAX: Final = 200_000


def limit_combinations(*lists: Sized, repetitions: int = 1) -> None:
    """Check the number of combinations of *lists* before they are made.

    Raises:
        BadSweep: There are more than `COMBINATIONS_MAX`, or than `ROUNDS_MAX` with *repetitions*.
    """
    count = prod(map(len, lists))
    if count > COMBINATIONS_MAX:
        raise BadSweep(
            f"the lists have {count} combinations, and a sweep can have at most "
            f"{COMBINATIONS_MAX}; shorten the lists, or split the sweep"
        )
    if count * repetitions > ROUNDS_MAX:
        raise BadSweep(
            f"{count} combinations with {repetitions} runs each are {count * repetitions} rounds, "
            f"and a sweep can have at most {ROUNDS_MAX}; lower runs, or split the sweep"
        )


SHARED_FIELDS: Final = ("memory_mb", "chunk_bytes", "pairs", "streams")
"""Fields of the input that every workload has."""

_MEMORY_MB: Final = whole(MEMORY_MB_MIN, MEMORY_MB_MAX)
_CHUNK_BYTES: Final = whole(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)


def variants_in(fields: Fields, parameters: Sequence[Parameter]) -> Iterable[Variant]:
    """Every combination of *parameters* in *fields*.

    Raises:
        BadSweep: A field is out of range.
    """
    choices = [_choices(fields, parameter) for parameter in parameters]
    limit_combinations(*choices)
    return product(*choices)


def settings_in(
    fields: Fields, variants: Iterable[Variant], chunk_bytes: int | None
) -> tuple[Setting, ...]:
    """Every combination of *variants* with the shared parameters in *fields*, each once.

    *chunk_bytes* is the workload's default; None if it has none.

    Raises:
        BadSweep: A field is missing or out of range.
    """
    default: Value = AUTO_STREAMS  # the hasher's own, so that applying a result changes no more
    streams = fields.optional("streams", several(_streams), (default,))
    pairs, kept = _pairs(fields, chunk_bytes), tuple(variants)
    limit_combinations(pairs, streams, kept)
    return tuple(
        Setting(*pair, count, variant) for pair, count, variant in product(pairs, streams, kept)
    )


def _choices(fields: Fields, parameter: Parameter) -> list[tuple[Parameter, Value]]:
    values = fields.optional(parameter.name, several(parameter.read), (parameter.default_value,))
    return [(parameter, value) for value in values]


def _streams(place: str, raw: object) -> Value:
    if raw == AUTO_STREAMS:
        return AUTO_STREAMS
    try:
        return whole(1, STREAMS_MAX)(place, raw)
    except BadSweep as error:
        raise BadSweep(f"{error}, nor {AUTO_STREAMS}") from None


def _pairs(fields: Fields, chunk_bytes: int | None) -> Sequence[tuple[int, int]]:
    if "pairs" not in fields:
        sizes = fields.needed("memory_mb", several(_MEMORY_MB))
        chunks = (
            fields.needed("chunk_bytes", several(_CHUNK_BYTES))
            if chunk_bytes is None
            else fields.optional("chunk_bytes", several(_CHUNK_BYTES), (chunk_bytes,))
        )
        limit_combinations(sizes, chunks)
        return tuple(product(sizes, chunks))
    if "memory_mb" in fields or "chunk_bytes" in fields:
        raise BadSweep("give either pairs, or memory_mb and chunk_bytes, not both")
    return fields.needed("pairs", several(_pair))


def _pair(place: str, raw: object) -> tuple[int, int]:
    fields = Fields(place, raw, ("memory_mb", "chunk_bytes"))
    return fields.needed("memory_mb", _MEMORY_MB), fields.needed("chunk_bytes", _CHUNK_BYTES)

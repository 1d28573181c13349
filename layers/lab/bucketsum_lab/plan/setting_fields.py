"""Fields of a sweep's input with lists of values → every combination, a `Setting`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from itertools import product
from math import prod
from typing import Final

from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.plan.input_fields import (
    CHUNK_BYTES,
    CHUNK_BYTES_DEFAULT,
    CHUNKS,
    MEMORY,
    MEMORY_MB,
    STREAMS,
)
from bucketsum_lab.protocol.fields import Fields, several
from bucketsum_lab.protocol.parameters import Parameter, Setting, Value, Variant, has_parts

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
            f"and a sweep can have at most {ROUNDS_MAX}; lower ",
            FieldPlace("runs"),
            ", or split the sweep",
        )


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
    streams, kept = STREAMS.of(fields), tuple(variants)
    if chunk_bytes is None and not any(map(has_parts, streams)):
        chunk_bytes = CHUNK_BYTES_DEFAULT
    pairs = _pairs(fields, chunk_bytes)
    limit_combinations(pairs, streams, kept)
    return tuple(
        Setting(*pair, count, variant) for pair, count, variant in product(pairs, streams, kept)
    )


def _choices(fields: Fields, parameter: Parameter) -> list[tuple[Parameter, Value]]:
    values = fields.optional(parameter.name, several(parameter.read), (parameter.default_value,))
    return [(parameter, value) for value in values]


def _pairs(fields: Fields, chunk_bytes: int | None) -> Sequence[tuple[int, int]]:
    if "pairs" not in fields:
        sizes = MEMORY.needed(fields)
        chunks = (
            CHUNKS.needed(fields)
            if chunk_bytes is None
            else fields.optional(CHUNKS.name, CHUNKS.read, (chunk_bytes,))
        )
        limit_combinations(sizes, chunks)
        return tuple(product(sizes, chunks))
    if "memory_mb" in fields or "chunk_bytes" in fields:
        raise BadSweep(
            "give either ",
            FieldPlace("pairs"),
            ", or ",
            FieldPlace("memory_mb"),
            " and ",
            FieldPlace("chunk_bytes"),
            ", not both",
        )
    return fields.needed("pairs", several(_pair))


def _pair(place: FieldPlace, raw: object) -> tuple[int, int]:
    fields = Fields(place, raw, ("memory_mb", "chunk_bytes"))
    return fields.needed("memory_mb", MEMORY_MB), fields.needed("chunk_bytes", CHUNK_BYTES)

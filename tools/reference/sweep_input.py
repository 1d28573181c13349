"""The reference of a sweep's input: its fields, the workloads' objects, and the strategies."""

from __future__ import annotations

import json
from typing import Final

from bench.tables.document import rows_of

from bucketsum.s3.read_plan import STREAMS_MAX
from bucketsum.settings import AUTO_STREAMS, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum_lab.plan.input import (
    CONCURRENCY_MAX,
    EVEN_WEIGHT,
    KNOWN_FIELDS,
    PARAMETER_OF,
    REPETITIONS_MAX,
    StrategyName,
    SweepInput,
)
from bucketsum_lab.protocol.parameters import MEMORY_MB_MAX, MEMORY_MB_MIN
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName

_DEFAULTS: Final = SweepInput.from_json(
    {"object_bytes": [1], "pairs": [{"memory_mb": 128, "chunk_bytes": CHUNK_BYTES_MIN}]}
)
"""The input with its required fields alone."""

_FIELDS: Final = {
    "object_bytes": (
        "list of sizes",
        "",
        (
            "sizes of objects, archives or data sets to generate, as in the next table. Give "
            "either this field or `keys`"
        ),
    ),
    "keys": (
        "list of texts",
        "",
        "objects in the bucket `SweepBucketName`, with their SHA-1 in the metadata `sha1`",
    ),
    "memory_mb": (
        f"list of {MEMORY_MB_MIN:,} to {MEMORY_MB_MAX:,}",
        "",
        "memory sizes, as Lambda counts them",
    ),
    "chunk_bytes": (
        f"list of {CHUNK_BYTES_MIN:,} to {CHUNK_BYTES_MAX:,}",
        "",
        (
            "size of a part, if several connections read an object; needed unless the next table "
            "has a default"
        ),
    ),
    "pairs": (
        'list of `{"memory_mb", "chunk_bytes"}`',
        "",
        "exactly these pairs, instead of the two fields above",
    ),
    "streams": (
        f"list of 1 to {STREAMS_MAX} and `{AUTO_STREAMS}`",
        [_DEFAULTS.settings[0].streams],
        "connections per object",
    ),
    "concurrency": (
        f"list of 1 to {CONCURRENCY_MAX}",
        _DEFAULTS.concurrency,
        "concurrent invocations of a cell",
    ),
    "workload": (
        ", ".join(f"`{name}`" for name in WorkloadName),
        _DEFAULTS.workload,
        "what to do with the objects",
    ),
    "runs": (f"1 to {REPETITIONS_MAX:,}", _DEFAULTS.repetitions, "how often each cell is measured"),
    "strategy": ("object", {"name": _DEFAULTS.strategy.name}, "the rule for the recommendation"),
    "warm_up": ("true, false", _DEFAULTS.warm_up, "invoke each version once before measuring"),
    "limits": (
        '`{"max_usd", "max_seconds"}`',
        {"max_usd": _DEFAULTS.limits.max_usd},
        "refuse a sweep with a higher estimated cost in US dollars, or duration",
    ),
}
"""Field → its type, its default (an empty text is none), and its meaning."""

_STRATEGIES: Final = {
    StrategyName.CHEAPEST: ("the least USD per TB", ""),
    StrategyName.FASTEST: ("the most MB/s", ""),
    StrategyName.BALANCED: (
        "the least of `weight` × (cost ÷ lowest cost) + (1 − `weight`) × (highest speed ÷ speed)",
        f", from 0 (speed alone) to 1 (cost alone); {EVEN_WEIGHT:g} by default",
    ),
    StrategyName.CHEAPEST_AT_LEAST: ("the cheapest that reaches a speed", ""),
    StrategyName.FASTEST_BELOW: (
        "the fastest that does not exceed a cost",
        " (the option is `--usd-per-tb`)",
    ),
}
"""Strategy → what it recommends, and the values of its parameter."""


def fields() -> str:
    """Return a row for each field that every workload has.

    Raises:
        ValueError: A field of the code has no meaning here, or a meaning has no field.
    """
    if differing := ({*KNOWN_FIELDS} - {*OWN_PARAMETERS}) ^ {*_FIELDS}:
        raise ValueError(f"fields of the input or of its reference alone: {sorted(differing)}")
    return rows_of(
        ("field", "type", "default", "meaning"),
        (
            (f"`{name}`", kind, _json(default), text)
            for name, (kind, default, text) in _FIELDS.items()
        ),
    )


def objects() -> str:
    """Return a row for each workload, with the sizes that it generates."""
    return rows_of(
        (
            "workload",
            "object",
            "`object_bytes`",
            "default of `object_bytes`",
            "default of `chunk_bytes`",
        ),
        (
            (
                f"`{name}`",
                workload.noun,
                f"{workload.object_bytes[0]:,} to {workload.object_bytes[-1]:,}",
                _json(workload.default_object_bytes or ""),
                _json(workload.chunk_bytes or ""),
            )
            for name, workload in WORKLOADS.items()
        ),
    )


def strategies() -> str:
    """Return a row for each strategy.

    Raises:
        KeyError: A strategy has no meaning here.
    """
    rows = []
    for name in StrategyName:
        meaning, values = _STRATEGIES[name]
        needed = f"`{PARAMETER_OF[name]}`{values}" if name in PARAMETER_OF else ""
        rows.append((f"`{name}`", meaning, needed))
    return rows_of(("strategy", "recommends", "needs"), rows)


def _json(value: object) -> str:
    return "" if value == "" else f"`{json.dumps(value)}`"

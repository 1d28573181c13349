"""The reference of a sweep's input: its fields, the workloads' objects, and the strategies."""

from __future__ import annotations

import json
from typing import Final

from bench.tables.document import rows_of

from bucketsum_lab.plan.input_fields import FIELDS, PARAMETER_OF, WEIGHT, StrategyName
from bucketsum_lab.workloads import WORKLOADS

_STRATEGIES: Final = {
    StrategyName.CHEAPEST: ("the least USD per TB", ""),
    StrategyName.FASTEST: ("the most MB/s", ""),
    StrategyName.BALANCED: (
        "the least of `weight` × (cost ÷ lowest cost) + (1 − `weight`) × (highest speed ÷ speed)",
        f", from 0 (speed alone) to 1 (cost alone); {WEIGHT.default:g} by default",
    ),
    StrategyName.CHEAPEST_AT_LEAST: ("the cheapest that reaches a speed", ""),
    StrategyName.FASTEST_BELOW: (
        "the fastest that does not exceed a cost",
        " (the option is `--usd-per-tb`)",
    ),
}
"""Strategy → what it recommends, and the values of its parameter."""


def fields() -> str:
    """Return a row for each field that every workload has."""
    return rows_of(
        ("field", "type", "default", "meaning"),
        (
            (f"`{field.name}`", field.kind, _json(field.default or ""), field.meaning)
            for field in FIELDS
            if field.kind
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
        needed = f"`{PARAMETER_OF[name].leaf}`{values}" if name in PARAMETER_OF else ""
        rows.append((f"`{name}`", meaning, needed))
    return rows_of(("strategy", "recommends", "needs"), rows)


def _json(value: object) -> str:
    return "" if value == "" else f"`{json.dumps(value)}`"

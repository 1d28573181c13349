"""A sweep's input → cells, rounds, and what they will come to; refuses what cannot be done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import BadSweep
from bucketsum.sweep import estimate
from bucketsum.sweep.axes import Workload
from bucketsum.sweep.cells import Cell, PlannedObject
from bucketsum.sweep.prices import FREE_STORAGE_MB

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bucketsum.sweep.input import SweepInput
    from bucketsum.sweep.prices import Prices

_OBJECT_NAMES: Final = {
    Workload.HASH: "objects/{size_bytes}.bin",
    Workload.UNZIP: "objects/{size_bytes}.zip",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep will do.

    Attributes:
        sweep: The input.
        objects: The objects, in the order asked for.
        cells: Every cell, those that are refused too.
        rounds: Per memory size: which cell (its index) runs for which time.
    """

    sweep: SweepInput
    objects: tuple[PlannedObject, ...]
    cells: tuple[Cell, ...]
    rounds: dict[int, tuple[tuple[int, int], ...]]

    @property
    def samples(self) -> int:
        """Invocations of the prober."""
        return sum(self.cells[cell].concurrency for cell, _ in self._all_rounds())

    @property
    def history_events(self) -> int:
        """Events of an execution in which nothing is retried."""
        rounds = len(self._all_rounds())
        return estimate.history_events(len(self.objects), len(self.rounds), rounds, self.samples)

    @property
    def payload_bytes(self) -> int:
        """The longest thing that a state passes on: the plan itself."""
        return len(json.dumps(self.to_json()).encode())

    @property
    def estimated_seconds(self) -> float:
        """Wall time, by the article's speeds and AWS's limits. Retries are not in it."""
        return estimate.sweep_seconds(
            sum(one.size_bytes for one in self.objects if one.made),
            len(self.rounds),
            [self.cells[cell].seconds for cell, _ in self._all_rounds()],
        )

    def estimated_usd(self, prices: Prices) -> float:
        """What Lambda will charge for the probes; S3 and DynamoDB add little."""
        return sum(self.cells[cell].usd(prices) for cell, _ in self._all_rounds())

    def to_json(self) -> dict[str, Any]:
        """What the state machine needs of it."""
        versions = [
            {
                "memory_mb": memory_mb,
                "cells": [_cell_json(self.cells[index]) for index in _used(rounds)],
                "rounds": [[_used(rounds).index(cell), run] for cell, run in rounds],
            }
            for memory_mb, rounds in self.rounds.items()
        ]
        objects = [
            {"key": one.key, "size_bytes": one.size_bytes, "made": one.made} for one in self.objects
        ]
        return {"workload": self.sweep.workload, "objects": objects, "versions": versions}

    def _all_rounds(self) -> list[tuple[int, int]]:
        return [one for rounds in self.rounds.values() for one in rounds]


def plan_of(
    sweep: SweepInput, key_sizes: Sequence[int] = (), storage_mb: int = FREE_STORAGE_MB
) -> Plan:
    """Plan *sweep*.

    Args:
        sweep: What is asked for.
        key_sizes: Sizes of the objects that it names by key.
        storage_mb: The prober's /tmp in MiB.

    Raises:
        BadSweep: It is more than one execution can do; the text says which number to lower.
    """
    objects = _objects(sweep, key_sizes)
    cells = tuple(
        Cell(setting, concurrency, number, one, storage_mb)
        for setting, concurrency, (number, one) in product(
            sorted(sweep.settings, key=lambda one: one.order),
            sorted(sweep.concurrency),
            enumerate(objects),
        )
    )
    rounds = {memory_mb: _rounds(sweep, cells, memory_mb) for memory_mb in sweep.memory_mb}
    plan = Plan(sweep, objects, cells, {memory: each for memory, each in rounds.items() if each})
    _check_size(plan)
    return plan


def _usd(usd: float) -> str:
    """US dollars without an exponent and without trailing zeros."""
    return f"{usd:.9f}".rstrip("0").rstrip(".")


def check_limits(plan: Plan, prices: Prices) -> None:
    """Hold the plan to the limits that its input sets.

    Raises:
        BadSweep: The estimate is above one.
    """
    limits, usd, seconds = plan.sweep.limits, plan.estimated_usd(prices), plan.estimated_seconds
    advice = "raise it, or lower runs, object_bytes or the number of cells"
    if limits.max_usd is not None and usd > limits.max_usd:
        raise BadSweep(
            f"limits.max_usd is {_usd(limits.max_usd)}, the estimate {_usd(usd)}; {advice}"
        )
    if limits.max_seconds is not None and seconds > limits.max_seconds:
        raise BadSweep(
            f"limits.max_seconds is {limits.max_seconds:g}, the estimate {seconds:.0f}; {advice}"
        )


def _objects(sweep: SweepInput, key_sizes: Sequence[int]) -> tuple[PlannedObject, ...]:
    name = _OBJECT_NAMES[sweep.workload]
    made = (
        PlannedObject(name.format(size_bytes=size), size, made=True) for size in sweep.object_bytes
    )
    given = (
        PlannedObject(key, size, made=False)
        for key, size in zip(sweep.keys, key_sizes, strict=True)
    )
    return (*made, *given)


def _rounds(
    sweep: SweepInput, cells: Iterable[Cell], memory_mb: int
) -> tuple[tuple[int, int], ...]:
    """Run by run through all cells, so that what drifts with time is shared between them."""
    own = [
        index
        for index, cell in enumerate(cells)
        if cell.setting.memory_mb == memory_mb and not cell.refused
    ]
    rounds = [(index, run) for run in range(1, sweep.runs + 1) for index in own]
    if own and sweep.warm_up:
        # The widest cell starts as many execution environments as any cell needs.
        all_cells = list(cells)
        widest = max(own, key=lambda i: (all_cells[i].concurrency, -all_cells[i].object.size_bytes))
        rounds.insert(0, (widest, 0))
    return tuple(rounds)


def _used(rounds: Iterable[tuple[int, int]]) -> list[int]:
    return sorted({cell for cell, _ in rounds})


def _cell_json(cell: Cell) -> dict[str, Any]:
    """What the prober is told of it; `bucketsum.sweep.probe` reads it."""
    setting = cell.setting
    way = {"mode": setting.mode, "inflate": setting.inflate} if setting.mode else {}
    return {
        "cell_id": cell.cell_id,
        "chunk_bytes": setting.chunk_bytes,
        "streams": setting.streams,
        **way,
        "concurrency": cell.concurrency,
        "object": cell.number,
    }


def _check_size(plan: Plan) -> None:
    events, payload = plan.history_events, plan.payload_bytes
    if events > estimate.HISTORY_EVENTS_MAX:
        runs = plan.sweep.runs * estimate.HISTORY_EVENTS_MAX // events
        what = (
            f"lower runs to {runs}"
            if runs
            else "lower the number of memory_mb, chunk_bytes, object_bytes or concurrency"
        )
        raise BadSweep(
            f"{plan.samples} samples write {events} history events; Step Functions allows "
            f"{estimate.HISTORY_EVENTS_MAX} with room for retries: {what}, or make two sweeps of it"
        )
    if payload > estimate.PAYLOAD_BYTES_MAX:
        raise BadSweep(
            f"{len(plan.cells)} cells make a plan of {payload} bytes; Step Functions passes on "
            f"{estimate.PAYLOAD_BYTES_MAX}: lower the number of memory_mb, chunk_bytes, "
            "object_bytes or concurrency, or make two sweeps of it"
        )

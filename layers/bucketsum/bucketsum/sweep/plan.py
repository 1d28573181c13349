"""A sweep's input → cells, rounds, and what they will come to; refuses what cannot be done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import BadSweep
from bucketsum.settings import BASE_MEMORY_BYTES
from bucketsum.sweep import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bucketsum.sweep.prices import Prices
    from bucketsum.sweep.request import Setting, SweepInput

_MIB: Final = 1024 * 1024
_OBJECT_NAME: Final = "objects/{size_bytes}.bin"


@dataclass(frozen=True, slots=True)
class PlannedObject:
    """An object that the sweep reads.

    Attributes:
        key: Its key in the sweep's bucket.
        size_bytes: Its size.
        made: Whether the sweep makes it where it is not there yet.
    """

    key: str
    size_bytes: int
    made: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """What is measured together: one setting, one object, one concurrency.

    Attributes:
        setting: Memory, chunk size, streams.
        concurrency: Invocations at once.
        number: Index of the object in the plan's objects.
        object: The object.
        refused: Why it is not run, or None.
    """

    setting: Setting
    concurrency: int
    number: int
    object: PlannedObject
    refused: str | None = None

    @property
    def cell_id(self) -> str:
        """Sorts by memory, chunk size, streams, concurrency, object size."""
        one = self.setting
        place = f"o{self.object.size_bytes:012d}"
        if not self.object.made:
            place += f"n{self.number}"  # two objects of one size
        return (
            f"m{one.memory_mb:05d}-c{one.chunk_bytes:09d}-s{one.streams}"
            f"-k{self.concurrency:02d}-{place}"
        )


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
            [_seconds(self.cells[cell]) for cell, _ in self._all_rounds()],
        )

    def estimated_usd(self, prices: Prices) -> float:
        """What Lambda will charge for the probes; S3 and DynamoDB add little."""
        cells = (self.cells[cell] for cell, _ in self._all_rounds())
        return sum(
            prices.invocation_usd(_seconds(cell) * 1000, cell.setting.memory_mb) * cell.concurrency
            for cell in cells
        )

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


def plan_of(sweep: SweepInput, key_sizes: Sequence[int] = ()) -> Plan:
    """Plan *sweep*; *key_sizes* are the sizes of the objects that it names by key.

    Raises:
        BadSweep: It is more than one execution can do; the text says which number to lower.
    """
    objects = _objects(sweep, key_sizes)
    cells = tuple(
        Cell(setting, concurrency, number, one, _refusal(setting))
        for setting, concurrency, (number, one) in product(
            sorted(sweep.settings), sorted(sweep.concurrency), enumerate(objects)
        )
    )
    rounds = {memory_mb: _rounds(sweep, cells, memory_mb) for memory_mb in sweep.memory_mb}
    plan = Plan(sweep, objects, cells, {memory: each for memory, each in rounds.items() if each})
    _check_size(plan)
    return plan


def check_limits(plan: Plan, prices: Prices) -> None:
    """Hold the plan to the limits that its input sets.

    Raises:
        BadSweep: The estimate is above one.
    """
    limits, usd, seconds = plan.sweep.limits, plan.estimated_usd(prices), plan.estimated_seconds
    advice = "raise it, or lower runs, object_bytes or the number of cells"
    if limits.max_usd is not None and usd > limits.max_usd:
        raise BadSweep(f"limits.max_usd is {limits.max_usd:g}, the estimate {usd:.4f}; {advice}")
    if limits.max_seconds is not None and seconds > limits.max_seconds:
        raise BadSweep(
            f"limits.max_seconds is {limits.max_seconds:g}, the estimate {seconds:.0f}; {advice}"
        )


def _objects(sweep: SweepInput, key_sizes: Sequence[int]) -> tuple[PlannedObject, ...]:
    made = (
        PlannedObject(_OBJECT_NAME.format(size_bytes=size), size, made=True)
        for size in sweep.object_bytes
    )
    given = (
        PlannedObject(key, size, made=False)
        for key, size in zip(sweep.keys, key_sizes, strict=True)
    )
    return (*made, *given)


def _refusal(setting: Setting) -> str | None:
    room = setting.memory_mb * _MIB - BASE_MEMORY_BYTES
    if 2 * setting.chunk_bytes <= room:  # see `SingleStream`
        return None
    return (
        f"chunk_bytes is {setting.chunk_bytes}; two of them do not fit into {setting.memory_mb} MB "
        f"of memory beside {BASE_MEMORY_BYTES} bytes of the runtime: at most {room // 2} do"
    )


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
    return {
        "cell_id": cell.cell_id,
        "chunk_bytes": cell.setting.chunk_bytes,
        "streams": cell.setting.streams,
        "concurrency": cell.concurrency,
        "object": cell.number,
    }


def _seconds(cell: Cell) -> float:
    return estimate.probe_seconds(cell.setting.memory_mb, cell.object.size_bytes)


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

"""A sweep's input → cells and rounds with their estimates, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.prices import FREE_STORAGE_MB, Prices
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.plan.cells import PlannedCell
from bucketsum_lab.plan.input import SweepInput, SweepLimits
from bucketsum_lab.protocol.objects import PlannedObject
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.protocol.workload import DataSetWorkload
from bucketsum_lab.workloads import WORKLOADS

HISTORY_EVENTS_MAX: Final = 21_000
"""[A] An execution ends at 25,000 events; the rest is room for retries."""

PAYLOAD_BYTES_MAX: Final = 200_000
"""[A] A state passes on at most 256 KiB."""

# How many history events each part of the state machine writes; a test counts them in its
# definition: tests/template/test_sweep_scale.py.
_EVENTS_ONCE: Final = 35
_EVENTS_PER_OBJECT: Final = 7
_EVENTS_PER_VERSION: Final = 15
_EVENTS_PER_ROUND: Final = 6
_EVENTS_PER_SAMPLE: Final = 12

_SECONDS_ONCE: Final = 20.0
_SECONDS_PER_VERSION: Final = 15.0
_SECONDS_PER_ROUND: Final = 0.5
_WRITE_MB_PER_S: Final = 60

Rounds = tuple[tuple[int, int], ...]
"""Index of a cell and number of its repetition, in the order in which they run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells of a sweep, and the rounds in which they are measured."""

    sweep: SweepInput
    objects: tuple[PlannedObject, ...]
    """In the order of the input."""
    cells: tuple[PlannedCell, ...]
    """Those that are refused too."""
    rounds: dict[int, Rounds]
    """By memory size."""

    @property
    def samples(self) -> int:
        """Invocations of the prober."""
        return sum(self.cells[cell].concurrency for cell, _ in self._all_rounds())

    @property
    def history_events(self) -> int:
        """Events of an execution in which nothing is retried."""
        return (
            _EVENTS_ONCE
            + _EVENTS_PER_OBJECT * len(self.objects)
            + _EVENTS_PER_VERSION * len(self.rounds)
            + _EVENTS_PER_ROUND * len(self._all_rounds())
            + _EVENTS_PER_SAMPLE * self.samples
        )

    @property
    def payload_bytes(self) -> int:
        """Size of the plan, the longest payload of a state."""
        return len(json.dumps(self.to_json()).encode())

    @property
    def estimated_seconds(self) -> float:
        """Wall time without retries, by the baseline's speeds and AWS's limits."""
        versions = _SECONDS_PER_VERSION * len(self.rounds)
        rounds = _SECONDS_PER_ROUND * len(self._all_rounds())
        return _SECONDS_ONCE + self.generating_seconds + self.probing_seconds + versions + rounds

    @property
    def generating_seconds(self) -> float:
        """Estimated duration of generating its objects."""
        generated = sum(planned.size_bytes for planned in self.objects if planned.generated)
        return generated / BYTES_PER_MB / _WRITE_MB_PER_S

    @property
    def probing_seconds(self) -> float:
        """Sum of the estimated durations of all rounds."""
        return sum(self.cells[cell].seconds for cell, _ in self._all_rounds())

    def estimated_usd(self, prices: Prices) -> float:
        """Lambda's charge for the probes; S3 and DynamoDB add little."""
        return sum(self.cells[cell].usd(prices) for cell, _ in self._all_rounds())

    def recorded_in(self, run: Run) -> Run:
        """The record *run*, with the numbers of the plan added."""
        deployed = self.sweep.deployed
        return replace(
            run,
            deployed=deployed.values if deployed else None,
            repetitions=self.sweep.repetitions,
            few_samples=self.sweep.few_samples,
            cells=len(self.cells),
            samples=self.samples,
        )

    def to_json(self) -> dict[str, Any]:
        """The plan as the state machine reads it."""
        versions = [
            self._version_json(memory_mb, rounds) for memory_mb, rounds in self.rounds.items()
        ]
        objects = [asdict(planned) for planned in self.objects]
        return {"workload": self.sweep.workload, "objects": objects, "versions": versions}

    def _version_json(self, memory_mb: int, rounds: Rounds) -> dict[str, Any]:
        used = sorted({cell for cell, _ in rounds})
        places = {cell: place for place, cell in enumerate(used)}
        return {
            "memory_mb": memory_mb,
            "cells": [self.cells[index].event for index in used],
            "rounds": [[places[cell], run] for cell, run in rounds],
        }

    def _all_rounds(self) -> list[tuple[int, int]]:
        return [pair for rounds in self.rounds.values() for pair in rounds]


def plan_of(
    sweep: SweepInput, key_sizes: Sequence[int] = (), storage_mb: int = FREE_STORAGE_MB
) -> Plan:
    """Plan *sweep* for an execution of the state machine.

    *key_sizes* are those of the objects that it names by key, *storage_mb* is the prober's /tmp in
    MiB.

    Raises:
        BadSweep: It is more than one execution can do; the text names the number to lower.
    """
    plan = unlimited_plan(sweep, key_sizes, storage_mb)
    _check_size(plan)
    return plan


def unlimited_plan(
    sweep: SweepInput,
    key_sizes: Sequence[int],
    storage_mb: int,
    disks_mb: Mapping[str | None, int] = MappingProxyType({}),
) -> Plan:
    """Plan *sweep* as `plan_of`, without the limits of Step Functions.

    *disks_mb* has the free space of each disk that a setting names.
    """
    objects = _objects(sweep, key_sizes)
    workload = WORKLOADS[sweep.workload]
    cells = tuple(
        PlannedCell(
            workload, setting, concurrency, number, planned, disks_mb.get(setting.disk, storage_mb)
        )
        for setting, concurrency, (number, planned) in product(
            sorted(sweep.settings, key=lambda setting: setting.order),
            sorted(sweep.concurrency),
            enumerate(objects),
        )
    )
    rounds = {memory_mb: _rounds(sweep, cells, memory_mb) for memory_mb in sweep.memory_mb}
    return Plan(sweep, objects, cells, {memory: own for memory, own in rounds.items() if own})


def _usd(usd: float) -> str:
    """US dollars without an exponent and without trailing zeros."""
    return f"{usd:.9f}".rstrip("0").rstrip(".")


def check_estimate(limits: SweepLimits, usd: float | None, seconds: float) -> None:
    """Check an estimate against *limits*; an unknown cost is not limited.

    Raises:
        BadSweep: The estimate is above a limit.
    """
    sizes = FieldPlace("object_bytes")
    advice = ", or lower ", FieldPlace("runs"), ", ", sizes, " or the number of cells"
    if usd is not None and usd > limits.max_usd:
        raise BadSweep(
            f"the estimate is {_usd(usd)} USD, above the limit of {_usd(limits.max_usd)} (",
            FieldPlace("limits.max_usd"),
            f"); raise the limit to {ceil(usd)}",
            *advice,
        )
    if limits.max_seconds is not None and seconds > limits.max_seconds:
        raise BadSweep(
            FieldPlace("limits.max_seconds"),
            f" is {limits.max_seconds:g}, the estimate {seconds:.0f}; raise it",
            *advice,
        )


def _objects(sweep: SweepInput, key_sizes: Sequence[int]) -> tuple[PlannedObject, ...]:
    workload = WORKLOADS[sweep.workload]
    name = workload.object_name
    parts = workload.parts(sweep.settings) if isinstance(workload, DataSetWorkload) else None
    generated = (
        PlannedObject(name.format(size_bytes=size), size, generated=True, parts=parts)
        for size in sweep.object_bytes
    )
    named = (
        PlannedObject(key, size, generated=False)
        for key, size in zip(sweep.keys, key_sizes, strict=True)
    )
    return (*generated, *named)


def _rounds(sweep: SweepInput, cells: Sequence[PlannedCell], memory_mb: int) -> Rounds:
    """All cells once, then all again: changes over time affect all of them alike."""
    own = [
        index
        for index, cell in enumerate(cells)
        if cell.setting.memory_mb == memory_mb and not cell.refused
    ]
    rounds = [(index, number) for number in range(1, sweep.repetitions + 1) for index in own]
    if own and sweep.warm_up:
        rounds[:0] = [(index, 0) for index in _widest(cells, own)]
    return tuple(rounds)


def _widest(cells: Sequence[PlannedCell], own: Sequence[int]) -> list[int]:
    """For each disk, the index of the cell with the highest concurrency."""
    widest: dict[str | None, int] = {}
    for index in sorted(own, key=lambda i: (-cells[i].concurrency, cells[i].object.size_bytes)):
        widest.setdefault(cells[index].setting.disk, index)
    return [*widest.values()]


_FEWER: Final = (
    "lower the number of ", FieldPlace("memory_mb"), ", ", FieldPlace("chunk_bytes"), ", ",
    FieldPlace("object_bytes"), " or ", FieldPlace("concurrency"),
)  # fmt: skip


def _check_size(plan: Plan) -> None:
    events = plan.history_events
    if events > HISTORY_EVENTS_MAX:
        runs = plan.sweep.repetitions * HISTORY_EVENTS_MAX // events
        remedy = ("lower ", FieldPlace("runs"), f" to {runs}") if runs else _FEWER
        raise BadSweep(
            f"{plan.samples} samples write {events} history events; Step Functions allows "
            f"{HISTORY_EVENTS_MAX} with room for retries: ",
            *remedy,
            ", or make two sweeps of it",
        )
    payload = plan.payload_bytes
    if payload > PAYLOAD_BYTES_MAX:
        raise BadSweep(
            f"{len(plan.cells)} cells make a plan of {payload} bytes; Step Functions passes on "
            f"{PAYLOAD_BYTES_MAX}: ",
            *_FEWER,
            ", or make two sweeps of it",
        )

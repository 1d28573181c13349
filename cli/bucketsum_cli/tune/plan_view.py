"""The plan of a sweep, its time and its cost, computed by the planner's own code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from bucketsum_cli.terminal import output
from bucketsum_cli.terminal.formatting import count_text, duration_text, size_text, usd_text
from bucketsum_cli.tune.formatting import chunk_text, memory_text, prices_text
from bucketsum_cli.tune.setting_labels import SettingLabels, has_notable_streams
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import Plan, check_estimate, plan_of
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from bucketsum.prices import Prices
    from bucketsum_cli.tune.machine import Machine
    from bucketsum_cli.tune.sweeper import Sweeper


@dataclass(frozen=True, slots=True)
class Priced:
    """A plan and the prices of the stack that will run it.

    Attributes:
        prices: Lambda's prices in the stack's Region.
        is_local: Whether it will run in the local emulator, which costs nothing.
    """

    plan: Plan
    prices: Prices
    is_local: bool

    def to_json(self) -> dict[str, Any]:
        """The plan's numbers, as the command prints them."""
        plan = self.plan
        return {
            **plan_as_json(plan, plan.estimated_seconds, plan.estimated_usd(self.prices)),
            "price_date": self.prices.date,
            "priced_as": self.prices.priced_as,
            "history_events": plan.history_events,
        }


def plan_as_json(plan: Plan, seconds: float, usd: float | None) -> dict[str, Any]:
    """The numbers of every plan, with its estimated duration and cost."""
    return {
        "cells": len(plan.cells),
        "runs": plan.sweep.repetitions,
        "samples": plan.samples,
        "estimated_seconds": round(seconds, 1),
        "estimated_usd": usd,
        "weak": plan.sweep.few_samples,
        "refused": {cell.cell_id: cell.refused for cell in plan.cells if cell.refused},
    }


def priced_plan(sweeper: Sweeper, fields: Mapping[str, Any]) -> Priced:
    """Plan a sweep with the input *fields* as the stack would.

    Raises:
        BadSweep: The sweep cannot run; the message names the field to change.
    """
    sweep = SweepInput.from_json(fields).with_deployed(sweeper.stack.parameters)
    sizes = sweeper.objects.sizes_of(sweep.keys, WORKLOADS[sweep.workload])
    plan = plan_of(sweep, sizes, sweeper.storage_mb())
    prices = sweeper.prices()
    check_estimate(plan.sweep.limits, plan.estimated_usd(prices), plan.estimated_seconds)
    return Priced(plan, prices, sweeper.stack.connection.is_local)


def print_plan(priced: Priced) -> None:
    """Print the plan on stderr: stdout is for the result."""
    _print(priced.plan, _facts(priced.plan, _time_text(priced), _cost_text(priced)))


def print_machine_plan(plan: Plan, machine: Machine, seconds: float, usd: float | None) -> None:
    """Print the plan for a machine, with its estimated duration and cost, on stderr."""
    takes = f"about {duration_text(seconds)} with Lambda's network and CPU share"
    costs = "unknown" if usd is None else f"about {usd_text(usd)} USD"
    _print(plan, chain(_facts(plan, takes, costs), machine.facts()))


def _print(plan: Plan, facts: Iterable[tuple[str, str]]) -> None:
    cells, runs = count_text(len(plan.cells), "cell"), count_text(plan.sweep.repetitions, "run")
    output.note(f"{cells} × {runs}: {count_text(plan.samples, 'sample')}")
    lines = [*facts]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        output.note(f"  {name:<{width}}  {text}")


def _facts(plan: Plan, takes: str, costs: str) -> Iterator[tuple[str, str]]:
    sweep = plan.sweep
    yield "memory", ", ".join(map(memory_text, sorted(sweep.memory_mb)))
    workload, chunks = WORKLOADS[sweep.workload], {s.chunk_bytes for s in sweep.settings}
    if chunks != {workload.chunk_bytes}:
        yield "chunk size", ", ".join(map(chunk_text, sorted(chunks)))
    if has_notable_streams(sweep.settings):
        yield "streams", _joined(setting.streams for setting in sweep.settings)
    for parameter in workload.parameters:
        name = parameter.name
        yield name, _joined(s.own[name] for s in sweep.settings if name in s.own)
    yield (
        f"{workload.noun}s",
        ", ".join(
            size_text(item.size_bytes)
            if item.generated
            else f"{item.key} ({size_text(item.size_bytes)})"
            for item in plan.objects
        ),
    )
    if sweep.concurrency != (1,):
        yield "at once", ", ".join(map(str, sweep.concurrency))
    if sweep.deployed:
        labels = SettingLabels(sweep.settings, has_chunks=workload.chunk_bytes is None)
        yield "deployed", f"{labels.effective(sweep.deployed)}, to compare with"
    yield "strategy", sweep.strategy.name
    yield "takes", takes
    yield "costs", costs
    if sweep.few_samples:
        yield "weak", "fewer than 5 runs are too few to judge the spread"
    for reason in dict.fromkeys(cell.refused for cell in plan.cells if cell.refused):
        yield "not run", reason


def _joined(values: Iterable[object]) -> str:
    return ", ".join(dict.fromkeys(map(str, values)))


def _time_text(priced: Priced) -> str:
    duration = f"about {duration_text(priced.plan.estimated_seconds)}"
    return f"{duration} on AWS; usually less in the local emulator" if priced.is_local else duration


def _cost_text(priced: Priced) -> str:
    usd, prices = usd_text(priced.plan.estimated_usd(priced.prices)), priced.prices
    source = f"Lambda in {prices.region} on {prices.architecture}, " + prices_text(
        prices.region, prices.date, prices.priced_as
    )
    if priced.is_local:
        return f"nothing in the local emulator; on AWS about {usd} USD ({source})"
    return f"about {usd} USD ({source})"

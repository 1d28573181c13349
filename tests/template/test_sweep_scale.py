"""1,000 samples fit into one execution: events and bytes, counted in the definition."""

import json
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.template.state_machines import events, load_definition

from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import PAYLOAD_BYTES_MAX, Plan, plan_of
from bucketsum_lab.protocol.parameters import Setting

HISTORY_LIMIT: Final = 25_000
PAYLOAD_LIMIT: Final = 256 * 1024
ENVELOPE_BYTES: Final = 4096
"""What Step Functions puts around a function's answer: headers and metadata."""

MACHINE: Final = load_definition()
ONE_CELL: Final = SweepInput((Setting(1024, 65_536),), object_bytes=(1000,), warm_up=False)
THOUSAND: Final = SweepInput(
    tuple(
        Setting(memory_mb, 65_536 * step)
        for memory_mb in range(512, 1512, 100)
        for step in range(1, 21)
    ),
    object_bytes=(1000,),
)


def counted(plan: Plan) -> int:
    """Events of an execution of *plan*, by walking the definition."""
    answer = plan.to_json()

    def items(name: str, item: Any) -> list[Any]:  # noqa: ANN401 - any Map's
        if name == "MakeObjects":
            return list(answer["objects"])
        if name in {"PublishVersions", "ProbeVersions"}:
            return list(answer["versions"])
        if name == "ProbeRounds":
            return [item["cells"][cell] for cell, _ in item["rounds"]]
        return list(range(item["concurrency"]))

    def choose(name: str, item: Any) -> str:  # noqa: ANN401, ARG001 - any Choice's
        return {"HasVersion": "ProbeRounds", "Judge": "Ended"}[name]

    return events(MACHINE, items, choose)


@pytest.mark.parametrize(
    "sweep",
    [
        ONE_CELL,
        replace(ONE_CELL, repetitions=7, concurrency=(1, 3, 40)),
        replace(ONE_CELL, object_bytes=(1000, 2000, 3000), warm_up=True),
        THOUSAND,
    ],
)
def test_the_planner_counts_the_events_that_the_definition_makes(sweep: SweepInput) -> None:
    """The planner's arithmetic is the definition's."""
    plan = plan_of(sweep)
    assert plan.history_events == counted(plan)


def test_a_thousand_samples_fit() -> None:
    """200 cells × 5 runs stay below both limits, with room for retries."""
    plan = plan_of(THOUSAND)
    assert plan.samples >= 1000
    assert counted(plan) < HISTORY_LIMIT * 0.9
    assert len(json.dumps(plan.to_json()).encode()) + ENVELOPE_BYTES < PAYLOAD_LIMIT


def test_a_thousand_cells_fit() -> None:
    """The longest plan that is let through still passes as one payload."""
    settings = tuple(Setting(1024, 65_536 + step) for step in range(1000))
    plan = plan_of(replace(THOUSAND, settings=settings, repetitions=1, warm_up=False))
    assert plan.samples == 1000
    assert plan.payload_bytes == len(json.dumps(plan.to_json()).encode())
    assert plan.payload_bytes <= PAYLOAD_BYTES_MAX < PAYLOAD_LIMIT - ENVELOPE_BYTES


def test_more_samples_are_refused_with_the_number_to_lower() -> None:
    """The text names a number of runs, and that many do fit."""
    with pytest.raises(BadSweep, match=r"lower runs to (\d+)") as refused:
        plan_of(replace(THOUSAND, repetitions=8))
    fitting = int(str(refused.value).split("lower runs to ")[1].split(",")[0])
    assert plan_of(replace(THOUSAND, repetitions=fitting)).samples


def test_more_cells_are_refused_with_the_lists_to_shorten() -> None:
    """Where even one run of each is too much, the axes are named."""
    settings = tuple(Setting(1024, 65_536 + step) for step in range(3000))
    with pytest.raises(BadSweep, match="lower the number of memory_mb, chunk_bytes"):
        plan_of(replace(THOUSAND, settings=settings, repetitions=1))


def test_a_plan_that_is_too_long_to_pass_on_is_refused() -> None:
    """Long keys count as well: the text says by how much and what to shorten."""
    keys = tuple(f"{number:04d}" + "x" * 1000 for number in range(250))
    sweep = replace(ONE_CELL, object_bytes=(), keys=keys, repetitions=1)
    with pytest.raises(BadSweep, match=r"make a plan of \d+ bytes; .* passes on 200000"):
        plan_of(sweep, [1] * len(keys))

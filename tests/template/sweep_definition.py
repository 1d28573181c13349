"""The sweep's state machine as tests read it: its states, who leads where, its history."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from tests.support.sam_template import TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

DEFINITION: Final = TEMPLATE.parent / "statemachines" / "sweep.asl.yaml"
_ASL_VALIDATOR: Final = (
    TEMPLATE.parent / "tests/template/asl/node_modules/asl-validator/dist/bin/asl-validator.js"
)

_AROUND_EXECUTION: Final = 2  # ExecutionStarted, ExecutionSucceeded
_AROUND_STATE: Final = 2  # ...StateEntered, ...StateExited
_WITHIN: Final = {
    "Task": 3,  # TaskScheduled, TaskStarted, TaskSucceeded or TaskFailed
    "Map": 2,  # MapStateStarted, MapStateSucceeded
}
_AROUND_ITERATION: Final = 2  # MapIterationStarted, MapIterationSucceeded


@dataclass(frozen=True, slots=True)
class State:
    """One state.

    Attributes:
        name: Its name.
        body: What the definition says of it.
        scope: Names of the Map states around it, the outermost first.
    """

    name: str
    body: Mapping[str, Any]
    scope: tuple[str, ...]


def load_definition() -> dict[str, Any]:
    """The definition as it stands, substitutions not made."""
    definition: dict[str, Any] = yaml.safe_load(DEFINITION.read_text(encoding="utf-8"))
    return definition


def substituted(machine: Mapping[str, Any]) -> dict[str, Any]:
    """*machine* as in the partition aws: linters do not know ``${Partition}`` within an ARN."""
    result: dict[str, Any] = json.loads(json.dumps(machine).replace("${Partition}", "aws"))
    return result


def objections(machine: Mapping[str, Any], folder: Path) -> str:
    """Objections of the validator that knows JSONata; skips if it is not installed."""
    node = shutil.which("node")
    if not (node and _ASL_VALIDATOR.exists()):
        pytest.skip(
            "node or the validator is not installed; run: npm --prefix tests/template/asl ci"
        )
    path = folder / "definition.asl.json"
    path.write_text(json.dumps(substituted(machine)))
    command = [node, str(_ASL_VALIDATOR), "--json-path", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def states(machine: Mapping[str, Any], scope: tuple[str, ...] = ()) -> Iterator[State]:
    """Every state, those within Maps too."""
    for name, body in machine["States"].items():
        yield State(name, body, scope)
        if body["Type"] == "Map":
            yield from states(body["ItemProcessor"], (*scope, name))


def targets(body: Mapping[str, Any]) -> set[str]:
    """Where a state can lead to."""
    rules = [*body.get("Choices", ()), *body.get("Catch", ())]
    targets = {rule["Next"] for rule in rules} | {body.get("Next"), body.get("Default")}
    return {target for target in targets if target}


def events(
    machine: Mapping[str, Any],
    items: Callable[[str, Any], list[Any]],
    choose: Callable[[str, Any], str],
    item: Any = None,  # noqa: ANN401 - whatever a Map's item is
) -> int:
    """History events on the way from StartAt to an end; of a Map, of every iteration.

    Args:
        machine: The whole definition, or a Map's ItemProcessor.
        items: Name of a Map and the item it is entered with → the items that it iterates over.
        choose: Name of a Choice and that item → the state that it leads to.
        item: The item of the iteration that this is.
    """
    name, count = machine["StartAt"], 0
    while name:
        body = machine["States"][name]
        count += _AROUND_STATE + _WITHIN.get(body["Type"], 0)
        if body["Type"] == "Map":
            count += sum(
                _AROUND_ITERATION + events(body["ItemProcessor"], items, choose, choice)
                for choice in items(name, item)
            )
        name = choose(name, item) if body["Type"] == "Choice" else body.get("Next", "")
    return count + (_AROUND_EXECUTION if "QueryLanguage" in machine else 0)

"""State machines as tests read them: their states, who leads where, their history."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from tests.support.sam_template import TEMPLATE

NAMES: Final = [
    path.name.removesuffix(".asl.yaml")
    for path in sorted((TEMPLATE.parent / "statemachines").iterdir())
]

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


def definition_of(name: str) -> Path:
    """The file of a state machine."""
    return TEMPLATE.parent / "statemachines" / f"{name}.asl.yaml"


def load_definition(name: str = "sweep") -> dict[str, Any]:
    """The definition as it stands, substitutions not made."""
    definition: dict[str, Any] = yaml.CSafeLoader(
        definition_of(name).read_bytes()
    ).get_single_data()
    return definition


def substituted(machine: Mapping[str, Any]) -> dict[str, Any]:
    """*machine* as in the partition aws: linters do not know ``${Partition}`` within an ARN."""
    result: dict[str, Any] = json.loads(json.dumps(machine).replace("${Partition}", "aws"))
    return result


def placeholders(machine: Mapping[str, Any]) -> set[str]:
    """The names that CloudFormation substitutes."""
    return set(re.findall(r"\$\{(\w+)}", json.dumps(machine)))


def inline_template() -> dict[str, Any]:
    """A template that has the definitions within it."""
    arn = "arn:aws:lambda:us-east-1:111122223333:function"
    machines = {name: substituted(load_definition(name)) for name in NAMES}
    resources = {
        name.title(): {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "RoleArn": f"arn:aws:iam::111122223333:role/{name}",
                "Definition": machine,
                "DefinitionSubstitutions": {
                    placeholder: f"{arn}:{placeholder}" for placeholder in placeholders(machine)
                },
            },
        }
        for name, machine in machines.items()
    }
    return {"Resources": resources}


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

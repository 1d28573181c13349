"""An execution of a state machine, state by state.

Two emulators interpret the definitions in `tests.proofs`; this one has no time and no threads.
"""

import json
from collections.abc import Callable
from typing import Any, Final

import jsonata
import yaml
from tests.support.sam_template import TEMPLATE

_FILE: Final = TEMPLATE.parent / "statemachines" / "backfill.asl.yaml"
DEFINITION: Final = yaml.safe_load(_FILE.read_text("utf-8"))
_EXPRESSION: Final = ("{% ", " %}")


def types_of(machine: Any) -> dict[str, str]:  # noqa: ANN401 - YAML
    """Name → type of each state of *machine*, those within Maps too."""
    types: dict[str, str] = {}
    for name, state in machine["States"].items():
        types |= {name: state["Type"]} | types_of(state.get("ItemProcessor", {"States": {}}))
    return types


class Execution:
    """Interprets the definition of backfills.

    Attributes:
        visited: Names of the states that it came to the end of.
    """

    def __init__(
        self,
        invoke: Callable[[dict[str, Any]], Any],
        wait: Callable[[], None] = lambda: None,
        after: Callable[[str], None] = lambda _: None,
    ) -> None:
        """*invoke* is the function of all tasks; *after* gets the name of each state at its end."""
        self.visited: list[str] = []
        self._invoke, self._wait, self._after = invoke, wait, after
        self._variables: dict[str, Any] = {}

    def run(self, given: dict[str, Any]) -> str:
        """Take all steps; returns the name of the last state."""
        self._walk(DEFINITION, given)
        return self.visited[-1]

    def _walk(self, machine: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
        name = machine["StartAt"]
        while name:
            state = machine["States"][name]
            try:
                value, following = self._step(state, value), state.get("Next")
                if state["Type"] == "Choice":
                    following = self._chosen(state, value)
            except Exception as error:
                [catch] = state.get("Catch", [None])
                if catch is None:
                    raise
                value = {"Error": type(error).__name__, "Cause": str(error)}
                following = catch["Next"]
            self.visited.append(name)
            self._after(name)
            name = following
        return value

    def _step(self, state: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
        result = None
        match state["Type"]:
            case "Task":
                payload = self._filled(state["Arguments"]["Payload"], value)
                result = {"Payload": json.loads(json.dumps(self._invoke(payload)))}
            case "Map":
                for item in self._filled(state["Items"], value):
                    self._walk(state["ItemProcessor"], item)
            case "Wait":
                assert self._filled(state["Seconds"], value) > 0
                self._wait()
        self._variables |= self._filled(state.get("Assign", {}), value, result)
        return self._filled(state["Output"], value, result) if "Output" in state else value

    def _chosen(self, state: Any, value: Any) -> str:  # noqa: ANN401 - JSON
        rules = (rule for rule in state["Choices"] if self._filled(rule["Condition"], value))
        return str(next((rule["Next"] for rule in rules), state.get("Default")))

    def _filled(self, template: Any, value: Any, result: Any = None) -> Any:  # noqa: ANN401 - JSON
        """*template* with the values of its expressions."""
        if isinstance(template, dict):
            return {name: self._filled(part, value, result) for name, part in template.items()}
        if not isinstance(template, str) or not template.startswith(_EXPRESSION[0]):
            return template
        text = template.removeprefix(_EXPRESSION[0]).removesuffix(_EXPRESSION[1])
        states = {"input": value, "result": result, "errorOutput": value}
        return jsonata.Jsonata.jsonata(text).evaluate(None, self._variables | {"states": states})

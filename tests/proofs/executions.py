"""Executions of state machines on an interpreter, with given answers of functions.

An interpreter runs in a process of its own, with other packages than the tests: this module needs
the standard library alone.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, Protocol

ACCOUNT: Final = "123456789012"
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")


class Answers:
    """Answers each request of an execution once.

    Attributes:
        left: Function, part of its event, answer: the first that fits is used, and removed.
        unexpected: Functions and events that none fits.
        items: What the execution writes to tables.
    """

    def __init__(self, script: list[list[Any]]) -> None:
        self.left = list(script)
        self.unexpected: list[list[Any]] = []
        self.items: list[Any] = []
        self._lock = threading.Lock()  # iterations of a Map are threads

    def of_function(self, name: str, event: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The function's answer; an error has an ``errorType``, with a dot if it is Lambda's."""
        with self._lock:
            for entry in self.left:
                if entry[0] == name and all(event.get(key) == entry[1][key] for key in entry[1]):
                    self.left.remove(entry)
                    return entry[2]
            self.unexpected.append([name, event])
        return {"errorType": "UnknownBackfill", "errorMessage": "it is never tried again"}

    def of_table(self, request: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """DynamoDB's answer to a write."""
        with self._lock:
            self.items.append(request)
        return {}


class Interpreter(Protocol):
    """Step Functions, as an emulator has it."""

    def call(self, action: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The answer of its API."""

    def use(self, answers: Answers) -> None:
        """Take the answers of Lambda and DynamoDB from here."""


def _ended(interpreter: Interpreter, name: str, definition: str, given: object) -> dict[str, Any]:
    role = f"arn:aws:iam::{ACCOUNT}:role/machine"
    machine = {"name": name, "definition": definition, "roleArn": role}
    arn = interpreter.call("CreateStateMachine", machine)["stateMachineArn"]
    start = {"stateMachineArn": arn, "name": "20261121T041500-run", "input": json.dumps(given)}
    execution = {"executionArn": interpreter.call("StartExecution", start)["executionArn"]}
    described = interpreter.call("DescribeExecution", execution)
    while described["status"] == "RUNNING":
        time.sleep(0.02)
        described = interpreter.call("DescribeExecution", execution)
    runs = interpreter.call("ListMapRuns", execution)["mapRuns"]
    counts = [interpreter.call("DescribeMapRun", {"mapRunArn": r["mapRunArn"]}) for r in runs]
    return {
        **{name: described.get(name) for name in ("status", "output", "error", "cause")},
        "failed_children": sum(run["itemCounts"]["failed"] for run in counts),
    }


def serve(interpreter: Interpreter) -> None:
    """Write the result of each execution: machine, definition, input and script on stdin."""
    results = []
    for number, (machine, definition, given, script) in enumerate(json.load(sys.stdin)):
        answers = Answers(script)
        interpreter.use(answers)
        result = _ended(interpreter, f"{machine}{number}", definition, given)
        result["items"] = sorted(answers.items, key=json.dumps)
        result |= {"left": answers.left, "unexpected": answers.unexpected}
        results.append(json.loads(_TIME.sub("TIME", json.dumps(result))))
    print(json.dumps(results), flush=True)  # noqa: T201 - the tests read it

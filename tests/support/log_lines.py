"""Log lines and metrics that the hasher wrote to stdout."""

import json
from typing import Any


def lines_in(output: str) -> list[dict[str, Any]]:
    """Every line of stdout; each is a JSON object, or this raises."""
    return [json.loads(line) for line in output.splitlines()]


def objects_in(output: str) -> list[dict[str, Any]]:
    """The log lines of objects."""
    return [line for line in lines_in(output) if line.get("message") == "object"]


def failures_in(output: str) -> list[dict[str, Any]]:
    """The log lines with an exception."""
    return [line for line in lines_in(output) if "exception" in line]


def metrics_in(output: str) -> dict[str, Any]:
    """The EMF document of one invocation, without that of its cold start."""
    documents = [line for line in lines_in(output) if "Messages" in line]
    assert len(documents) == 1
    return documents[0]

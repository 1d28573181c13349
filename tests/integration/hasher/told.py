"""What the hasher told: its log lines and its metrics, as Lambda would keep them."""

from __future__ import annotations

import json
from typing import Any


def lines_in(output: str) -> list[dict[str, Any]]:
    """Every line of stdout; each is a JSON object, or this raises."""
    return [json.loads(line) for line in output.splitlines()]


def objects_in(output: str) -> list[dict[str, Any]]:
    """The log lines that tell of an object."""
    return [line for line in lines_in(output) if line.get("message") == "object"]


def outcomes_in(output: str) -> list[str]:
    """What became of the objects, one after the other."""
    return [line["outcome"] for line in objects_in(output)]


def failures_in(output: str) -> list[dict[str, Any]]:
    """The log lines that tell of an exception."""
    return [line for line in lines_in(output) if "exception" in line]


def metrics_in(output: str) -> dict[str, Any]:
    """The one EMF document of one invocation, besides that of its cold start."""
    documents = [line for line in lines_in(output) if "Messages" in line]
    assert len(documents) == 1
    return documents[0]

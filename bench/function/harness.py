"""The process that calls a function's handler in the sandbox, as Lambda calls it.

It is measured by `measure_one`. The function's log is discarded. Apart from the meter, only the
standard library is imported here, because the search path is the function's.
"""

from __future__ import annotations

import importlib
import os
import sys

from bench.tables.process import ProcessMeter, measure_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Context:
    """The invocation's context; the remaining time never changes."""

    function_name = "benchmark"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self) -> None:
        self.memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])

    def get_remaining_time_in_millis(self) -> int:
        """The time at the start of an invocation, at every call."""
        return 900_000


def initialised(job: dict[str, Any]) -> Callable[[], dict[str, object]]:
    """The handling of all events of *job*, after the function's initialisation."""
    sys.path[:0] = job["search"]
    handler = importlib.import_module("app").lambda_handler

    def handle() -> dict[str, object]:
        failed = 0
        invocations = []
        for event in job["events"]:
            invocation = ProcessMeter()
            failed += len(handler(event, Context())["batchItemFailures"])
            used = invocation.stop()
            invocations.append((used["seconds"], used["cpu_seconds"]))
        return {"failed": failed, "invocations": invocations}

    return handle


if __name__ == "__main__":
    measure_one(os.open(os.devnull, os.O_WRONLY), initialised)

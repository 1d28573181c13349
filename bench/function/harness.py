"""The process that calls a function's handler in the sandbox, as Lambda calls it.

Line 1 in: the job as JSON. Out: ``{"ready": true}`` after the function's initialisation. Line 2 in:
begin. Out: the measurement. The function's log is discarded. Apart from the meter, only the
standard library is imported here, because the search path is the function's.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

from bench.tables.process import Meter, answer, answers


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


def main() -> None:
    """Initialise, wait, handle, answer."""
    stream = answers(os.open(os.devnull, os.O_WRONLY))
    job = json.loads(sys.stdin.readline())
    sys.path[:0] = job["search"]
    if job["threads"]:
        settings = importlib.import_module("bucketsum.settings")
        vars(settings)["THREADS_MAX"] = job["threads"]
    handler = importlib.import_module("app").lambda_handler
    answer(stream, {"ready": True})
    if not sys.stdin.readline():  # the runner has ended
        return
    meter = Meter()
    failed = 0
    invocations = []
    for event in job["events"]:
        invocation = Meter()
        failed += len(handler(event, Context())["batchItemFailures"])
        used = invocation.stop()
        invocations.append((used["seconds"], used["cpu_seconds"]))
    answer(stream, {**meter.stop(), "failed": failed, "invocations": invocations})
    os._exit(0)  # threads and connections end here, unmeasured


if __name__ == "__main__":
    main()

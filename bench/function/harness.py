"""What runs in the box: a function's handler, called with batches of messages as Lambda calls it.

Line 1 in: the job as JSON. Out: ``{"ready": true}`` when the function is initialised. Line 2 in:
begin. Out: the measurement. What the function writes to its log goes nowhere. Only the standard
library is imported here: the rest is the function's.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import threading
import time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Context:
    """What Lambda tells a function of its invocation; time never runs out."""

    function_name = "benchmark"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self) -> None:
        self.memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])

    def get_remaining_time_in_millis(self) -> int:
        """As at the start."""
        return 900_000


def cpu_seconds() -> float:
    """Processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_bytes() -> int:
    """Most memory that was resident."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib takes memory
        (peak,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return 1024 * peak


class Clocks:
    """Processor time of the hasher's parts, of all threads together; no part counts in another.

    Attributes:
        seconds: By name: ``get`` (opening an object and taking its chunks), ``sign``, ``hash``,
            ``write`` and ``log``.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._here = threading.local()

    def watch(self) -> None:
        """Put clocks around the parts."""
        hashing = importlib.import_module("bucketsum.hashing")
        digest_of = hashing.digest_of
        parts = (
            ("get", importlib.import_module("bucketsum.s3.curl_reader").CurlReader, "open"),
            ("sign", importlib.import_module("bucketsum.s3.curl_setup").SignedUrls, "url_of"),
            ("write", importlib.import_module("bucketsum.digests_table").DigestsTable, "record"),
            ("log", importlib.import_module("app"), "_publish"),
        )
        for name, owner, function in parts:
            setattr(owner, function, self._timed(name, getattr(owner, function)))

        def hashed(chunks: Iterator[bytes], extra: object) -> object:
            return digest_of(self._taken(chunks), extra)

        vars(hashing)["digest_of"] = self._timed("hash", hashed)

    def _taken(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        return iter(self._timed("get", lambda: next(chunks, b"")), b"")

    def _timed(self, name: str, function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        def call(*arguments: Asked.args, **named: Asked.kwargs) -> Answer:
            outer = getattr(self._here, "name", "")
            self._switch(outer, name)
            try:
                return function(*arguments, **named)
            finally:
                self._switch(name, outer)

        return call

    def _switch(self, ended: str, name: str) -> None:
        now = time.thread_time()
        if ended:
            with self._lock:
                before = self.seconds.get(ended, 0.0)
                self.seconds[ended] = before + now - self._here.since
        self._here.name, self._here.since = name, now


def main() -> None:
    """Initialise, wait, handle, tell."""
    tell = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    job = json.loads(sys.stdin.readline())
    sys.path[:0] = job["search"]
    if job["threads"]:  # another number than the rule's
        settings = importlib.import_module("bucketsum.settings")
        vars(settings)["THREADS_MAX"] = job["threads"]
    handler = importlib.import_module("app").lambda_handler
    clocks = Clocks()
    if job["split"]:
        clocks.watch()
    print(json.dumps({"ready": True}), file=tell, flush=True)
    if not sys.stdin.readline():  # the runner is gone
        return
    cpu_before, before = cpu_seconds(), time.perf_counter()
    failed = 0
    invocations = []
    for event in job["events"]:
        started, cpu = time.perf_counter(), cpu_seconds()
        failed += len(handler(event, Context())["batchItemFailures"])
        invocations.append((time.perf_counter() - started, cpu_seconds() - cpu))
    measured = {
        "seconds": time.perf_counter() - before,
        "cpu_seconds": cpu_seconds() - cpu_before,
        "peak_bytes": peak_bytes(),
        "failed": failed,
        "invocations": invocations,
        "parts": clocks.seconds,
    }
    print(json.dumps(measured), file=tell, flush=True)
    os._exit(0)  # threads and connections end here, unmeasured


if __name__ == "__main__":
    main()

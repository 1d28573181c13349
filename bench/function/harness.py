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
import threading
import time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from bench.tables.process import Meter, answer, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Context:
    """The invocation's context; the remaining time never changes."""

    function_name = "benchmark"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:benchmark"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self) -> None:
        self.memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])

    def get_remaining_time_in_millis(self) -> int:
        """As at the start."""
        return 900_000


class Clocks:
    """CPU time of the hasher's parts, summed over all threads; nested parts are subtracted.

    Attributes:
        seconds: By part: ``get`` (opening an object and reading its chunks), ``sign``, ``hash``,
            ``write`` and ``log``.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._thread = threading.local()

    def install(self) -> None:
        """Replace the parts by timed ones; the function must be on the search path."""
        from bucketsum import hashing  # noqa: PLC0415 - the function's own layer
        from bucketsum.digest import digest_of  # noqa: PLC0415 - as above
        from bucketsum.digests_table import DigestsTable  # noqa: PLC0415 - as above
        from bucketsum.s3.curl_reader import CurlReader  # noqa: PLC0415 - as above
        from bucketsum.s3.curl_setup import SignedUrls  # noqa: PLC0415 - as above

        if TYPE_CHECKING:
            from hasher import app  # noqa: PLC0415 - the function itself
        else:
            app = importlib.import_module("app")

        def hashed(chunks: Iterable[bytes], extra: list[str]) -> object:
            arriving = iter(chunks)
            return digest_of(iter(self._timed("get", lambda: next(arriving, b"")), b""), extra)

        parts: tuple[tuple[str, object, Callable[..., object], Callable[..., object]], ...] = (
            ("get", CurlReader, CurlReader.open, CurlReader.open),
            ("sign", SignedUrls, SignedUrls.url_of, SignedUrls.url_of),
            ("hash", hashing, digest_of, hashed),
            ("write", DigestsTable, DigestsTable.record, DigestsTable.record),
            ("log", app, app._publish, app._publish),  # noqa: SLF001 - the part to time
        )
        for part, owner, function, replacement in parts:
            assert getattr(owner, function.__name__) is function  # noqa: S101 - else nothing is timed
            setattr(owner, function.__name__, self._timed(part, replacement))

    def _timed(
        self, part: str, function: Callable[Parameters, Result]
    ) -> Callable[Parameters, Result]:
        def call(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
            outer = getattr(self._thread, "part", "")
            self._switch(outer, part)
            try:
                return function(*arguments, **named)
            finally:
                self._switch(part, outer)

        return call

    def _switch(self, ended: str, begun: str) -> None:
        now = time.thread_time()
        if ended:
            with self._lock:
                before = self.seconds.get(ended, 0.0)
                self.seconds[ended] = before + now - self._thread.since
        self._thread.part, self._thread.since = begun, now


def main() -> None:
    """Initialise, wait, handle, answer."""
    stream = answers(os.open(os.devnull, os.O_WRONLY))
    job = json.loads(sys.stdin.readline())
    sys.path[:0] = job["search"]
    if job["threads"]:
        settings = importlib.import_module("bucketsum.settings")
        vars(settings)["THREADS_MAX"] = job["threads"]
    handler = importlib.import_module("app").lambda_handler
    clocks = Clocks()
    if job["split"]:
        clocks.install()
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
    answer(
        stream,
        {
            **meter.stop(),
            "failed": failed,
            "invocations": invocations,
            "parts": clocks.seconds,
        },
    )
    os._exit(0)  # threads and connections end here, unmeasured


if __name__ == "__main__":
    main()

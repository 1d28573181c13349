"""Lambda's execution environments as processes, under Lambda's own runtime client."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

from localstack.services.lambda_.invocation import runtime_executor
from localstack.services.lambda_.invocation.lambda_models import InvocationResult

_PATH: Final = re.compile(r"/runtime/(?:init/error|invocation/([^/]+)/(response|error))$")
_LOOK_SECONDS: Final = 0.5
_merging: Final = threading.Lock()


@dataclass(slots=True)
class Invocation:
    """An event that waits for a process, and its answer: the body, and whether it is an error."""

    request_id: str
    body: bytes
    headers: dict[str, str]
    answer: Future[tuple[bytes, bool]] = field(default_factory=Future)


class RuntimeApi(ThreadingHTTPServer):
    """Lambda's Runtime API, for one process."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.waiting: queue.Queue[Invocation] = queue.Queue()
        self.current: Invocation | None = None
        self.init_error: bytes | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RuntimeApi

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - its names
        """Log nothing."""

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        invocation = self.server.current = self.server.waiting.get()
        self._send(200, invocation.body, invocation.headers)

    def do_POST(self) -> None:
        body = self._body()
        path = _PATH.search(self.path)
        current = self.server.current
        if path and path[1] is None:
            self.server.init_error = body
        elif path and current and current.request_id == path[1] and not current.answer.done():
            current.answer.set_result((body, path[2] == "error"))
        self._send(202, b'{"status": "OK"}', {})

    def _body(self) -> bytes:
        if length := self.headers.get("Content-Length"):
            return self.rfile.read(int(length))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)


class ProcessExecutor(runtime_executor.RuntimeExecutor):  # type: ignore[misc] # untyped
    """One execution environment: a process of the emulator's group, which ends with it.

    A process that ended is started again by the next event.
    """

    home: ClassVar[Path]

    def start(self, env_vars: dict[str, Any]) -> None:
        """Start the process, with the function's environment variables."""
        self._variables = {name: str(value) for name, value in env_vars.items()}
        self._log = self.home / "tmp" / f"{self.id}.log"
        self._begin()

    def _begin(self) -> None:
        config = self.function_version.config
        code, opt = config.code.get_unzipped_code_location(), _merged(config.layers, self.home)
        self._api = RuntimeApi()
        variables = self._variables | {
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._api.server_port}",
            "AWS_ENDPOINT_URL": self._variables["AWS_ENDPOINT_URL"].replace("http:", "https:"),
            "AWS_CA_BUNDLE": str(self.home / "ca.pem"),
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{config.runtime}",
            "LAMBDA_TASK_ROOT": str(code),
            "PYTHONPATH": f"{code}:{opt}/python",
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.home / "tmp"),
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "awslambdaric", config.handler],
                cwd=code, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def stop(self) -> None:
        """Kill the process, and end its Runtime API."""
        self._process.kill()
        self._process.wait()
        self._api.shutdown()
        self._api.server_close()

    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        """Hand an event over; returns the answer, a time-out or the process's end."""
        if self._process.poll() is not None:
            self.stop()
            self._begin()
        timeout: int = self.function_version.config.timeout
        request_id, begun, offset = payload["invoke-id"], time.time(), self._log.stat().st_size
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": request_id,
            "Lambda-Runtime-Deadline-Ms": str(int((begun + timeout) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": payload["invoked-function-arn"],
            "Lambda-Runtime-Trace-Id": payload["trace-id"],
        }
        invocation = Invocation(request_id, payload["payload"].encode(), headers)
        self._api.waiting.put(invocation)
        body, is_error = self._answer(invocation, begun + timeout, timeout)
        text = self._log.read_bytes()[offset:].decode(errors="replace")
        spent_ms = (time.time() - begun) * 1000
        memory_mb = self.function_version.config.memory_size
        logs = (
            f"START RequestId: {request_id} Version: {self.function_version.id.qualifier}\n{text}"
            f"END RequestId: {request_id}\nREPORT RequestId: {request_id}\t"
            f"Duration: {spent_ms:.2f} ms\tBilled Duration: {int(spent_ms) + 1} ms\t"
            f"Memory Size: {memory_mb} MB\tMax Memory Used: {memory_mb} MB\t\n"
        )
        return InvocationResult(request_id, body, is_error=is_error, logs=logs)

    def _answer(
        self, invocation: Invocation, deadline: float, timeout_seconds: int
    ) -> tuple[bytes, bool]:
        while True:
            try:
                return invocation.answer.result(_LOOK_SECONDS)
            except TimeoutError:
                if time.time() > deadline:
                    self.stop()
                    text = f"Task timed out after {timeout_seconds}.00 seconds"
                    return _error("Sandbox.Timedout", invocation.request_id, text), True
                if (status := self._process.poll()) is not None:
                    text = f"Runtime exited with error: exit status {status}"
                    ended = _error("Runtime.ExitError", invocation.request_id, text)
                    return self._api.init_error or ended, True

    def get_logs(self) -> str:
        """All that the process has printed."""
        return self._log.read_text(errors="replace")

    def get_address(self) -> str:
        """The address of the process."""
        return "127.0.0.1"

    get_endpoint_from_executor = get_address

    def get_runtime_endpoint(self) -> str:
        """No URL: the process calls its own Runtime API."""
        return ""

    @classmethod
    def prepare_version(cls, function_version: Any) -> None:  # noqa: ANN401 - untyped
        """Unzip the code."""
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version: Any) -> None:  # noqa: ANN401 - untyped
        """Leave the files to the emulator's end."""


def _error(kind: str, request_id: str, text: str) -> bytes:
    message = f"RequestId: {request_id} Error: {text}"
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


def _merged(layers: list[Any], home: Path) -> Path:
    """The folder that Lambda would mount as /opt."""
    name = "+".join(re.sub(r"\W", "_", layer.code.id) for layer in layers) or "none"
    merged = home / "tmp" / "opt" / name[:200]
    with _merging:
        if not merged.exists():
            merged.mkdir(parents=True)
            for layer in layers:
                layer.code.prepare_for_execution()
                source = f"{layer.code.get_unzipped_code_location()}/."
                subprocess.run(["cp", "-alf", source, str(merged)], check=True)  # noqa: S607
    return merged

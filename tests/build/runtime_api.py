"""Lambda's own Runtime API on this machine: the emulator that the SAM CLI ships."""

import contextlib
import http.client
import importlib.metadata
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.build.artifacts import ARCHITECTURE, interpreter
from tests.support.servers import reserved_port

_START_LIMIT_SECONDS: Final = 60.0
_INVOKE_LIMIT_SECONDS: Final = 120.0
_STOP_LIMIT_SECONDS: Final = 10.0
_PATH: Final = "/2015-03-31/functions/function/invocations"


def emulator() -> Path:
    """The Runtime Interface Emulator for this machine; it is a Linux program."""
    name = f"aws-lambda-rie-{ARCHITECTURE}"
    return Path(str(importlib.metadata.distribution("aws-sam-cli").locate_file("samcli"))).joinpath(
        "local", "rapid", name
    )


@dataclass(frozen=True, slots=True)
class Function:
    """A function as Lambda would run it.

    Attributes:
        task_root: Its folder, /var/task in Lambda.
        search: Further folders that it can import from.
        variables: Its environment variables.
        timeout_seconds: After how long an invocation is ended.
        memory_mb: What it is told of its memory; nothing limits it here.
    """

    task_root: Path
    search: Sequence[Path]
    variables: Mapping[str, str]
    timeout_seconds: int
    memory_mb: int

    def environment(self) -> dict[str, str]:
        """The environment of the process; of ours it has PATH alone."""
        return {
            **self.variables,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, (self.task_root, *self.search))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(self.timeout_seconds),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self.memory_mb),
            "AWS_LAMBDA_FUNCTION_NAME": self.task_root.name,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }


@dataclass(frozen=True, slots=True)
class Running:
    """A function that waits for invocations; one at a time, as the emulator wants it."""

    port: int
    log: Path

    def invoke(self, event: object) -> Any:  # noqa: ANN401 - whatever the handler returned
        """Invoke it and return its response, or the error as Lambda words it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, _INVOKE_LIMIT_SECONDS)
        with contextlib.closing(connection):
            connection.request("POST", _PATH, body=json.dumps(event).encode())
            text = connection.getresponse().read().decode()
        try:
            return json.loads(text)
        except ValueError:
            return text  # the emulator words a time-out as plain text


@contextlib.contextmanager
def running(function: Function, log: Path) -> Iterator[Running]:
    """Start *function*; it and the emulator are gone when the block ends.

    ``-S`` hides this environment's packages: what the function can import is what it was given.
    """
    with reserved_port() as port, reserved_port() as api_port:
        yield from _running_at(port, api_port, function, log)


def _running_at(port: int, api_port: int, function: Function, log: Path) -> Iterator[Running]:
    command: list[str | Path] = [
        emulator(),
        *("--runtime-interface-emulator-address", f"127.0.0.1:{port}"),
        *("--runtime-api-address", f"127.0.0.1:{api_port}"),
        *(interpreter().path, "-S", "-m", "awslambdaric", "app.lambda_handler"),
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=function.task_root,
            env=function.environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that what it starts can be ended with it
        )
    try:
        _wait_for(port, process, log)
        yield Running(port, log)
    finally:
        _stop(process)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + _START_LIMIT_SECONDS
    while process.poll() is None and time.monotonic() < give_up_at:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise AssertionError(f"the Runtime Interface Emulator did not start:\n{log.read_text()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    with contextlib.suppress(ProcessLookupError):  # the function, if the emulator left it behind
        os.killpg(process.pid, signal.SIGKILL)

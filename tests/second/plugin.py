"""A plugin of pytest: the end-to-end tests, unchanged, on a second emulator.

Use it with ``-p tests.second.plugin``; ``make second`` does.
"""

import json
import os
import ssl
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Final

import pytest
from bench.maven import fetched
from tests.second.differences import NOT_RUN

from bucketsum_cli.commands.local import deployment
from bucketsum_cli.emulator import emulator_state, launcher, process
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import Interpreter
from bucketsum_cli.terminal.errors import CannotDoError

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = ROOT / ".venv" / "second" / "bin" / "python"
JAVA: Final = {
    "dynamodb-local": "com.amazonaws:DynamoDBLocal:2.6.1",
    "jsonata": "com.dashjoin:jsonata:0.9.8",
}
START_SECONDS: Final = 180


def start(
    project: LocalProject, interpreter: Interpreter, *, lambda_network: bool = False
) -> emulator_state.LocalAws:
    """Start LocalStack where the project starts ministack; see `launcher.start`."""
    assert not lambda_network, "it has no such network"
    assert interpreter.minor == 13, "it needs Python 3.13"
    home = project.home
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    launcher._issue_certificate(home)  # noqa: SLF001 - as ministack's
    parts = [(home / name).read_text() for name in ("key.pem", "certificate.pem")]
    (home / "server.pem").write_text("".join(parts))
    (home / "worker.json").write_text(json.dumps({"cgroup_roots": None, "lambda_network": False}))
    port = launcher._free_port(0)  # noqa: SLF001 - as ministack's
    libraries = [str(fetched(name, coordinates)) for name, coordinates in JAVA.items()]
    variables = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    variables |= {"TMPDIR": str(home / "tmp"), "AWS_CA_BUNDLE": str(home / "ca.pem")}
    program = str(home / process.WORKER_PROGRAM)  # by which `emulator_state` knows the process
    with (home / "gateway.log").open("wb") as log:
        server = subprocess.Popen(
            [PYTHON, "-m", "tests.second.emulator", program, str(port), *libraries],
            cwd=ROOT, env=variables | {"PYTHONWARNINGS": "ignore"}, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    launcher._OUTLIVING.append(server)  # noqa: SLF001 - as ministack's
    started = emulator_state.LocalAws(
        pid=server.pid,
        endpoint=f"https://127.0.0.1:{port}",
        region=launcher.REGION,
        stack="bucketsum",
        ca_bundle=str(home / "ca.pem"),
    )
    emulator_state.save(project, started)
    _wait_until_ready(started, server, home / "gateway.log")
    return started


def _wait_until_ready(
    started: emulator_state.LocalAws, server: subprocess.Popen[bytes], log: Path
) -> None:
    tls = ssl.create_default_context(cafile=started.ca_bundle)
    ready = f"{started.endpoint}/_localstack/health"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(ready, context=tls):  # noqa: S310 - it is our server
                return
        except OSError:
            time.sleep(0.2)
    raise CannotDoError(f"LocalStack did not start:\n{launcher.log_end(log, 40)}")


def pytest_configure() -> None:
    """Replace the emulator; the template's mappings need no correction here."""
    replaced = pytest.MonkeyPatch()
    replaced.setattr(launcher, "start", start)
    replaced.setattr(deployment, "correct_mappings", lambda _: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that stand on a known difference."""
    for item in items:
        for name in (item.name.partition("[")[0], item.path.name):
            if reason := NOT_RUN.get(name):
                item.add_marker(pytest.mark.skip(reason=reason))

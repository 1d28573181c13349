"""Start and stop a local emulator, with all its files in one folder."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final

from bucketsum_cli.emulator import emulator_state, gateway, process
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.emulator.interpreter import Interpreter, make_runtime
from bucketsum_cli.machine import worker
from bucketsum_cli.machine.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.machine.folders import DEFAULT_STACK
from bucketsum_cli.terminal.errors import CannotDoError

REGION: Final = "us-east-1"

_START_SECONDS: Final = 30
_OUTLIVING: Final[list[subprocess.Popen[bytes]]] = []
"""Servers started here: they outlive this command, and Python warns of dropped processes."""

_CA_FILE: Final = "ca.pem"
_CERTIFICATE_FILE: Final = "certificate.pem"
_KEY_FILE: Final = "key.pem"
_PREFERRED_PORT: Final = 4566
_ANY_PORTS: Final = (0,) * 4
_LOG_LINES_SHOWN: Final = 15
_TEMPORARY: Final = "emulator-tmp"
"""Removed with the emulator; `BUCKETSUM_HOME` may be a folder with a ``tmp`` of the person's."""


def require_parts() -> None:
    """Check that the packages for `bucketsum local` are installed.

    Raises:
        CannotDoError: Some are not; the message says how to install them.
    """
    missing = [
        name
        for name in ("ministack", "samcli", "trustme", "uv")
        if not importlib.util.find_spec(name)
    ]
    if missing:
        raise CannotDoError(
            f"`bucketsum local` needs {', '.join(missing)}; in a clone of bucketsum, `make setup` "
            "installs all of it; with a wheel, install it with its extra `local`"
        )


def start(
    project: LocalProject, interpreter: Interpreter, *, lambda_network: bool = False
) -> emulator_state.LocalAws:
    """Start the emulator and wait until it answers.

    A free port may be taken before the server binds it; then the next is tried. Only the usual
    emulator prefers port 4566.

    Raises:
        CannotDoError: It did not start; the message has the end of its log.
    """
    runtime = make_runtime(project, interpreter)
    failure = CannotDoError("no port on 127.0.0.1 is free")
    for wanted in (_PREFERRED_PORT,) * project.is_usual + _ANY_PORTS:
        port = _free_port(wanted)
        if port is None:
            continue
        try:
            return _start_at(port, project, runtime, lambda_network=lambda_network)
        except CannotDoError as error:
            if _free_port(port):
                raise
            failure = error
    raise failure


def _start_at(
    port: int, project: LocalProject, runtime: Path, *, lambda_network: bool
) -> emulator_state.LocalAws:
    home = project.home
    (home / _TEMPORARY).mkdir(parents=True, exist_ok=True)
    _issue_certificate(home)
    hidden = _settings(home, port)
    limits = {
        "cgroup_roots": cgroup_roots(_group_name(home, port)),
        "lambda_network": lambda_network,
    }
    program = _worker_program(home, runtime, {**limits, "hidden": list(hidden)})
    with (home / "gateway.log").open("wb") as log:
        server = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-I", gateway.__file__, str(program)],
            cwd=home,
            env=hidden
            | {"PATH": os.environ.get("PATH", os.defpath), "AWS_CA_BUNDLE": str(home / _CA_FILE)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # it outlives this command and its terminal
        )
    _OUTLIVING.append(server)
    started = emulator_state.LocalAws(
        pid=server.pid,
        endpoint=f"https://127.0.0.1:{port}",
        region=REGION,
        stack=DEFAULT_STACK,
        ca_bundle=str(home / _CA_FILE),
    )
    try:
        emulator_state.save(project, started)
        _wait_until_ready(project, started, server)
    except BaseException:
        _end(server.pid, home)
        stop(project)
        raise
    return started


def stop(project: LocalProject) -> bool:
    """Stop the emulator and remove its leftovers; returns whether it was running."""
    home = project.home
    pid = emulator_state.living_pid(project)
    if pid is not None:
        _end(pid, home)
    emulator_state.forget(project)
    shutil.rmtree(home / _TEMPORARY, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        roots = json.loads((home / "worker.json").read_text())["cgroup_roots"]
        if roots:
            remove_roots(roots)
    return pid is not None


def lambda_likeness(project: LocalProject) -> tuple[bool, bool]:
    """Whether local workers have Lambda's CPU share and memory limit, and whether its network."""
    settings = json.loads((project.home / "worker.json").read_text())
    return settings["cgroup_roots"] is not None, settings["lambda_network"]


def log_end(path: Path, lines: int = _LOG_LINES_SHOWN) -> str:
    """The last *lines* of a log file."""
    return "\n".join(path.read_text(errors="replace").expandtabs().splitlines()[-lines:])


def _settings(home: Path, port: int) -> dict[str, str]:
    """Return ministack's configuration: environment variables only."""
    return {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",  # its default is every interface
        # TLS as on AWS: reads cost the same CPU, and the bucket's policy requires it.
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(home / _CERTIFICATE_FILE),
        "MINISTACK_SSL_KEY": str(home / _KEY_FILE),
        "IOT_MTLS_ENABLED": "0",  # or it listens on a second port, on every interface
        "LAMBDA_EXECUTOR": "local",
        "AUTH": "true",  # a role that lacks a permission must fail here as it would on AWS
        "MINISTACK_REGION": REGION,
        "PERSIST_STATE": "0",
        "HOME": str(home),
        "TMPDIR": str(home / _TEMPORARY),
        "LOG_LEVEL": "INFO",
    }


def _issue_certificate(home: Path) -> None:
    """Make a certificate authority for this start, and a certificate for 127.0.0.1."""
    import trustme  # noqa: PLC0415 - optional; see `require_parts`

    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(home / _CA_FILE)
    (home / _KEY_FILE).touch(mode=0o600)
    issued.private_key_pem.write_to_path(home / _KEY_FILE)
    (home / _CERTIFICATE_FILE).write_bytes(b"".join(p.bytes() for p in issued.cert_chain_pems))


def _worker_program(home: Path, runtime: Path, settings: dict[str, Any]) -> Path:
    """Write the program that ministack starts in place of its own Python."""
    config = home / "worker.json"
    config.write_text(json.dumps(settings, indent=2))
    program = home / process.WORKER_PROGRAM
    command = shlex.join([str(runtime), "-I", worker.__file__, str(config)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    return program


def _group_name(home: Path, port: int) -> str:
    """Return a name for control groups that no other emulator uses, even with the same port."""
    return f"bucketsum-{hashlib.sha256(os.fsencode(home)).hexdigest()[:8]}-{port}"


def _free_port(wanted: int) -> int | None:
    """Return *wanted*, or any port if that is 0; None if it is not free.

    A port with connections in TIME_WAIT is free: the server binds it with SO_REUSEADDR.
    """
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("127.0.0.1", wanted))
        except OSError:
            return None
        port: int = candidate.getsockname()[1]
        return port


def _wait_until_ready(
    project: LocalProject, started: emulator_state.LocalAws, server: subprocess.Popen[bytes]
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    tls = ssl.create_default_context(cafile=started.ca_bundle)
    without_proxy = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls)
    )
    ready = f"{started.endpoint}/_ministack/ready"
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with without_proxy.open(ready, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    log = project.home / "gateway.log"
    raise CannotDoError(f"the local emulator did not start; the end of {log}:\n{log_end(log)}")


def _end(pid: int, home: Path) -> None:
    process.end(pid, home)
    for child in _OUTLIVING:
        if child.pid == pid:
            child.wait()  # or it stays as a zombie

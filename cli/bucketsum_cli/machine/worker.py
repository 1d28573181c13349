"""Execution environment of a Lambda function; the local emulator runs it in place of Python.

It runs in an isolated interpreter (``-I``: the standard library and boto3, not the project), so
this file imports the standard library alone. It joins a cgroup with Lambda's memory limit, runs
the emulator's worker script, and sets Lambda's CPU share after the function has initialised:
Lambda gives the init phase more CPU than the memory size buys.
"""

from __future__ import annotations

import json
import os
import runpy
import site
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

PERIOD_US = 20_000
"""Length of one CPU accounting period; [T] Lambda's own (github pwrdrvr/lambda-throttling)."""

MEMORY_MB_PER_CPU = 1769
"""[A] "At 1,769 MB, a function has the equivalent of one vCPU"."""

_MIB = 1024 * 1024


def quota_us(memory_mb: int) -> int:
    """CPU time in µs per `PERIOD_US` that Lambda gives a function with this memory size."""
    return PERIOD_US * memory_mb // MEMORY_MB_PER_CPU


class Cgroup:
    """A control group with Lambda's limits, of kernel interface version 1 or 2.

    *roots* is ``{"cpu": folder, "memory": folder}``; the same folder twice means version 2.
    """

    def __init__(self, roots: dict[str, str], name: str, memory_mb: int) -> None:
        self._cpu = Path(roots["cpu"], name)
        self._memory = Path(roots["memory"], name)
        self._unified = self._cpu == self._memory
        self._memory_mb = memory_mb

    def limit_memory(self, pid: int) -> None:
        """Move *pid* into the group; the kernel kills it if it exceeds the memory limit."""
        self._memory.mkdir(parents=True, exist_ok=True)
        limit = "memory.max" if self._unified else "memory.limit_in_bytes"
        (self._memory / limit).write_text(str(self._memory_mb * _MIB))
        (self._memory / "cgroup.procs").write_text(str(pid))

    def limit_cpu(self, pid: int) -> None:
        """From now on *pid* gets Lambda's CPU share."""
        self._cpu.mkdir(parents=True, exist_ok=True)
        quota = quota_us(self._memory_mb)
        if self._unified:
            (self._cpu / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        else:
            (self._cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self._cpu / "cpu.cfs_quota_us").write_text(str(quota))
        (self._cpu / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the group; one that still has a process stays."""
        for folder in {self._cpu, self._memory}:
            try:
                folder.rmdir()
            except OSError:
                continue


def remove_empty_cgroups(roots: dict[str, str]) -> None:
    """Remove the groups of processes that have ended.

    A worker creates its group before it joins it, so an empty group is stale only if no process
    has that pid.
    """
    for root in set(roots.values()):
        for folder in Path(root).glob("*/"):
            if folder.name.isdecimal() and Path("/proc", folder.name).exists():
                continue
            Cgroup({"cpu": root, "memory": root}, folder.name, 0).remove()


class _InitEnds:
    """The worker's standard output; its first line means that init is over."""

    def __init__(self, stream: TextIO, on_first_line: Any) -> None:  # noqa: ANN401 - a callable
        self._stream = stream
        self._on_first_line = on_first_line

    def write(self, text: str) -> int:
        if self._on_first_line is not None:
            self._on_first_line()
            self._on_first_line = None
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


def lambda_environment(environ: dict[str, str], hidden: list[str]) -> dict[str, str]:
    """Return the variables of a function: its own and Lambda's, none of the emulator's."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    kept = {name: value for name, value in environ.items() if name not in hidden}
    return kept | {
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{version}",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
    }


def search_own_wheels_alone() -> None:
    """Import packages only from the layer's folder of this Python version, as Lambda does.

    The emulator adds the folders of all versions, and the first match may not fit this Python.
    """
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    add = site.addsitedir

    def add_own(sitedir: str, known_paths: set[str] | None = None) -> None:
        if Path(sitedir).parent.name == own:
            add(sitedir, known_paths)

    site.addsitedir = add_own


def slow_network() -> subprocess.Popen[bytes]:
    """Let this process reach S3 through a proxy with Lambda's network; both end together."""
    emulator = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    proxy = Path(__file__).with_name("proxy.py")
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        number, port = listener.fileno(), listener.getsockname()[1]
        os.environ["AWS_ENDPOINT_URL_S3"] = f"{emulator.scheme}://127.0.0.1:{port}"
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", str(proxy), str(number), emulator.netloc],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
        )


def main(config_path: str, script: str) -> None:
    """Run the emulator's *script*, with Lambda's limits if the machine allows them."""
    config = json.loads(Path(config_path).read_text())
    roots: dict[str, str] | None = config["cgroup_roots"]
    memory_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])
    environment = lambda_environment(dict(os.environ), config["hidden"])
    os.environ.clear()
    os.environ.update(environment)
    network = slow_network() if config["lambda_network"] else None
    if roots:
        remove_empty_cgroups(roots)
        cgroup = Cgroup(roots, str(os.getpid()), memory_mb)
        cgroup.limit_memory(os.getpid())
        sys.stdout = _InitEnds(sys.stdout, lambda: cgroup.limit_cpu(os.getpid()))
    search_own_wheels_alone()
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    del network  # its proxy ends when the last reference to its pipe is gone


if __name__ == "__main__":
    main(*sys.argv[1:])

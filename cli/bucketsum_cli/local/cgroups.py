"""Whether this machine lets us give local workers Lambda's CPU share and memory limit."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from bucketsum_cli.local.worker import Cgroup

_MOUNTS: Final = Path("/proc/mounts")
_PROBE_MEMORY_MB: Final = 128
_EMPTY_SECONDS: Final = 5.0


def cgroup_roots(name: str, mounts: Path = _MOUNTS) -> dict[str, str] | None:
    """Folders for control groups called *name*, or None where the machine does not let us.

    Proves it by putting a process of our own into a box and taking the box away again.
    """
    parents = _controllers(mounts)
    if parents is None:
        return None
    roots = {controller: str(parent / name) for controller, parent in parents.items()}
    try:
        _open_to_children(parents, roots)
        _probe(roots)
    except OSError:
        remove_roots(roots)
        return None
    return roots


def remove_roots(roots: dict[str, str]) -> None:
    """Give back what `cgroup_roots` made, and end the processes that are still in it."""
    for root in set(roots.values()):
        for box in Path(root).glob("*/"):
            _give_back(box)
        _give_back(Path(root))


def _give_back(group: Path) -> None:
    """Remove a control group; the kernel lets go of it only once the last process is gone."""
    deadline = time.monotonic() + _EMPTY_SECONDS
    while time.monotonic() < deadline:
        _kill(_words(group / "cgroup.procs"))
        try:
            group.rmdir()
        except OSError as error:
            if error.errno == errno.EBUSY:
                time.sleep(0.02)
                continue
        return


def _kill(pids: list[str]) -> None:
    for pid in map(int, pids):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if pid > 0:  # 0 stands for one outside of our view, and would be ourselves
                os.kill(pid, signal.SIGKILL)


def _controllers(mounts: Path) -> dict[str, Path] | None:
    """Where the cpu and memory controllers are mounted: one place each in v1, the same in v2."""
    found: dict[str, Path] = {}
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup":
            for controller in {"cpu", "memory"} & set(options.split(",")):
                found[controller] = Path(where)
    for line in lines:
        _, where, kind, *_ = line.split()
        enabled = Path(where, "cgroup.subtree_control")
        if kind == "cgroup2" and {"cpu", "memory"} <= set(_words(enabled)):
            found = {"cpu": Path(where), "memory": Path(where)}
    return found if set(found) == {"cpu", "memory"} else None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _open_to_children(parents: dict[str, Path], roots: dict[str, str]) -> None:
    for root in roots.values():
        Path(root).mkdir(exist_ok=True)
    if parents["cpu"] == parents["memory"]:  # v2 passes controllers on one level at a time
        Path(roots["cpu"], "cgroup.subtree_control").write_text("+cpu +memory")


def _probe(roots: dict[str, str]) -> None:
    box = Cgroup(roots, f"probe-{os.getpid()}", _PROBE_MEMORY_MB)
    waiting = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as child:  # noqa: S603 - ourselves
        try:
            box.limit_memory(child.pid)
            box.limit_cpu(child.pid)
        finally:
            child.communicate()
    box.remove()

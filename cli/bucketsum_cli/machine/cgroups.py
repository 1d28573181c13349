"""Control groups for local workers: Lambda's CPU share and memory limit.

`worker.Cgroup` sets both, since a worker imports only the standard library.
"""

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

from bucketsum_cli.machine.worker import Cgroup

_MOUNTS: Final = Path("/proc/mounts")
_PROBE_MEMORY_MB: Final = 128
_EMPTY_SECONDS: Final = 5.0


def cgroup_roots(name: str, mounts: Path = _MOUNTS) -> dict[str, str] | None:
    """Make folders for control groups with this name; None if the machine does not allow it.

    As a proof, a child process is moved into a group, and the group is removed again.
    """
    parents = _controllers(mounts)
    if parents is None:
        return None
    roots = {controller: str(parent / name) for controller, parent in parents.items()}
    try:
        for root in roots.values():
            Path(root).mkdir(exist_ok=True)
        if parents["cpu"] == parents["memory"]:  # version 2 enables controllers level by level
            Path(roots["cpu"], "cgroup.subtree_control").write_text("+cpu +memory")
        _probe(roots)
    except OSError:
        remove_roots(roots)
        return None
    return roots


def remove_roots(roots: dict[str, str]) -> None:
    """Remove the folders of `cgroup_roots`, and end the processes that are still in them."""
    for root in set(roots.values()):
        for group in Path(root).glob("*/"):
            _remove(group)
        _remove(Path(root))


def forbid_swap(group: Path) -> None:
    """Let *group* run out of memory as on Lambda, even if the machine has swap space."""
    for file in ("memory.swap.max", "memory.swappiness"):
        if (group / file).exists():
            (group / file).write_text("0")


def kills_of(group: Path) -> int:
    """Processes of *group* that the kernel killed because memory ran out."""
    files = (group / name for name in ("memory.oom_control", "memory.events"))
    return sum(kills_in(file.read_text()) for file in files if file.exists())


def kills_in(text: str) -> int:
    """The count after ``oom_kill``, in cgroup version 1 and 2."""
    words = text.split()
    return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0


def _remove(group: Path) -> None:
    """Remove a control group; the kernel allows it only after the last process has ended."""
    deadline = time.monotonic() + _EMPTY_SECONDS
    while time.monotonic() < deadline:
        for pid in map(int, _words(group / "cgroup.procs")):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if pid > 0:  # 0 is outside of our namespace; for os.kill it is ourselves
                    os.kill(pid, signal.SIGKILL)
        try:
            group.rmdir()
        except OSError as error:
            if error.errno == errno.EBUSY:
                time.sleep(0.02)
                continue
        return


def _controllers(mounts: Path) -> dict[str, Path] | None:
    """Find the mounts of the cpu and memory controllers: two in version 1, one in version 2."""
    folders: dict[str, Path] = {}
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, mount, kind, options, *_ = line.split()
        if kind == "cgroup":
            for controller in {"cpu", "memory"} & set(options.split(",")):
                folders[controller] = Path(mount)
    for line in lines:
        _, mount, kind, *_ = line.split()
        enabled = Path(mount, "cgroup.subtree_control")
        if kind == "cgroup2" and {"cpu", "memory"} <= set(_words(enabled)):
            folders = {"cpu": Path(mount), "memory": Path(mount)}
    return folders if set(folders) == {"cpu", "memory"} else None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _probe(roots: dict[str, str]) -> None:
    group = Cgroup(roots, f"probe-{os.getpid()}", _PROBE_MEMORY_MB)
    waiting = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as child:  # noqa: S603 - ourselves
        try:
            group.limit_memory(child.pid)
            group.limit_cpu(child.pid)
        finally:
            child.communicate()
    group.remove()

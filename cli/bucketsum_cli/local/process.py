"""The process of the embedded AWS: whether it lives, and how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

from bucketsum_cli.errors import CannotDoError

WORKER_PROGRAM: Final = "lambda-worker"
"""Name of the file, in the project's folder, that the embedded AWS starts functions with."""

_PROC: Final = Path("/proc")
_ENDED_STATES: Final = (b"Z", b"X")
_READINGS: Final = 50
_POLITE_SECONDS: Final = 1.0
_KILLED_SECONDS: Final = 10.0


def lives(pid: int, home: Path) -> bool:
    """Whether *pid* is the embedded AWS of *home*: not a later process of that number.

    Its command line names the worker program; one that has ended has no command line, even while
    nobody has collected it.

    Raises:
        CannotDoError: This machine does not tell.
    """
    program = str(home / WORKER_PROGRAM)
    if (_PROC / "self" / "cmdline").exists():
        return program in _arguments_by_proc(pid)
    return _command_by_ps(pid).endswith(f" {program}")


def _arguments_by_proc(pid: int) -> list[str]:
    """The command line of *pid*; empty where it has ended.

    It is empty for a moment, too, while a process is becoming another program.
    """
    folder = _PROC / str(pid)
    for _ in range(_READINGS):
        try:
            told = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            return []
        if told or state in _ENDED_STATES:
            return os.fsdecode(told).split("\0")
        time.sleep(0.002)
    return []


def _command_by_ps(pid: int) -> str:
    try:
        ps = subprocess.run(  # noqa: S603 - a number
            ["ps", "-ww", "-o", "command=", "-p", str(pid)],  # noqa: S607 - wherever it is
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise CannotDoError(
            f"cannot tell whether process {pid} is the embedded AWS: there is no /proc, and `ps` "
            f"does not run ({error.strerror}); install `ps`"
        ) from None
    return ps.stdout.rstrip()


def end(pid: int, home: Path) -> None:
    """End *pid* and its whole group, the workers: politely first, for a moment.

    Nothing that it holds is kept, so there is nothing to wait for.
    """
    for number, seconds in ((signal.SIGTERM, _POLITE_SECONDS), (signal.SIGKILL, _KILLED_SECONDS)):
        end_group(pid, number)
        deadline = time.monotonic() + seconds
        while lives(pid, home) and time.monotonic() < deadline:
            time.sleep(0.02)


def end_group(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to all that *pid*, the leader of a group, has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: all are zombies
        os.killpg(pid, number)

"""The process of the local emulator: liveness check and termination."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

WORKER_PROGRAM: Final = "lambda-worker"
"""File in the emulator's folder: the program that it starts functions with."""

_PROC: Final = Path("/proc")
_EXEC_SECONDS: Final = 10.0
"""Longest exec on a busy machine: a process without a command line is then something else."""

_POLITE_SECONDS: Final = 1.0
_KILLED_SECONDS: Final = 10.0


def lives(pid: int, home: Path) -> bool:
    """Whether *pid* is the local emulator of *home*, and not a later process with that number.

    Its command line names the worker program. An ended process has no command line, even as a
    zombie.
    """
    return str(home / WORKER_PROGRAM) in _arguments_of(pid)


def _arguments_of(pid: int) -> list[str]:
    """Return the command line of *pid*; empty if it has ended.

    It is also empty during exec, so it is read until the process has one.
    """
    folder = _PROC / str(pid)
    deadline = time.monotonic() + _EXEC_SECONDS
    try:
        while not (arguments := (folder / "cmdline").read_bytes()):
            (folder / "exe").readlink()  # neither an ended process nor a kernel thread has one
            if time.monotonic() >= deadline:
                return []
            time.sleep(0.002)
    except OSError:
        return []
    return os.fsdecode(arguments).split("\0")


def end(pid: int, home: Path) -> None:
    """End *pid* and its process group, the workers: SIGTERM first, soon SIGKILL.

    The emulator saves nothing, so there is nothing to wait for.
    """
    for number, seconds in ((signal.SIGTERM, _POLITE_SECONDS), (signal.SIGKILL, _KILLED_SECONDS)):
        end_group(pid, number)
        deadline = time.monotonic() + seconds
        while lives(pid, home) and time.monotonic() < deadline:
            time.sleep(0.02)


def end_group(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to all processes of the group that *pid* leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: all are zombies
        os.killpg(pid, number)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back during the block, and deliver them at its end.

    A process that is started in the block can then be ended by whoever handles the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    held: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda got, _: held.append(got)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for signum in held:
            signal.raise_signal(signum)

"""Requests to a process and its answers, a line of JSON each."""

from __future__ import annotations

import json
import os
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import subprocess

_READ_BYTES: Final = 65_536


class NoAnswerError(Exception):
    """The program ended, or gave no answer in time and was still running."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("timed out" if timed_out else "ended")
        self.timed_out = timed_out


def send(process: subprocess.Popen[bytes], request: object) -> None:
    """Write *request*; a process that has ended gets none, as `answer_of` will say."""
    assert process.stdin is not None  # noqa: S101 - a pipe
    with suppress(BrokenPipeError):
        process.stdin.write(f"{json.dumps(request)}\n".encode())
        process.stdin.flush()


def answer_of(process: subprocess.Popen[bytes], deadline: float) -> dict[str, Any]:
    """Wait for the answer until *deadline*, by `time.monotonic`.

    Raises:
        NoAnswerError: There is none.
    """
    assert process.stdout is not None  # noqa: S101 - a pipe
    handle, line = process.stdout.fileno(), b""
    while not line.endswith(b"\n"):
        if not select.select([handle], [], [], max(deadline - time.monotonic(), 0))[0]:
            raise NoAnswerError(timed_out=True)
        part = os.read(handle, _READ_BYTES)
        if not part:
            raise NoAnswerError(timed_out=False)
        line += part
    document: dict[str, Any] = json.loads(line)
    return document

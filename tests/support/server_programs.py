"""Servers of tests that are programs of others, run on this machine."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.maven import ProgramUnavailableError

START_SECONDS: Final = 200

SHORT_LIVED: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that lives for seconds: compiling its code further would take longer."""


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    answers: Callable[[], bool],
    variables: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Run *command* in the folder of its *log* from when it *answers* until the block ends.

    Raises:
        ProgramUnavailableError: It did not start; the text ends with what it wrote.
    """
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=log.parent,
            env={**os.environ, **(variables or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        if not _is_up(answers, server):
            raise ProgramUnavailableError(f"{command[0]} did not start: {log.read_text()[-500:]}")
        yield
    finally:
        server.kill()
        server.wait()


def _is_up(answers: Callable[[], bool], server: subprocess.Popen[bytes]) -> bool:
    give_up = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < give_up:
        if answers():
            return True
        time.sleep(0.1)
    return False

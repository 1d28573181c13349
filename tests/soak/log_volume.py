"""Bytes of log lines, from the file that the emulator writes."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LogVolume:
    """Bytes that were appended to the emulator's log.

    Attributes:
        functions: Lines that functions wrote: structured log lines and metrics.
        emulator: All others.
    """

    functions: int
    emulator: int


def log_volume(log: Path, since: int) -> LogVolume:
    """The volume of *log* after its first *since* bytes."""
    functions = total = 0
    with log.open("rb") as file:
        file.seek(since)
        for line in file:
            total += len(line)
            if line.startswith(b"{"):
                functions += len(line)
    return LogVolume(functions, total - functions)

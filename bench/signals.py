"""Signals that end a benchmark, after its sandbox is removed."""

import signal
from typing import NoReturn


def unwind_on_signals() -> None:
    """Let SIGTERM and SIGHUP end this process as SIGINT does: every ``with`` is left."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)

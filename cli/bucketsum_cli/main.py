"""Entry point of `bucketsum`; it imports little, so that Ctrl-C works from the beginning."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

_INTERRUPTED: Final = 130  # as in `errors`, whose import takes its time


def main() -> NoReturn:
    """Run the command with the arguments of this process, and exit with its status."""
    try:
        with _sigterm_as_exit():
            from bucketsum_cli.commands.root import run  # noqa: PLC0415 - takes half a second

            sys.exit(run())
    except KeyboardInterrupt:
        if sys.stderr is not None:  # closed, as by `2>&-`
            sys.stderr.write("interrupted\n")
        sys.exit(_INTERRUPTED)


@contextmanager
def _sigterm_as_exit() -> Iterator[None]:
    """Let SIGTERM end this process as Ctrl-C does: first everything it started is stopped."""

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # a second one does not interrupt the clean-up
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

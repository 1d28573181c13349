"""A FIFO whose other end may be a process that never opens it."""

import os
import select
from pathlib import Path
from typing import IO, Final

import pytest

_SECONDS: Final = 60


def open_fifo(path: Path) -> IO[bytes]:
    """Open the FIFO for reading, when its other end has written or closed.

    A plain open() waits for ever for a process that ended before it opened its end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    ready, _, _ = select.select([descriptor], [], [], _SECONDS)
    if not ready:
        os.close(descriptor)
        pytest.fail(f"no process wrote to {path} in {_SECONDS} s")
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")

"""Lock: one command at a time starts or stops a local emulator."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum_cli.emulator import LocalProject

_LOCK_FILE: Final = "lock"


@contextmanager
def held(project: LocalProject) -> Iterator[None]:
    """Keep other commands from starting or stopping the emulator of *project* meanwhile.

    The system releases the lock when this process ends, in whatever way.

    Raises:
        CannotDoError: Another command holds it.
    """
    project.home.mkdir(parents=True, exist_ok=True)
    with (project.home / _LOCK_FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotDoError(
                "another `bucketsum local` is running here; wait for it, or end it with Ctrl-C"
            ) from None
        yield

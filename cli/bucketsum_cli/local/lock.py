"""One command at a time starts or stops the embedded AWS of a project."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from bucketsum_cli.emulator import FOLDER
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOCK_FILE: Final = "lock"


@contextmanager
def held(project: Path) -> Iterator[None]:
    """Keep others from starting or stopping the embedded AWS of *project* meanwhile.

    The system lets go of the lock when this process ends, however it ends.

    Raises:
        CannotDoError: Another command holds it.
    """
    home = project / FOLDER
    home.mkdir(exist_ok=True)
    with (home / _LOCK_FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotDoError(
                "another `bucketsum local` is at work here; wait for it, or end it with Ctrl-C"
            ) from None
        yield

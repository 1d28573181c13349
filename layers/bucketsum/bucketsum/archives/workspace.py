"""A folder under /tmp that is gone afterwards, also when the invocation before this one died."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "bucketsum-archive-"


@contextmanager
def workspace(root: Path | None = None) -> Iterator[Path]:
    """An empty folder of our own, removed at the end with all that is in it.

    What processes that are no more left behind is removed first: the lock that each holds on its
    folder ends with it. Lambda keeps /tmp for the next invocation, so nobody else would.
    """
    parent = root or Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    held = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        if folder.is_symlink() or (held := _locked(folder)) is None:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _locked(folder: Path) -> int | None:
    """A handle that holds *folder*; None where another process does."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held

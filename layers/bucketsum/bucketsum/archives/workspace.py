"""A folder under /tmp that is always removed, even if its process was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PREFIX: Final = "bucketsum-archive-"
_TRIES: Final = 10


@contextmanager
def workspace(root: Path | None = None) -> Iterator[Path]:
    """An empty folder, removed at the end with everything in it.

    Folders of killed processes are removed first: the lock on a folder ends with its process.
    Lambda keeps /tmp for the next invocation and does not clean it.
    """
    parent = root or Path(tempfile.gettempdir())
    _remove_abandoned(parent)
    folder, lock = _new_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _new_folder(parent: Path) -> tuple[Path, int | None]:
    """A new folder with its lock; None where the file system has no locks.

    Until it is locked, another process may take it for an abandoned one and remove it.
    """
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = _locked(folder)
        if lock is not None and folder.exists():
            return folder, lock
        if lock is not None:
            os.close(lock)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder, None


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        if folder.is_symlink() or (lock := _locked(folder)) is None:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path) -> int | None:
    """A handle with a lock on *folder*; None if another process has the lock."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock

"""Snapshots are deleted; of those that only a question wanted, the last of a table stay."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from bucketsum_cli.machine.folders import HOME_VARIABLE
from bucketsum_cli.snapshots.folder import (
    LIST,
    LISTING,
    MANIFESTS,
    MEASUREMENTS,
    PARTIAL,
    ROWS,
    Snapshot,
    snapshots,
    snapshots_folder,
)
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import size_text
from bucketsum_cli.terminal.hints import command_line

LAST_ONES: Final = 3
"""Snapshots of a table that stay although only a question wanted them."""

_ROW_BYTES: Final = 350
"""Of disk for a row with its listing and the tables of questions: 185 to 352 were measured."""
_MEMORY_BYTES: Final = 2_200_000_000
"""Memory of the first question at most: DuckDB writes the rest to the disk."""
_DAY_SECONDS: Final = 86_400
_LOCK: Final = "lock"
_OWN_FILES: Final = (
    LIST, *MANIFESTS, "tables-*.duckdb*", ".*-tables-*.duckdb*", _LOCK,
)  # fmt: skip
"""Beside those that a list names: its list first, the tables last."""


def require_room(folder: Path, rows: int, files_bytes: int = 0) -> str:
    """The disk and memory that a snapshot of *rows* in *folder* takes; its files are not less.

    Raises:
        CannotDoError: The disk has not so much.
    """
    parent = next(path for path in folder.absolute().parents if path.exists())
    needed, free = max(rows * _ROW_BYTES, files_bytes), shutil.disk_usage(parent).free
    text = f"{size_text(needed)} of disk and up to {size_text(_MEMORY_BYTES)} of memory"
    if needed > free:
        raise CannotDoError(
            f"a snapshot of {rows:,} rows takes some {text}, and {parent} has {size_text(free)} "
            f"left: delete others (`{command_line('snapshot', 'list')}` shows their sizes), or "
            f"name another disk with {HOME_VARIABLE} or with `{command_line('snapshot', '--to')}`"
        )
    return text


def hold(snapshot: Snapshot) -> None:
    """Let no other process remove *snapshot* while this one lives."""
    if not snapshot.is_kept:
        with suppress(OSError):  # a folder that cannot be written is never removed either
            _lock(snapshot, fcntl.LOCK_SH)


def remove_old(new: Snapshot) -> None:
    """Remove what the questions before *new* left of its table, and of processes that ended."""
    for partial in snapshots_folder().glob(f"{PARTIAL}*"):
        with suppress(FileNotFoundError):
            if time.time() - partial.stat().st_mtime > _DAY_SECONDS:
                shutil.rmtree(partial, ignore_errors=True)
    same = [snapshot for snapshot in snapshots(is_quiet=True) if snapshot.source == new.source]
    for old in _removable(same):
        with suppress(OSError):
            _lock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
            delete_snapshot(old)


def reason_kept(snapshot: Snapshot, same: Iterable[Snapshot]) -> str:
    """Why *snapshot* is there, of all those of the *same* table."""
    if snapshot.is_kept:
        return "taken by `snapshot`"
    if snapshot.url:
        return "its rows are in S3"
    return "to be removed" if snapshot in _removable(same) else f"one of the last {LAST_ONES}"


def size_of(snapshot: Snapshot) -> int:
    """Bytes of its folder on the disk, with the tables of questions."""
    return sum(path.stat().st_size for path in snapshot.folder.rglob("*") if path.is_file())


def _removable(same: Iterable[Snapshot]) -> list[Snapshot]:
    """Those of the *same* table, the newest first, that nobody keeps."""
    wanted = [snapshot for snapshot in same if not snapshot.is_kept and not snapshot.url]
    return wanted[LAST_ONES:]


def _lock(snapshot: Snapshot, how: int) -> None:
    """Lock *snapshot* until this process ends."""
    fcntl.lockf(os.open(snapshot.folder / _LOCK, os.O_RDWR | os.O_CREAT), how)


def delete_snapshot(snapshot: Snapshot) -> bool:
    """Delete its own files; first its list, so that what is left is not a snapshot.

    Returns whether its folder is gone: files of the person's stay in it.
    """
    folder = snapshot.folder
    if folder.is_symlink():
        folder.unlink()
        return True
    for pattern in _OWN_FILES:
        for path in folder.glob(pattern):
            path.unlink()
    for kind in (ROWS, LISTING, MEASUREMENTS):
        part = folder / kind
        if part.is_symlink():
            part.unlink()
            continue
        for file in snapshot.of_kind(kind):
            with suppress(FileNotFoundError, IsADirectoryError):
                (folder / file.name).unlink()
        with suppress(OSError):
            part.rmdir()
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()

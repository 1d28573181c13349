"""Digests of local files: computed here, or listed in a manifest."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bucketsum.algorithms import SHA1
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum_cli.manifests.entries import NO_NAME, NOT_UTF_8, Entry
from bucketsum_cli.objects.files import LocalFile, Skipped
from bucketsum_cli.terminal.live_progress import progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_AT_A_TIME: Final = 8


def hashed_files(
    files: Sequence[LocalFile], links: Collection[str] = ()
) -> tuple[list[tuple[LocalFile, dict[str, str]]], list[Skipped]]:
    """Hash *files*, several at a time; of links whose keys are in *links*, hash the target's path.

    Returns also the files that cannot be read.
    """
    with progress(in_bytes=True, passing=True) as shown:
        task = shown.add_task("hashing", total=sum(file.size_bytes for file in files))

        def digests(file: LocalFile) -> tuple[LocalFile, dict[str, str]] | Skipped:
            try:
                return file, {SHA1.name: _sha1_of(file, links, shown, task)}
            except OSError as error:
                return Skipped(file.path, error.strerror or str(error))

        pool = ThreadPoolExecutor(_AT_A_TIME)
        try:
            results = list(pool.map(digests, files))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return (
        [result for result in results if not isinstance(result, Skipped)],
        [result for result in results if isinstance(result, Skipped)],
    )


def _sha1_of(file: LocalFile, links: Collection[str], shown: Progress, task: TaskID) -> str:
    if file.key in links and file.path.is_symlink():
        target = os.fsencode(file.path.readlink())
        return hashlib.sha1(target, usedforsecurity=False).hexdigest()
    return sha1_of_file(file.path, shown, task)


def files_listed(
    entries: Iterable[Entry], prefix: str
) -> tuple[list[tuple[LocalFile, Entry]], list[Skipped]]:
    """Return the files of a manifest, whose keys are *prefix* + name; and names that no key has."""
    files = []
    skipped = []
    for entry in entries:
        path = Path(os.fsdecode(entry.name))
        if not entry.name:
            skipped.append(Skipped(path, f"line {entry.line}: {NO_NAME}"))
            continue
        try:
            key = prefix + entry.name.decode()
        except UnicodeDecodeError:
            skipped.append(Skipped(path, f"line {entry.line}: {NOT_UTF_8}"))
            continue
        if (size := len(key.encode())) > KEY_MAX_BYTES:
            reason = (
                f"line {entry.line}: its key would have {size} bytes, S3 allows {KEY_MAX_BYTES}"
            )
            skipped.append(Skipped(path, reason))
        else:
            files.append((LocalFile(path, key, entry.size_bytes or 0), entry))
    return files, skipped


def sha1_of_file(path: Path, shown: Progress, task: TaskID) -> str:
    """Compute the SHA-1 of a regular file; the bar *task* shows its bytes.

    Raises:
        OSError: It cannot be read, or is a device, a FIFO or a folder.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # opening a FIFO would wait for ever
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        reader: Any = shown.wrap_file(file, task_id=task)  # its type lacks `readinto`
        return hashlib.file_digest(reader, partial(hashlib.sha1, usedforsecurity=False)).hexdigest()

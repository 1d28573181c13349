"""Measures a disk past the page cache, with O_DIRECT; a disk without it is not measured."""

from __future__ import annotations

import errno
import mmap
import os
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Final

from bucketsum.measure import mb_per_s
from bucketsum_lab.protocol.samples import DiskSpeed

FILE_BYTES: Final = 64 * 1024 * 1024
QUEUE_DEPTH: Final = 16

_MIB: Final = 1024 * 1024
_BLOCK_BYTES: Final = 4096
_SECONDS: Final = 0.5
"""Duration of each measurement of random reads; the sequential ones may take longer."""

_SEQUENTIAL_SECONDS_MAX: Final = 2.0
_FREE_SHARE: Final = 4
"""The file is written only if the disk has so many times its size."""

_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})


def measure_disk(
    folder: Path | None = None, mounts: Path = Path("/proc/self/mountinfo")
) -> DiskSpeed:
    """The speed of the disk of *folder*, by default that of temporary files."""
    folder = folder or Path(tempfile.gettempdir())
    reason = _unmeasurable(folder, mounts)
    if reason:
        return DiskSpeed(str(folder), disk_unmeasured=reason)
    try:
        with tempfile.NamedTemporaryFile(prefix="bucketsum-disk-", dir=folder) as file:
            handle = os.open(file.name, os.O_RDWR | os.O_DIRECT)
            try:
                return _measured(str(folder), handle)
            finally:
                os.close(handle)
    except OSError as error:
        is_refused = error.errno == errno.EINVAL
        reason = "it has no O_DIRECT" if is_refused else error.strerror or str(error)
        return DiskSpeed(str(folder), disk_unmeasured=reason)


def _unmeasurable(folder: Path, mounts: Path) -> str | None:
    if not hasattr(os, "O_DIRECT"):
        return "the system has no O_DIRECT"
    try:
        device, space = folder.stat().st_dev, os.statvfs(folder)
        lines = mounts.read_text().splitlines()
    except OSError as error:
        return error.strerror or str(error)
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {line.partition(" - ")[2].split()[0] for line in lines if line.split()[2] == number}
    if kinds & _IN_MEMORY:
        return f"it is in memory ({', '.join(sorted(kinds))})"
    if space.f_bavail * space.f_frsize < _FREE_SHARE * FILE_BYTES:
        return f"it has less than {_FREE_SHARE * FILE_BYTES // _MIB} MiB of free space"
    return None


def _measured(folder: str, handle: int) -> DiskSpeed:
    with closing(mmap.mmap(-1, _MIB)) as buffer:  # aligned to a page, as O_DIRECT demands
        buffer[:] = os.urandom(_MIB)
        started = time.perf_counter()
        size = sum(os.pwritev(handle, [buffer], offset) for offset in _offsets(FILE_BYTES))
        os.fsync(handle)
        written = mb_per_s(size, time.perf_counter() - started)
        started = time.perf_counter()
        read = sum(os.preadv(handle, [buffer], offset) for offset in _offsets(size))
        read_speed = mb_per_s(read, time.perf_counter() - started)
    return DiskSpeed(
        folder,
        round(written, 1),
        round(read_speed, 1),
        round(_random_reads(handle, size, 1)),
        round(_random_reads(handle, size, QUEUE_DEPTH)),
    )


def _offsets(size: int) -> Iterator[int]:
    """Yield the offset of each MiB in turn, until there is no time left."""
    deadline = time.perf_counter() + _SEQUENTIAL_SECONDS_MAX
    for offset in range(0, size, _MIB):
        if offset and time.perf_counter() > deadline:
            return
        yield offset


def _random_reads(handle: int, size: int, threads: int) -> float:
    """Reads per second of *threads* threads, each one at a time."""
    started = time.perf_counter()
    arguments = [(handle, size, started + _SECONDS)] * threads
    with ThreadPoolExecutor(threads) as pool:
        count = sum(pool.map(_reads_until, *zip(*arguments, strict=True)))
    return count / (time.perf_counter() - started)


def _reads_until(handle: int, size: int, deadline: float) -> int:
    """The number of reads at random places before *deadline*."""
    count, blocks = 0, size // _BLOCK_BYTES
    with closing(mmap.mmap(-1, _BLOCK_BYTES)) as buffer:
        while time.perf_counter() < deadline:
            place = random.randrange(blocks)  # noqa: S311 - a place in a file
            count += os.preadv(handle, [buffer], place * _BLOCK_BYTES) == _BLOCK_BYTES
    return count

"""The page cache: files in it, files dropped from it, and bytes to and from the disk."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from bucketsum.errors import BadSettings
from bucketsum_lab.protocol.parameters import Parameter

_IO: Final = Path("/proc/self/io")


class PageCache(StrEnum):
    """Whether the page cache has the files that a probe has written to the disk."""

    WARM = "warm"
    COLD = "cold"


PAGE_CACHE: Final = Parameter(
    "page_cache",
    tuple(PageCache),
    "{} page cache",
    meaning="page cache when files on the disk are read ({}); cold: they were dropped from it",
)


def drop(path: Path) -> None:
    """Write *path* to the disk, and drop it from the page cache; needs no rights but those on it.

    Raises:
        BadSettings: It is still there, or the system does not say it.
    """
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    left = cached_bytes(path)
    if left != 0:
        raise BadSettings(
            f"page_cache is {PageCache.COLD}; of a file in {path.parent}, "
            f"{'unknown' if left is None else left} bytes stay in the page cache, as on a disk in "
            "memory: use another disk"
        )


def cached_bytes(path: Path) -> int | None:
    """Bytes of *path* in the page cache, in whole pages; None if the system does not say it."""
    size_bytes = path.stat().st_size
    mincore = getattr(ctypes.CDLL(None, use_errno=True), "mincore", None)
    if mincore is None:
        return None
    pages = (ctypes.c_ubyte * -(-size_bytes // mmap.PAGESIZE))()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        begin = ctypes.c_char.from_buffer(mapped)
        failed = mincore(
            ctypes.c_void_p(ctypes.addressof(begin)), ctypes.c_size_t(size_bytes), pages
        )
        del begin  # a mapping with an exported address cannot be closed
    if failed:
        return None
    return min(size_bytes, mmap.PAGESIZE * sum(page & 1 for page in pages))


def disk_bytes() -> Mapping[str, int] | None:
    """Bytes that this process, and children that it waited for, read from and wrote to the disk.

    As attributes of a sample; None if the system does not count them. The kernel counts a write
    when a page is changed, and takes it back if the file is removed before the page is written. The
    page cache's reads and writes of no disk are not counted.
    """
    try:
        lines = _IO.read_text().splitlines()
    except OSError:
        return None
    counts = {name: int(count) for name, _, count in (line.partition(": ") for line in lines)}
    written = counts["write_bytes"] - counts["cancelled_write_bytes"]
    return {"disk_read_bytes": counts["read_bytes"], "disk_written_bytes": written}

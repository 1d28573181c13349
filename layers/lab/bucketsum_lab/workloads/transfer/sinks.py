"""Sinks: destinations of the bytes of one file, which know its SHA-1 afterwards."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from bucketsum.digest import RunningDigest, digest_of
from bucketsum_lab.protocol.objects import chunks_of
from bucketsum_lab.workloads.transfer.model import Destination


class Sink:
    """Drops the bytes; notes when the first came, and how many."""

    def __init__(self) -> None:
        self.first_byte: float | None = None
        self.size_bytes = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes, as a file does."""
        if self.first_byte is None:
            self.first_byte = time.perf_counter()
        self.size_bytes += len(data)
        self._take(data)
        return len(data)

    def close(self) -> None:
        """End the file; part of the measured time."""

    def sha1(self) -> str | None:
        """SHA-1 of the file, computed after the measured time; None if its bytes are gone."""
        return None

    def _take(self, data: bytes) -> None:
        """Keep *data* as the sink does."""


class _Hashed(Sink):
    def __init__(self) -> None:
        super().__init__()
        self._digest = RunningDigest()

    def sha1(self) -> str | None:
        return self._digest.digest().sha1

    def _take(self, data: bytes) -> None:
        self._digest.update(data)


class _Kept(Sink):
    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def sha1(self) -> str | None:
        return digest_of(self._pieces).sha1

    def _take(self, data: bytes) -> None:
        self._pieces.append(bytes(data))


class FileSink(Sink):
    """Writes the bytes to a file, unless a program writes it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path: Final = path
        self._file = path.open("wb", buffering=0)

    def close(self) -> None:
        """Close the file; its bytes may still be in the page cache."""
        self._file.close()
        self.size_bytes = self.path.stat().st_size

    def sha1(self) -> str | None:
        """Compute the SHA-1 of the file."""
        return digest_of(chunks_of(self.path)).sha1

    def _take(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]


_SINKS: Final = {
    Destination.NULL: Sink,
    Destination.SHA1: _Hashed,
    Destination.MEMORY: _Kept,
}


def new_sink(destination: Destination, path: Path) -> Sink:
    """A sink for one file; *path* is its file if it has one."""
    return FileSink(path) if destination == Destination.TMP else _SINKS[destination]()

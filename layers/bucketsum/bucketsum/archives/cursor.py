"""The current position in a stream of an archive's bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from bucketsum.archives.bounded_decoder import FEED_BYTES
from bucketsum.archives.zip_model import ArchiveStopped
from bucketsum.table.archive_status import ArchiveStatus

_NOTHING: Final = memoryview(b"")
_NEAR_BYTES: Final = 256  # the next header nearly always is


class Cursor:
    """The current position in a stream of chunks.

    Holds one chunk, and drops it before the next is read.
    """

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
        self._rest = _NOTHING
        self._later: list[memoryview] = []  # after the rest, the last first
        self._repeated_bytes = 0
        self.offset = 0

    def up_to(self, count: int) -> memoryview:
        """The next bytes, at least one and at most *count*.

        Raises:
            ArchiveStopped: There are none.
        """
        while not self._rest:
            self._rest = _NOTHING
            chunk = self._later.pop() if self._later else next(self._chunks, None)
            if chunk is None:
                raise ArchiveStopped(
                    ArchiveStatus.TRUNCATED, f"it ends after {self.offset} bytes, inside a member"
                )
            self._rest = memoryview(chunk)
        view = self._rest[:count]
        self._rest = self._rest[count:]
        self.offset += len(view)
        return view

    def back(self, data: bytes | memoryview) -> None:
        """Let *data*, which was the last, be the next again."""
        if self._rest:
            self._later.append(self._rest)
        self._rest = memoryview(data)
        self.offset -= len(data)

    def repeat(self, data: bytes | memoryview) -> None:
        """Go back before *data*, as `back`, unless more was repeated than there is before it."""
        if self._repeated_bytes + len(data) <= self.offset:
            self._repeated_bytes += len(data)
            self.back(data)

    def exactly(self, count: int) -> bytes:
        """The next *count* bytes."""
        if count <= len(self._rest):
            return bytes(self.up_to(count))
        parts = bytearray()
        while len(parts) < count:
            parts += self.up_to(count - len(parts))
        return bytes(parts)

    def skip_to(self, offset: int) -> None:
        """Skip everything before *offset*."""
        while self.offset < offset:
            self.up_to(offset - self.offset)

    def find(self, signature: bytes, end: int, require_time: Callable[[], object]) -> bool:
        """Skip everything before the next *signature* that begins before *end*, if there is one."""
        before, most = b"", _NEAR_BYTES
        while self.offset < end:
            require_time()
            data = before + self.up_to(min(most, end - self.offset))
            at = data.find(signature)
            if at >= 0:
                self.back(data[at:])
                return True
            before, most = data[1 - len(signature) :], FEED_BYTES
        return False

    def peek(self, count: int) -> bytes:
        """The next *count* bytes, which stay the next."""
        if count <= len(self._rest):
            return bytes(self._rest[:count])
        data = self.exactly(count)
        self.back(data)
        return data

    def views(self, count: int) -> Iterator[memoryview]:
        """The next *count* bytes, in views whose sizes depend on nothing else."""
        end = self.offset + count
        while self.offset < end:
            size = min(end - self.offset, FEED_BYTES)
            yield self.up_to(size) if size <= len(self._rest) else memoryview(self.exactly(size))

"""A member whose sizes are known only after it, in its data descriptor."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.archives.bounded_decoder import FEED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum.archives.cursor import Cursor
    from bucketsum.archives.limits import LimitCounter
    from bucketsum.archives.zip_model import Member

_NEXT: Final = re.compile(rb"PK(?:\x07\x08|\x03\x04|\x01\x02)")
"""A descriptor's signature, which is optional, and those of what follows it."""
_DESCRIPTOR: Final = b"PK\x07\x08"
_WIDTHS: Final = (4, 8)
"""Bytes of each size in a descriptor; 8 with Zip64."""
_KEPT_BYTES: Final = 32
"""More than the longest descriptor and a signature."""


class Described:
    """The compressed bytes from *cursor* on, up to a data descriptor that has their number."""

    def __init__(self, cursor: Cursor, end: int, counter: LimitCounter) -> None:
        self._cursor = cursor
        self._end = end
        self._counter = counter
        self._views = self._up_to_descriptor()
        self._values: tuple[int, int, int] | None = None

    def __iter__(self) -> Iterator[memoryview]:
        """Yield them; `described` passes over those that are not taken."""
        return self._views

    def described(self, member: Member) -> Member | None:
        """*member* with the values of its descriptor; None if there is none."""
        for _ in self._views:
            continue
        if self._values is None:
            return None
        crc32, compressed, size = self._values
        return replace(member, crc32=crc32, compressed_bytes=compressed, size_bytes=size)

    def _up_to_descriptor(self) -> Iterator[memoryview]:
        cursor, held, passed_bytes = self._cursor, b"", 0
        while cursor.offset < self._end:
            self._counter.require_time()
            held += cursor.up_to(min(FEED_BYTES, self._end - cursor.offset))
            is_end = cursor.offset >= self._end
            for data_end, begin, width in _candidates(held, passed_bytes):
                after = begin + 4 + 2 * width
                follows = held[after : after + 2]
                if follows == b"PK" or (is_end and not follows):
                    numbers = [held[begin : begin + 4], held[after - width : after]]
                    crc32, size = (int.from_bytes(number, "little") for number in numbers)
                    self._values = crc32, passed_bytes + data_end, size
                    cursor.back(held[after:])
                    yield memoryview(held)[:data_end]
                    return
            kept = 0 if is_end else _KEPT_BYTES
            data_end = max(0, len(held) - kept)
            yield memoryview(held)[:data_end]
            held = held[data_end:]
            passed_bytes += data_end


def _candidates(held: bytes, passed_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Descriptors with their data's size: its end, the CRC-32's place, and a size's bytes."""
    for match in _NEXT.finditer(held):
        at = match.start()
        is_signed = match[0] == _DESCRIPTOR
        for width in _WIDTHS:
            begin = at + 4 if is_signed else at - 4 - 2 * width
            data_end = at if is_signed else begin
            compressed = int.from_bytes(held[begin + 4 : begin + 4 + width], "little")
            if compressed == passed_bytes + data_end and data_end >= 0:
                yield data_end, begin, width

"""A member that only its local header names: where it ends, and its data descriptor."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

from bucketsum.archives.bounded_decoder import FEED_BYTES
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.decoders import crc32
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.local_header import LocalHeader
from bucketsum.archives.zip_model import Member

Values = tuple[int, int, int]

_NEXT: Final = re.compile(rb"PK(?:\x07\x08|\x03\x04|\x01\x02)")
"""A descriptor's signature, which is optional, and those of what follows it."""
_HEADERS: Final = (b"PK\x03\x04", b"PK\x01\x02")
_SIGNATURE: Final = b"PK\x07\x08"
_SIGNATURE_BYTES: Final = 4
_LAYOUTS: Final = (struct.Struct("<LLL"), struct.Struct("<LQQ"))
"""CRC-32, compressed size and size; of 64 bits with Zip64."""
_BYTES_MAX: Final = 28
_KEPT_BYTES: Final = 32
"""More than the longest descriptor and a signature."""
_PROOFS: Final = 2
"""Least number of right values in a descriptor; the others may be damaged."""
_STORED: Final = 0
_ENDING: Final = frozenset({8, 12, 14})
"""Methods whose decoders know where their streams end."""


class StreamEnd(NamedTuple):
    """The output of a decoder: values that a descriptor should have, and its unused input.

    Attributes:
        values: CRC-32, compressed size and size.
        unused_bytes: Of the last view, after the end of the stream; None if it is not known.
        is_garbled: Whether the input cannot be decoded.
    """

    values: Values
    unused_bytes: int | None
    is_garbled: bool


class Described:
    """The compressed bytes of a member that only its local header names, from *cursor* on.

    Without sizes in the header, they end at a data descriptor that has their number, or where the
    decoder finds their end: the one or the other can be damaged.

    Attributes:
        claim: The member, with the largest sizes that are possible where it has none.
    """

    def __init__(self, cursor: Cursor, end: int, counter: LimitCounter, local: LocalHeader) -> None:
        self._cursor = cursor
        self._end = end
        self._counter = counter
        self.member: Member = local.member()
        self._sizes_follow = local.sizes_follow
        self._room_bytes = end - cursor.offset
        self._follows = cursor.peek(min(_SIGNATURE_BYTES, self._room_bytes))
        self.is_searched = self._has_no_sizes()
        self._held: bytes | memoryview = b""
        self._given_bytes = self._passed_bytes = self._crc32 = 0
        self._values: Values | None = None
        self._views = self._up_to_descriptor() if self.is_searched else self._declared()

    @property
    def claim(self) -> Member:
        """The member, with the largest possible sizes if it has none."""
        room = self._room_bytes
        member = self.member
        return (
            member._replace(compressed_bytes=room, size_bytes=room) if self.is_searched else member
        )

    def __iter__(self) -> Iterator[memoryview]:
        """Yield them; `described` passes over those that are not taken."""
        return self._views

    def _has_no_sizes(self) -> bool:
        member, follow = self.member, self._sizes_follow
        if member.compressed_bytes and (member.size_bytes or not follow):
            return False
        return (follow or member.method != _STORED) and self._follows not in _HEADERS

    def described(self, end: StreamEnd) -> Member | None:
        """The member as its descriptor has it, or else its header; None if neither has its sizes.

        The cursor is then at the end of the stream, or of the bytes that the header claims.
        """
        is_right = self.is_searched or end.values[0] == self.member.crc32
        if end.unused_bytes is not None and is_right and not self._values:
            self._cursor.back(self._held[self._given_bytes - end.unused_bytes :])
            self._views = iter(())
        elif end.is_garbled and self.is_searched and not self._values:
            self._cursor.repeat(self._held)
            self._views = iter(())
        for _ in self._views:
            continue
        if self._sizes_follow or self.is_searched:
            self._values = self._values or self._next_descriptor(end.values)
        if not (is_right or self._values or self._is_followed()):
            self._cursor.repeat(self._held)
        if self._values:
            crc, compressed, size = self._values
            return self.member._replace(crc32=crc, compressed_bytes=compressed, size_bytes=size)
        return None if self.is_searched or self._is_doubtful() else self.member

    def _is_followed(self) -> bool:
        """Whether another header, or the end, follows."""
        left_bytes = self._end - self._cursor.offset
        return self._cursor.peek(min(_SIGNATURE_BYTES, left_bytes)) in (*_HEADERS, b"")

    def _is_doubtful(self) -> bool:
        """Whether nothing is said of bytes that follow, or nothing is compressed to nothing."""
        member = self.member
        is_stored = member.method == _STORED
        return not member.compressed_bytes and not (is_stored and self._follows in (*_HEADERS, b""))

    def _declared(self) -> Iterator[memoryview]:
        for view in self._cursor.views(min(self.member.compressed_bytes, self._room_bytes)):
            self._held, self._given_bytes = view, len(view)
            yield view

    def _up_to_descriptor(self) -> Iterator[memoryview]:
        cursor, held = self._cursor, b""
        while cursor.offset < self._end:
            self._counter.require_time()
            held += cursor.exactly(min(FEED_BYTES, self._end - cursor.offset))
            is_end = cursor.offset >= self._end
            descriptor = next(self._descriptors(held, is_end=is_end), None)
            if descriptor:
                self._values, data_end, after = descriptor
                cursor.back(held[after:])
            else:
                data_end = max(0, len(held) - (0 if is_end else _KEPT_BYTES))
                self._held, self._given_bytes = held, data_end
            yield memoryview(held)[:data_end]
            if descriptor:
                return
            self._crc32 = crc32(held[:data_end], self._crc32)
            self._passed_bytes += data_end
            held = held[data_end:]

    def _descriptors(self, held: bytes, *, is_end: bool) -> Iterator[tuple[Values, int, int]]:
        """Values of descriptors with their data's size or CRC-32, the data's end, and theirs."""
        is_known = self.member.method in _ENDING and not self.member.is_encrypted
        is_stored = self.member.method == _STORED and not self.member.is_encrypted
        at, crc = 0, self._crc32
        for match, layout in product(_NEXT.finditer(held), _LAYOUTS):
            is_signed = match[0] == _SIGNATURE
            begin = match.end() if is_signed else match.start() - layout.size
            after, data_end = begin + layout.size, match.start() if is_signed else begin
            if data_end < 0 or after > len(held):
                continue
            values = layout.unpack_from(held, begin)
            lacking = self._passed_bytes + data_end - values[1]
            is_followed = held[after : after + 2] == b"PK" or (is_end and after == len(held))
            if lacking == 0 and is_followed:
                yield values, data_end, after
            elif not is_signed and lacking == _SIGNATURE_BYTES:  # its signature is damaged
                yield values, data_end - lacking, after
            elif is_signed and is_stored:
                at, crc = data_end, crc32(held[at:data_end], crc)
                if values[0] == crc and (is_followed or lacking == 0):
                    yield values, data_end, after
            elif is_signed and not is_known and held[after : after + 4] in _HEADERS:
                yield values, data_end, after

    def _next_descriptor(self, right: Values) -> Values | None:
        """The values of a descriptor that the cursor is at, and passes, if it has *right* ones."""
        cursor = self._cursor
        data = cursor.peek(min(_BYTES_MAX, self._end - cursor.offset))
        best, values, length = _PROOFS - 1, None, 0
        for lead, layout in product((_SIGNATURE, b""), _LAYOUTS):
            at = len(lead)
            if at + layout.size <= len(data):
                got = layout.unpack_from(data, at)
                proofs = sum(map(int.__eq__, got, right)) + (data[:at] == lead != b"")
                if proofs > best:
                    best, values, length = proofs, got, at + layout.size
        cursor.skip_to(cursor.offset + length)
        return values

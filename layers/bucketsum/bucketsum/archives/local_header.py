"""A member's local header, compared with the central directory."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol, Self

from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.names import encoded_name, spellings
from bucketsum.archives.zip_model import DECODING_BITS, Member, MemberUnreadable, Problem

LOCAL_SIGNATURE: Final = b"PK\x03\x04"
LOCAL_BYTES: Final = 30
"""Bytes of a local header before its name."""

DESCRIPTOR_BYTES_MAX: Final = 24
"""Bytes of the longest data descriptor."""

_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_SIZES_FOLLOW_BIT: Final = 8
_UNIX: Final = 3
_AGREEING_VALUES: Final = 2  # of CRC-32 and two sizes


class ByteSource(Protocol):
    """Bytes of an archive from *offset* on."""

    offset: int

    def peek(self, count: int) -> bytes:
        """The next *count* bytes, which stay the next."""
        ...

    def skip_to(self, offset: int) -> None:
        """Skip everything before *offset*."""
        ...

    def views(self, count: int) -> Iterator[memoryview]:
        """The next *count* bytes, as a decoder may be given them."""
        ...


class LocalHeader(NamedTuple):
    """A local header, with 64-bit sizes where it has them.

    Attributes:
        values: CRC-32, compressed size and size; 0 stands for one that is not known yet.
        header_bytes: Bytes of the whole header.
    """

    offset: int
    flags: int
    method: int
    values: tuple[int, int, int]
    raw_name: bytes
    extra: bytes

    @classmethod
    def read(cls, source: ByteSource, end: int, others: Sequence[int] | None = None) -> Self:
        """Read the header that *source* is at; at *others*, in order, other members may begin.

        Without them, another may begin anywhere.

        Raises:
            MemberUnreadable: There is none, or it is not whole before *end* and other headers.
        """
        at = source.offset
        if at + LOCAL_BYTES > end:
            raise _not_whole(at, end)
        fields = _LOCAL.unpack(source.peek(LOCAL_BYTES))
        signature, _, flags, method, _, _, crc32, compressed, size, name_bytes, extra_bytes = fields
        if signature != LOCAL_SIGNATURE:
            raise no_header(at)
        name_end = LOCAL_BYTES + name_bytes
        length = name_end + extra_bytes
        if at + length > end:
            raise _not_whole(at, end)
        header = source.peek(min(length + len(LOCAL_SIGNATURE), end - at))
        inside = header.find(LOCAL_SIGNATURE, 1)
        while 0 < inside < length:
            if others is None or _is_in(others, at + inside):
                raise _not_whole(at, at + inside)
            inside = header.find(LOCAL_SIGNATURE, inside + 1)
        source.skip_to(at + length)
        raw_name, extra = header[LOCAL_BYTES:name_end], header[name_end:length]
        if FULL32 in (compressed, size):
            size, compressed = zip64_values(extra, (size, compressed))
        return cls(at, flags, method, (crc32, compressed, size), raw_name, extra)

    @property
    def data_offset(self) -> int:
        """Offset of the member's compressed bytes."""
        return self.offset + LOCAL_BYTES + len(self.raw_name) + len(self.extra)

    @property
    def sizes_follow(self) -> bool:
        """Whether values that are 0 are in a data descriptor after the compressed bytes."""
        return bool(self.flags & _SIZES_FOLLOW_BIT)

    def named(self, members: Sequence[Member]) -> Member | None:
        """The first of *members* with its name, which is decoded only once."""
        for member in members:
            if member.raw_name == self.raw_name:
                return member
        names = [spellings(self.raw_name, self.flags, self.extra, system) for system in (0, _UNIX)]
        return next(
            (member for member in members if member.name in names[member.is_made_on_unix]), None
        )

    def is_empty(self, end: int) -> bool:
        """Whether it has no content, nor bytes before *end* that could be content."""
        is_over = end - self.data_offset > DESCRIPTOR_BYTES_MAX
        return not any(self.values) and not (self.sizes_follow and is_over)

    def member(self) -> Member:
        """The member as this header alone describes it."""
        crc32, compressed, size = self.values
        encoded, encoding = encoded_name(self.raw_name, self.flags, self.extra, _UNIX)
        return Member(
            self.raw_name, encoded, encoding, self.offset, self.method, self.flags, crc32,
            compressed, size,
        )  # fmt: skip

    def claims(self, member: Member) -> tuple[Member, ...]:
        """Possible forms of *member*: as the directory says, then as this header says otherwise.

        Values that are 0 here are not known, or are so if two of three agree with the directory.
        """
        declared = (member.crc32, member.compressed_bytes, member.size_bytes)
        if self.values == declared and self._decodes_as(member):
            return (member,)
        pairs = [*zip(self.values, declared, strict=True)]
        claimed = [tuple(there if here in (0, FULL32) else here for here, there in pairs)]
        if sum(here == there for here, there in pairs) >= _AGREEING_VALUES:
            claimed.append(self.values)
        local = member
        if not self._decodes_as(member):
            local = member._replace(method=self.method, flags=self.flags)
        others = [
            local._replace(crc32=crc32, compressed_bytes=compressed, size_bytes=size)
            for crc32, compressed, size in dict.fromkeys(claimed)
            if local is not member or (crc32, compressed, size) != declared
        ]
        return (member, *others)

    def contradicts(self, member: Member) -> bool:
        """Whether a value that is known here is another one in the directory."""
        declared = (member.crc32, member.compressed_bytes, member.size_bytes)
        return not self._decodes_as(member) or (
            self.values != declared
            and any(
                here != there and not (self.sizes_follow and here in (0, FULL32))
                for here, there in zip(self.values, declared, strict=True)
            )
        )

    def _decodes_as(self, member: Member) -> bool:
        return self.method == member.method and not (self.flags ^ member.flags) & DECODING_BITS


def plain_data_offset(data: bytes, member: Member) -> int:
    """Where the content begins in *data*, if the header before it is that of *member*; else 0."""
    signature, _, flags, method, _, _, *values, name_bytes, extra_bytes = _LOCAL.unpack_from(data)
    name_end = LOCAL_BYTES + name_bytes
    if (
        signature != LOCAL_SIGNATURE
        or flags != member.flags
        or method != member.method
        or data[LOCAL_BYTES:name_end] != member.raw_name
    ):
        return 0
    declared = [member.crc32, member.compressed_bytes, member.size_bytes]
    if values != declared and not (flags & _SIZES_FOLLOW_BIT and not any(values)):
        return 0
    data_offset: int = name_end + extra_bytes
    return data_offset


def _is_in(ordered: Sequence[int], offset: int) -> bool:
    nearest = bisect_left(ordered, offset)
    return ordered[nearest : nearest + 1] == [offset]


def no_header(offset: int) -> MemberUnreadable:
    """The error of a member whose local header is not there."""
    return MemberUnreadable(Problem.DAMAGED, f"there is no local header at {offset}")


def _not_whole(offset: int, end: int) -> MemberUnreadable:
    reason = f"its local header at {offset} is not whole before {end}"
    return MemberUnreadable(Problem.OVERLAPPING, reason)

"""A zip archive's bytes, in order → every member's digest, in one pass and without a disk.

The directory, read before, says where members are and what they should be; what their local
headers say must agree. Bytes between members are passed over.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from bucketsum.archives.central_directory import LOCAL_BYTES, LOCAL_SIGNATURE
from bucketsum.archives.decoders import ENGINES
from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.member import FEED_BYTES, digest_of_member
from bucketsum.archives.model import ArchiveStatus, ArchiveStopped, Engine, Member, MemberDigest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bucketsum.archives.background import BackgroundCalls
    from bucketsum.archives.central_directory import Directory
    from bucketsum.archives.member import LimitCounter, Write

_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_SIZES_FOLLOW_BIT: Final = 8
_NOTHING: Final = memoryview(b"")


class Cursor:
    """Where in a stream of chunks we are. Holds one chunk, and none while the next is read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = _NOTHING
        self.offset = 0

    def up_to(self, count: int) -> memoryview:
        """The next bytes, at least one and at most *count*.

        Raises:
            ArchiveStopped: There are none.
        """
        while not self._rest:
            self._rest = _NOTHING
            chunk = next(self._chunks, None)
            if chunk is None:
                raise ArchiveStopped(
                    ArchiveStatus.TRUNCATED, f"it ends after {self.offset} bytes, inside a member"
                )
            self._rest = memoryview(chunk)
        taken = self._rest[:count]
        self._rest = self._rest[count:]
        self.offset += len(taken)
        return taken

    def exactly(self, count: int) -> bytes:
        """The next *count* bytes."""
        if count <= len(self._rest):
            return bytes(self.up_to(count))
        parts = bytearray()
        while len(parts) < count:
            parts += self.up_to(count - len(parts))
        return bytes(parts)

    def skip_to(self, offset: int) -> None:
        """Pass over everything before *offset*."""
        while self.offset < offset:
            self.up_to(offset - self.offset)

    def views(self, count: int) -> Iterator[memoryview]:
        """The next *count* bytes, in views that a decoder may be given."""
        end = self.offset + count
        while self.offset < end:
            yield self.up_to(min(end - self.offset, FEED_BYTES))


def digests_in(
    cursor: Cursor,
    directory: Directory,
    tally: LimitCounter,
    write_for: Callable[[Member], Write | None] = lambda _: None,
    engine: Engine = ENGINES[0],
    aside: BackgroundCalls | None = None,
) -> Iterator[MemberDigest]:
    """Read every member that is not a folder, in the order in which they lie in the file.

    Memory is that of *cursor*'s chunk, a decoder and a piece, however large members are. What
    reading raises passes through unchanged.

    Args:
        cursor: At the beginning of the file.
        directory: What `read_directory` made of its end.
        tally: Counts what comes out.
        write_for: What else takes a member's pieces.
        engine: What inflates.
        aside: Hashes large members.

    Raises:
        ArchiveStopped: A header contradicts the directory, or a limit was reached.
    """
    for member, end in directory.by_offset():
        cursor.skip_to(member.header_offset)
        header = cursor.exactly(LOCAL_BYTES)
        name_bytes, extra_bytes = check_header(member, header, member.header_offset, end)
        names = cursor.exactly(name_bytes + extra_bytes)
        check_name(member, header, names[:name_bytes], names[name_bytes:])
        if not member.is_directory:
            views = cursor.views(member.compressed_bytes)
            yield digest_of_member(member, views, tally, write_for(member), engine, aside)


def check_header(member: Member, header: bytes, offset: int, end: int) -> tuple[int, int]:
    """Hold the fixed part of a local header against the directory.

    Returns:
        Lengths of the name and of the extra fields that follow.

    Raises:
        ArchiveStopped: They contradict each other.
    """
    fields = _LOCAL.unpack(header)
    name_bytes, extra_bytes = fields[9], fields[10]
    if fields[0] != LOCAL_SIGNATURE:
        raise _contradiction(member, f"there is no local header at {offset}")
    if fields[3] != member.method:
        raise _contradiction(
            member, f"its local header has method {fields[3]}, the directory {member.method}"
        )
    if (fields[2] ^ member.flags) & 1:
        raise _contradiction(member, "only one of header and directory calls it encrypted")
    taken = LOCAL_BYTES + name_bytes + extra_bytes + member.compressed_bytes
    if offset + taken > end:
        raise ArchiveStopped(
            ArchiveStatus.OVERLAPPING,
            f"{member.name!r} needs {taken} bytes at {offset}, and something else begins at {end}",
        )
    return name_bytes, extra_bytes


def check_name(member: Member, header: bytes, raw_name: bytes, extra: bytes) -> None:
    """Hold the rest of a local header against the directory.

    Raises:
        ArchiveStopped: They contradict each other.
    """
    if member.is_encrypted:
        return  # what is masked cannot be compared, and nothing will be decoded
    if raw_name != member.raw_name:
        raise _contradiction(member, f"its local header calls it {raw_name!r}")
    _, _, flags, _, _, _, crc32, compressed, size, _, _ = _LOCAL.unpack(header)
    if FULL32 in (compressed, size):
        size, compressed = zip64_values(extra, (size, compressed))
    got = (crc32, compressed, size)
    told = (member.crc32, member.compressed_bytes, member.size_bytes)
    if got == told:
        return
    follow = flags & _SIZES_FOLLOW_BIT  # then those that are not known yet are 0
    if any(
        one != other and not (follow and one in (0, FULL32))
        for one, other in zip(got, told, strict=True)
    ):
        raise _contradiction(
            member,
            f"its local header has CRC-32 {crc32:08x}, {compressed} → {size} bytes, the directory "
            f"{member.crc32:08x}, {member.compressed_bytes} → {member.size_bytes}",
        )


def _contradiction(member: Member, reason: str) -> ArchiveStopped:
    return ArchiveStopped(ArchiveStatus.CONTRADICTORY, f"{member.name!r}: {reason}")

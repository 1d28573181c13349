"""A zip archive's bytes, in order → every member's digest, in one pass and without a disk.

The central directory, read before, says where members are. Bytes between them are skipped, or are
searched for members if the directory has a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bucketsum.archives.bounded_decoder import FEED_BYTES
from bucketsum.archives.data_descriptor import Described
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE, LocalHeader
from bucketsum.archives.member import hashed_content
from bucketsum.archives.placed import hashed_at
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberUnreadable
from bucketsum.table.archive_values import ArchiveStatus

if TYPE_CHECKING:
    from bucketsum.archives.central_directory import Directory
    from bucketsum.archives.limits import LimitCounter
    from bucketsum.archives.member import Decoding, HashedMember
    from bucketsum.archives.placed import Hash

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

    def back(self, data: bytes) -> None:
        """Let *data*, which was the last, be the next again."""
        if self._rest:
            self._later.append(self._rest)
        self._rest = memoryview(data)
        self.offset -= len(data)

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

    def find(self, signature: bytes, end: int) -> bool:
        """Skip everything before the next *signature* that begins before *end*, if there is one."""
        before, most = b"", _NEAR_BYTES
        while self.offset < end:
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


def streamed_members(
    cursor: Cursor, directory: Directory, decoding: Decoding, keeps: Callable[[Member], bool]
) -> Generator[HashedMember]:
    """Hash every member that is not a folder, in the order in which they lie in the file.

    If the directory has a problem, the bytes that are no member's are searched for local headers.

    Memory is that of *cursor*'s chunk, a decoder and a piece, however large members are, and of the
    content that is kept. Errors of reading pass through unchanged.

    *cursor* is at the beginning of the file.

    Raises:
        ArchiveStopped: A limit was reached, or the file ends early.
    """
    read = partial(hashed_content, decoding=decoding, keeps=keeps)
    for placed in directory.by_offset():
        if directory.problem:
            yield from _unlisted(cursor, placed.offset, decoding.counter, read)
        if placed.offset < placed.end:
            cursor.skip_to(placed.offset)
        yield from hashed_at(placed, cursor, read)
    if directory.problem:
        yield from _unlisted(cursor, directory.start, decoding.counter, read)


def _unlisted(
    cursor: Cursor, end: int, counter: LimitCounter, read: Hash
) -> Iterator[HashedMember]:
    """Members before *end* that no entry of the directory names, by their local headers."""
    while cursor.find(LOCAL_SIGNATURE, end - LOCAL_BYTES + len(LOCAL_SIGNATURE)):
        counter.require_time()
        try:
            local = LocalHeader.read(cursor, end)
        except MemberUnreadable:
            cursor.skip_to(cursor.offset + len(LOCAL_SIGNATURE))
            continue
        counter.add_members(1)
        member, room = local.member(), end - local.data_offset
        if member.is_folder and not local.sizes_follow:
            continue
        if local.sizes_follow and not member.compressed_bytes:
            member = replace(member, compressed_bytes=room, size_bytes=room)
            hashed = read((member,), Described(cursor, end, counter))
        else:
            hashed = read((member,), cursor.views(min(member.compressed_bytes, room)))
        yield hashed.remarked("unlisted")

"""A zip archive's bytes, in order → every member's digest, in one pass and without a disk.

The central directory, read before, says where members are and which sizes they have; local headers
must agree. Bytes between members are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Final

from bucketsum.archives.local_header import LOCAL_BYTES, check_rest, rest_bytes
from bucketsum.archives.member import FEED_BYTES, HashedMember, digest_of_member, unreadable
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberUnreadable
from bucketsum.table.archive_values import ArchiveStatus

if TYPE_CHECKING:
    from bucketsum.archives.central_directory import Directory
    from bucketsum.archives.member import Decoding

_NOTHING: Final = memoryview(b"")


class Cursor:
    """The current position in a stream of chunks.

    Holds one chunk, and drops it before the next is read.
    """

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
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
        view = self._rest[:count]
        self._rest = self._rest[count:]
        self.offset += len(view)
        return view

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

    def views(self, count: int) -> Iterator[memoryview]:
        """The next *count* bytes, in views that a decoder may be given."""
        end = self.offset + count
        while self.offset < end:
            yield self.up_to(min(end - self.offset, FEED_BYTES))


def streamed_members(
    cursor: Cursor, directory: Directory, decoding: Decoding, keeps: Callable[[Member], bool]
) -> Generator[HashedMember]:
    """Hash every member that is not a folder, in the order in which they lie in the file.

    Memory is that of *cursor*'s chunk, a decoder and a piece, however large members are, and of the
    content that is kept. Errors of reading pass through unchanged.

    *cursor* is at the beginning of the file.

    Raises:
        ArchiveStopped: A header contradicts the directory, or a limit was reached.
    """
    for member, end in directory.by_offset():
        cursor.skip_to(member.header_offset)
        header = cursor.exactly(LOCAL_BYTES)
        rest = cursor.exactly(rest_bytes(member, header, end))
        try:
            check_rest(member, header, rest)
        except MemberUnreadable as error:
            yield HashedMember(unreadable(member, error))
            continue
        if not member.is_folder:
            yield _hashed(member, cursor, decoding, keeps=keeps(member))


def _hashed(member: Member, cursor: Cursor, decoding: Decoding, *, keeps: bool) -> HashedMember:
    views = cursor.views(member.compressed_bytes)
    if not keeps:
        return HashedMember(digest_of_member(member, views, decoding))
    content = BytesIO()
    digest = digest_of_member(member, views, decoding, content.write)
    return HashedMember(digest, content.getbuffer())

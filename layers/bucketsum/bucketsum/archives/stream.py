"""A zip archive's bytes, in order → every member's digest, in one pass and without a disk.

The central directory, read before, says where members are. Bytes between them are skipped, or are
searched for members if the directory has a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial

from bucketsum.archives.central_directory import Directory
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.data_descriptor import Described
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE, LocalHeader
from bucketsum.archives.member import Decoding, HashedMember, hashed_content
from bucketsum.archives.placed import Hash, hashed_at
from bucketsum.archives.plain import plain_member
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberUnreadable
from bucketsum.table.archive_status import ArchiveStatus


def streamed_members(
    cursor: Cursor, directory: Directory, decoding: Decoding, keeps: Callable[[Member], bool]
) -> Generator[HashedMember]:
    """Hash every member that is not a folder, in the order in which they lie in the file.

    If the directory has a problem, bytes outside of members are searched for local headers.

    Memory is that of *cursor*'s chunk, a decoder and a piece, however large members are, and of the
    content that is kept. Errors of reading pass through unchanged.

    *cursor* is at the beginning of the file.

    Raises:
        ArchiveStopped: A limit was reached, or the file ends early.
    """
    read = partial(hashed_content, decoding=decoding, keeps=keeps)
    unlisted = partial(_unlisted, cursor, counter=decoding.counter, read=read)
    size_bytes = directory.size_bytes
    if directory.unlisted_bytes:
        yield from unlisted(directory.unlisted_bytes, size_bytes)
        if cursor.offset > directory.unlisted_bytes:
            yield from unlisted(size_bytes, size_bytes)
            reason = "its directory is that of an archive in it: it is cut off"
            raise ArchiveStopped(ArchiveStatus.TRUNCATED, reason)
    for placed in directory.by_offset():
        if directory.problem:
            yield from unlisted(placed.offset, placed.offset)
        if placed.offset < placed.end:
            cursor.skip_to(placed.offset)
        if plain := plain_member(placed, cursor, decoding):
            yield plain if keeps(plain.digest.member) else HashedMember(plain.digest)
        else:
            yield from hashed_at(placed, cursor, read)
    if directory.problem:
        yield from unlisted(size_bytes, size_bytes)


def _unlisted(
    cursor: Cursor, last: int, end: int, counter: LimitCounter, read: Hash
) -> Iterator[HashedMember]:
    """Members that no entry names, by local headers before *last*; they end before *end*."""
    last += len(LOCAL_SIGNATURE) - LOCAL_BYTES
    while cursor.find(LOCAL_SIGNATURE, last, counter.require_time):
        try:
            local = LocalHeader.read(cursor, end)
        except MemberUnreadable:
            cursor.skip_to(cursor.offset + len(LOCAL_SIGNATURE))
            continue
        counter.add_members(1)
        compressed = Described(cursor, end, counter, local)
        if compressed.is_searched or not compressed.member.is_folder:
            yield read((compressed.claim,), compressed).remarked("unlisted")

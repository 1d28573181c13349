"""Members decompressed to nowhere: neither hashed nor written, only checked by their CRC-32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bucketsum.archives.central_directory import read_directory
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.decoders import ENGINES, crc32, decoded
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.local_header import LocalHeader
from bucketsum.archives.names import folder_count
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberUnreadable, StreamEndsEarly
from bucketsum.table.archive_settings import Engine, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

if TYPE_CHECKING:
    from bucketsum.archives.central_directory import Directory
    from bucketsum.s3.range_reads import Read


def read_members(
    read: Read, size_bytes: int, chunks: Iterator[bytes], limits: Limits, engine: Engine
) -> ArchiveRecord:
    """Decompress every member while *chunks* pass; read the chunks to their end.

    Errors of *read* and of *chunks* pass through unchanged.
    """
    status, reason = ArchiveStatus.READ, None
    members = unreadable = member_bytes = folders = 0
    try:
        directory = read_directory(read, size_bytes, LimitCounter(limits))
        folders = folder_count(directory.members, limits.members)
        cursor = Cursor(chunks)
        for member in members_at(cursor, directory):
            if member.is_folder:
                continue
            members += 1
            content_bytes = counted(member, cursor, limits, engine=engine)
            unreadable += content_bytes is None
            member_bytes += content_bytes or 0
    except (ArchiveStopped, MemberUnreadable) as error:
        status = error.status if isinstance(error, ArchiveStopped) else ArchiveStatus.BROKEN
        reason = f"{status}: {error}"
    for _ in chunks:  # the end of the archive, or all of an invalid one
        continue
    return ArchiveRecord(
        status=status,
        mode=Mode.STREAM,
        members=members,
        unreadable=unreadable,
        directories=folders,
        member_bytes=member_bytes,
        ratio=member_bytes / size_bytes,
        reason=reason,
        remarks=(),
    )


def members_at(cursor: Cursor, directory: Directory) -> Iterator[Member]:
    """Yield each member when *cursor* has reached its content.

    Raises:
        ArchiveStopped: The directory has a problem.
        MemberUnreadable: A local header is not where it should be.
    """
    if directory.problem:
        raise directory.problem
    for placed in directory.by_offset():
        cursor.skip_to(placed.offset)
        LocalHeader.read(cursor, placed.end, placed.offsets)
        yield placed.members[-1]


def counted(
    member: Member,
    cursor: Cursor,
    limits: Limits,
    count: Callable[[bytes | memoryview], int] = len,
    engine: Engine = ENGINES[0],
) -> int | None:
    """The sum of *count* over what came out; None if that is not as the directory says."""
    size_bytes = checksum = total = 0
    try:
        for piece in decoded(member, cursor.views(member.compressed_bytes), limits, engine):
            size_bytes += len(piece)
            checksum = crc32(piece, checksum)
            total += count(piece)
    except StreamEndsEarly:
        return None
    return total if (size_bytes, checksum) == (member.size_bytes, member.crc32) else None

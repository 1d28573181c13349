"""Process an archive, and compare its result with the known result."""

from __future__ import annotations

from typing import Final

from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.central_directory import read_directory
from bucketsum.archives.cursor import Cursor
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.zip_model import ArchiveStopped, MemberUnreadable
from bucketsum.digest import RunningDigest
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum_lab.workloads.fetch.model import ArchiveItem, ArchiveWork, Bytes, ItemFailed
from bucketsum_lab.workloads.unzip.generated_archive import members_sha1
from bucketsum_lab.workloads.unzip.null_members import counted, members_at

_LIMITS: Final = Limits(members=10_000_000, total_bytes=10**15, ratio=10**6)
_READER: Final = ArchiveReader(ArchiveSettings(Mode.STREAM, _LIMITS))
NEWLINE: Final = b"\n"


def process(item: ArchiveItem, content: Bytes, work: ArchiveWork) -> None:
    """Do the *work* in one pass over the archive, with one thread, and check the result.

    Errors of reading pass through unchanged.

    Raises:
        ItemFailed: The archive is not readable, or the result is not the known one.
    """
    if work is ArchiveWork.UNZIP_SHA1:
        sha1, of_members = _hashed(item, content)
        check(item, "SHA-1", sha1, item.sha1)
        check(item, "members-sha1", of_members, item.members_sha1)
        return
    try:
        lines = _lines(item, content)
    except (ArchiveStopped, MemberUnreadable) as error:
        raise ItemFailed("NotUnzipped", f"{item.name}: {error}") from None
    check(item, "lines", lines, item.lines)


def check(item: ArchiveItem, name: str, result: object, expected: object) -> None:
    """Compare a result with the known one.

    Raises:
        ItemFailed: It is another one.
    """
    if result != expected:
        raise ItemFailed("WrongItem", f"{item.name}: {name} {result} instead of {expected}")


def _hashed(item: ArchiveItem, content: Bytes) -> tuple[str, str]:
    """SHA-1 of the archive, and of its members' SHA-1s."""
    digest = RunningDigest()
    archive = _READER.open(content.read, item.size_bytes)
    sha1s = [member.digest.sha1 or "" for member in archive.members(content.chunks, digest)]
    summary = archive.summary
    if summary.reason is not None or summary.unreadable:
        reason = summary.reason or f"{summary.unreadable} members are not readable"
        raise ItemFailed("NotUnzipped", f"{item.name}: {reason}")
    return digest.digest().sha1, members_sha1(sha1s)


def _lines(item: ArchiveItem, content: Bytes) -> int:
    """Newlines in all members; their CRC-32s are checked, as unzip does."""
    directory = read_directory(content.read, item.size_bytes, LimitCounter(_LIMITS))
    cursor, lines = Cursor(content.chunks), 0
    for member in members_at(cursor, directory):
        in_member = counted(member, cursor, _LIMITS, lambda piece: bytes(piece).count(NEWLINE))
        if in_member is None:
            raise ArchiveStopped(ArchiveStatus.BROKEN, f"{member.name} has another CRC-32")
        lines += in_member
    return lines

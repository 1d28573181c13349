"""The end of a zip file → its members, as far as its central directory can be read.

Reads with a few small ranged requests: one for the end, rarely others for the directory.
`local_header` compares each member's local header with its entry here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from bucketsum.archives.directory_entries import (
    ENTRY_BYTES,
    ENTRY_SIGNATURE,
    WRAP,
    entry_at,
    members_in,
    shifted,
)
from bucketsum.archives.end_record import (
    END_BYTES,
    END_SIGNATURE,
    FULL16,
    TAIL_BYTES,
    EndRecord,
    broken,
    end_record_in,
)
from bucketsum.archives.limits import too_many_members
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE
from bucketsum.archives.zip_model import ArchiveStopped, Member
from bucketsum.table.archive_values import ArchiveStatus, Limits

if TYPE_CHECKING:
    from bucketsum.s3.range_reads import Read

_SPLIT_SIGNATURE: Final = b"PK\x07\x08"
_MASKED_BIT: Final = 0x2000


class Placed(NamedTuple):
    """Members at one offset; honest archives have one.

    Attributes:
        offsets: Of all members, in order, then of the directory.
        position: Of their offset among *offsets*.
    """

    members: tuple[Member, ...]
    offsets: Sequence[int]
    position: int

    @property
    def offset(self) -> int:
        """Position of their beginning."""
        return self.offsets[self.position]

    @property
    def room_bytes(self) -> int:
        """Bytes up to where the next member, or the directory, should begin."""
        return max(0, min(self.offsets[self.position + 1], self.end) - self.offset)

    @property
    def end(self) -> int:
        """Where the directory begins, and all members end."""
        return self.offsets[-1]

    @property
    def others(self) -> Iterator[int]:
        """Where other members should begin after them."""
        return map(self.offsets.__getitem__, range(self.position + 1, len(self.offsets) - 1))


@dataclass(frozen=True, slots=True)
class Directory:
    """An archive's central directory.

    Attributes:
        members: In the order of the directory.
        start: Offset of the directory; of the file's end if it is not known.
        remarks: Unusual properties of the archive, as ``prefixed`` or ``trailing-data``.
        problem: Why members can be missing here; local headers tell more of them.
    """

    members: tuple[Member, ...]
    start: int
    remarks: tuple[str, ...] = ()
    problem: ArchiveStopped | None = None

    def by_offset(self) -> Iterator[Placed]:
        """The members as they lie in the file."""
        ordered = sorted(self.members, key=_offset)
        offsets = [*dict.fromkeys(map(_offset, ordered)), self.start]
        for index, (_, members) in enumerate(groupby(ordered, _offset)):
            yield Placed(tuple(members), offsets, index)


def _offset(member: Member) -> int:
    return member.header_offset


def read_directory(read: Read, size_bytes: int, limits: Limits) -> Directory:
    """Find and read the directory of a file of *size_bytes*.

    Errors of *read* pass through unchanged.

    Raises:
        ArchiveStopped: There is none, it is encrypted, or more than *limits* allow.
    """
    tail_start = max(0, size_bytes - TAIL_BYTES)
    tail = bytes(read(tail_start, size_bytes - tail_start)) if size_bytes else b""
    end = end_record_in(tail, tail_start)
    if end is None:
        return Directory((), size_bytes, problem=_no_end(read, size_bytes))

    def near(offset: int, length: int) -> bytes | memoryview:
        inside = offset >= tail_start
        return tail[offset - tail_start :][:length] if inside else read(offset, length)

    return _directory_of(end, near, size_bytes, limits)


def _directory_of(end: EndRecord, near: Read, size_bytes: int, limits: Limits) -> Directory:
    start, base, entries = _entries(near, end, limits)
    members, is_whole = members_in(entries, end, base, limits)
    if base and _begins_unlisted(near, base):
        status = ArchiveStatus.TRUNCATED if members else ArchiveStatus.BROKEN
        reason = "its directory does not list the member at its beginning"
        return Directory((), size_bytes, end.remarks, ArchiveStopped(status, reason))
    remarks = ["prefixed"] * bool(base) + [*end.remarks]
    if not base and start != end.offset:
        members = shifted(members, start, end.offset, near)
        remarks += ["wrong-offset"] * ((start - end.offset) % WRAP != 0)
    if is_whole and len(members) & FULL16 != end.entries & FULL16:
        remarks.append("wrong-count")
    listed = len(members)
    members = _each_once(members)
    remarks += ["listed-twice"] * (len(members) < listed)
    problem = end.problem
    if problem and problem.status is ArchiveStatus.SPLIT:  # its first member is here
        problem = None
        remarks.append("split")
    if not (problem or is_whole):
        problem = broken(f"its directory of {end.size} bytes at {end.offset} is damaged")
        start = size_bytes
    return Directory(tuple(members), start, tuple(remarks), problem)


def _each_once(members: list[Member]) -> list[Member]:
    """*members* without those of the same name and offset; the last remains."""
    if len({*map(_offset, members)}) == len(members):
        return members
    return [*{member.place: member for member in members}.values()]


def _entries(near: Read, end: EndRecord, limits: Limits) -> tuple[int, int, bytes | memoryview]:
    """The directory's offset, the bytes of the file that no offset counts, and the entries.

    They end at the end record; they begin as its size says, or as its offset says, which other data
    between the two does not affect. If the two differ, a local header decides.
    """
    first = end.position - end.size
    nearest, too_large = None, 0
    for start, base in ((first, first - end.offset), (end.offset, 0), (first, 0)):
        length = end.position - start
        if start >= 0 and length > limits.directory_bytes:
            too_large = length
        elif length > 0 and start >= 0 and base >= 0:
            entries = near(start, length)
            if (
                entries[:4] == ENTRY_SIGNATURE
                and length >= ENTRY_BYTES
                and (
                    (start == end.offset == first and not end.problem)
                    or _has_header(near, entry_at(entries, 0, base)[0], end)
                )
            ):
                return start, base, entries
            if not nearest or entries[:4] == ENTRY_SIGNATURE:
                nearest = start, base, entries
    if not end.size and not end.entries:
        return first, max(0, first - end.offset), b""
    if too_large and not nearest:
        raise too_many_members(f"a directory of {too_large} bytes", limits)
    return _damaged(near, end, nearest or (end.position, 0, b""))


def _begins_unlisted(near: Read, base: int) -> bool:
    """Whether the *base* bytes that no offset counts begin with a member, and are no archive.

    Then the directory can be that of a stored archive, and the file's own is cut off.
    """
    if near(0, 4) != LOCAL_SIGNATURE:
        return False
    return near(max(0, base - END_BYTES), 4) != END_SIGNATURE


def _damaged(
    near: Read, end: EndRecord, nearest: tuple[int, int, bytes | memoryview]
) -> tuple[int, int, bytes | memoryview]:
    """*nearest*, which does not begin as a directory; in one there may be entries all the same.

    Raises:
        ArchiveStopped: The directory is encrypted, or of another volume.
    """
    if end.problem and end.problem.status is ArchiveStatus.SPLIT:
        raise end.problem
    if _is_masked(near, nearest[0]):
        raise ArchiveStopped(ArchiveStatus.ENCRYPTED, "its directory is encrypted")
    return nearest


def _has_header(near: Read, member: Member, end: EndRecord) -> bool:
    """Whether the local header of *member* is where its entry says."""
    at = member.header_offset
    return at + LOCAL_BYTES <= end.position and near(at, 4) == LOCAL_SIGNATURE


def _is_masked(near: Read, start: int) -> bool:
    """Whether the first local header is masked, as it is if the directory is encrypted."""
    header = near(0, LOCAL_BYTES) if start >= LOCAL_BYTES else b""
    return header[:4] == LOCAL_SIGNATURE and bool(
        int.from_bytes(header[6:8], "little") & _MASKED_BIT
    )


def _no_end(read: Read, size_bytes: int) -> ArchiveStopped:
    """Why members are known by their local headers alone.

    Raises:
        ArchiveStopped: There are none.
    """
    beginning = read(0, min(4, size_bytes)) if size_bytes else b""
    if beginning == LOCAL_SIGNATURE:
        return ArchiveStopped(
            ArchiveStatus.TRUNCATED,
            f"it begins as a zip archive, and its last {TAIL_BYTES} bytes have no directory: it is "
            "cut off, or other data follows the archive",
        )
    if beginning == _SPLIT_SIGNATURE:
        return ArchiveStopped(ArchiveStatus.SPLIT, "it is the first of several volumes")
    raise ArchiveStopped(ArchiveStatus.NOT_AN_ARCHIVE, "it has no zip directory at its end")

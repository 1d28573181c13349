"""The end of a zip file → its members, as far as its central directory can be read.

Reads with a few small ranged requests: one for the end, rarely others for the directory.
`local_header` compares each member's local header with its entry here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from typing import Final, NamedTuple

from bucketsum.archives.directory_entries import (
    ENTRY_SIGNATURE,
    WRAP,
    members_in,
    shifted,
)
from bucketsum.archives.end_record import (
    FULL16,
    TAIL_BYTES,
    EndRecord,
    broken,
    end_record_in,
)
from bucketsum.archives.limits import LimitCounter, too_many_members
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE
from bucketsum.archives.zip_model import ArchiveStopped, Member
from bucketsum.s3.range_reads import Read
from bucketsum.table.archive_status import ArchiveStatus

_SPLIT_SIGNATURE: Final = b"PK\x07\x08"
_MASKED_BIT: Final = 0x2000
_PROBES: Final = 4
"""Members whose local headers are looked for where an odd directory says."""


class Placed(NamedTuple):
    """Members at one offset; honest archives have one.

    Attributes:
        offset: Position of their beginning.
        room_end: Where the next member, or the directory, should begin.
        end: Where the directory begins, and all members end.
        offsets: Of all members before the directory, in order.
    """

    members: Sequence[Member]
    offset: int
    room_end: int
    end: int
    offsets: Sequence[int]

    @property
    def room_bytes(self) -> int:
        """Bytes up to where the next member, or the directory, should begin."""
        return max(0, self.room_end - self.offset)

    @property
    def others(self) -> Iterator[int]:
        """Where other members should begin after them."""
        following = bisect_right(self.offsets, self.offset)
        return map(self.offsets.__getitem__, range(following, len(self.offsets)))


@dataclass(frozen=True, slots=True)
class Directory:
    """An archive's central directory.

    Attributes:
        members: In the order of the directory.
        start: Offset of the directory; of the file's end if it is not known.
        size_bytes: Of the file.
        remarks: Unusual properties of the archive, as ``prefixed`` or ``trailing-data``.
        problem: Why members can be missing here; local headers tell more of them.
        unlisted_bytes: Bytes before its first member that begin with another member. If that ends
            later, the directory is that of an archive in it, and the file's own is cut off.
    """

    members: tuple[Member, ...]
    start: int
    size_bytes: int
    remarks: tuple[str, ...] = ()
    problem: ArchiveStopped | None = None
    unlisted_bytes: int = 0

    @property
    def is_searched(self) -> bool:
        """Whether bytes of no listed member are searched for members, in the file's order."""
        return bool(self.problem or self.unlisted_bytes)

    def by_offset(self) -> Iterator[Placed]:
        """The members as they lie in the file."""
        ordered, end = sorted(self.members, key=_offset), self.start
        offsets = [*dict.fromkeys(map(_offset, ordered))]
        del offsets[bisect_left(offsets, end) :]
        following = chain(offsets[1:], repeat(end))
        for offset, members in groupby(ordered, _offset):
            yield Placed((*members,), offset, next(following), end, offsets)


class _Listing(NamedTuple):
    """Bytes that may be the directory.

    Attributes:
        base: Bytes of the file that no offset counts.
        members: Those that can be read, and `is_whole` if these are all.
        begins: Whether an entry is at its beginning.
        end: Offset of the end of the last.
    """

    start: int
    base: int
    members: list[Member]
    is_whole: bool
    begins: bool
    end: int


def _offset(member: Member) -> int:
    return member.header_offset


def read_directory(read: Read, size_bytes: int, counter: LimitCounter) -> Directory:
    """Find and read the directory of a file of *size_bytes*.

    Errors of *read* pass through unchanged.

    Raises:
        ArchiveStopped: There is none, it is encrypted, a limit is reached, or time is up.
    """
    tail_start = max(0, size_bytes - TAIL_BYTES)
    tail = bytes(read(tail_start, size_bytes - tail_start)) if size_bytes else b""
    end = end_record_in(tail, tail_start)

    def near(offset: int, length: int) -> bytes | memoryview:
        counter.examine(length)
        inside = offset >= tail_start
        return tail[offset - tail_start :][:length] if inside else read(offset, length)

    listing = _listing(end, near, counter) if end else None
    if end and listing:
        return _directory_of(end, listing, near, size_bytes)
    remarks = end.remarks if end else ()
    return Directory((), size_bytes, size_bytes, remarks, _without(end, near))


def _directory_of(end: EndRecord, listing: _Listing, near: Read, size_bytes: int) -> Directory:
    start, base, members, is_whole, _, listed_end = listing
    begins_unlisted = base and near(0, 4) == LOCAL_SIGNATURE
    remarks = ["prefixed"] * bool(base) + [*end.remarks]
    if not base and start != end.offset:
        members = shifted(members, start, end.offset, near)
        remarks += ["wrong-offset"] * ((start - end.offset) % WRAP != 0)
    if end.size not in (listed_end - start, end.position - start):
        remarks.append("wrong-size")
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
    unlisted = base if begins_unlisted else 0
    return Directory(tuple(members), start, size_bytes, tuple(remarks), problem, unlisted)


def _each_once(members: list[Member]) -> list[Member]:
    """*members* without those of the same name and offset; the last remains."""
    if len({*map(_offset, members)}) == len(members):
        return members
    return [*{member.place: member for member in members}.values()]


def _listing(end: EndRecord, near: Read, counter: LimitCounter) -> _Listing | None:
    """The directory; None if there is none, or no local header is where it says."""
    damaged = None
    for listing in _listings(end, near, counter):
        if _is_credible(listing, end, near):
            if listing.begins:
                return listing
            damaged = damaged or listing
    if damaged:
        return damaged
    first = end.position - end.size
    if not end.size and not end.entries and near(0, 4) != LOCAL_SIGNATURE:
        return _Listing(
            first, max(0, first - end.offset), [], is_whole=True, begins=True, end=first
        )
    return None


def _listings(end: EndRecord, near: Read, counter: LimitCounter) -> Iterator[_Listing]:
    """Where the directory can be.

    It ends at the end record; it begins as its size says, or as its offset says, which other data
    between the two does not affect. If the two differ, local headers decide.

    Raises:
        ArchiveStopped: There are more members than are allowed.
    """
    first, limits = end.position - end.size, counter.limits_left
    lengths = []
    for start, base in dict.fromkeys(((first, first - end.offset), (end.offset, 0), (first, 0))):
        length = end.position - start
        if start >= 0 and base >= 0 and length > 0:
            lengths.append(length)
            if length <= limits.directory_bytes:
                entries = near(start, length)
                begins = entries[:4] == ENTRY_SIGNATURE
                members, is_whole, listed = members_in(entries, end, base, counter)
                yield _Listing(start, base, members, is_whole, begins, start + listed)
    if lengths and end.is_last and min(lengths) > limits.directory_bytes:
        raise too_many_members(f"a directory of {max(lengths)} bytes", limits)


def _is_credible(listing: _Listing, end: EndRecord, near: Read) -> bool:
    """Whether nothing speaks against *listing*, or local headers are where it says.

    If bytes of the file were lost or added, this is so for members on one side of them.
    """
    start, base, members, _, begins, _ = listing
    if begins and start == end.offset == end.position - end.size and not end.problem:
        return bool(members)
    probes = members[:: max(1, len(members) // _PROBES)] + members[-1:]
    return any(
        _has_header(member, near, member.header_offset + moved, start)
        for member in (members[:1] if base else probes)
        for moved in ((0,) if base else (0, start - end.offset))
    )


def _has_header(member: Member, near: Read, at: int, start: int) -> bool:
    length = LOCAL_BYTES + len(member.raw_name)
    header = near(at, length) if 0 <= at <= start - length else b""
    return header[:4] == LOCAL_SIGNATURE and header[LOCAL_BYTES:] == member.raw_name


def _without(end: EndRecord | None, near: Read) -> ArchiveStopped:
    """Why members are known by their local headers alone.

    Raises:
        ArchiveStopped: There are none.
    """
    first = end.position - end.size if end else -1
    is_listed = first >= 0 and near(first, 4) == ENTRY_SIGNATURE
    header = bytes(near(0, LOCAL_BYTES))
    begins = header[:4] == LOCAL_SIGNATURE
    if end and (end.is_last or is_listed):
        if end.problem and end.problem.status is ArchiveStatus.SPLIT:
            raise end.problem
        if begins and int.from_bytes(header[6:8], "little") & _MASKED_BIT and not is_listed:
            raise ArchiveStopped(ArchiveStatus.ENCRYPTED, "its directory is encrypted")
        if not begins or (end.is_last and not (is_listed and end.offset < first)):
            reason = f"no local header is where its directory at {end.offset} says"
            return end.problem or broken(reason)
    if begins:
        return ArchiveStopped(
            ArchiveStatus.TRUNCATED,
            f"it begins as a zip archive, and its last {TAIL_BYTES} bytes have no directory of it: "
            "it is cut off, or other data follows the archive",
        )
    if header[:4] == _SPLIT_SIGNATURE:
        return ArchiveStopped(ArchiveStatus.SPLIT, "it is the first of several volumes")
    raise ArchiveStopped(ArchiveStatus.NOT_AN_ARCHIVE, "it has no zip directory at its end")

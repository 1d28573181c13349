"""The end of a zip file → its members, checked against each other and against limits.

Reads with a few small ranged requests: one for the end, seldom one more for the directory. What
the directory says is taken for the truth from here on; `stream` holds the rest against it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.model import ArchiveStatus, ArchiveStopped, Limits, Member
from bucketsum.archives.names import decoded_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bucketsum.s3.range_reads import Read

LOCAL_SIGNATURE: Final = b"PK\x03\x04"
_ENTRY_SIGNATURE: Final = b"PK\x01\x02"
_END_SIGNATURE: Final = b"PK\x05\x06"
_END64_SIGNATURE: Final = b"PK\x06\x06"
_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"

LOCAL_BYTES: Final = 30
_ENTRY: Final = struct.Struct("<4sBBHHHHHLLLHHHHHLL")
_END: Final = struct.Struct("<4sHHHHLLH")
_END64: Final = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR: Final = struct.Struct("<4sLQL")
_TAIL_BYTES: Final = 65_535 + _END.size + _LOCATOR.size + _END64.size
_FULL16: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class Directory:
    """What an archive says that it holds.

    Attributes:
        members: In the order of the directory.
        start: Where the directory begins; all members end before.
        remarks: What is unusual about the archive: ``prefixed``, ``trailing-data``.
    """

    members: tuple[Member, ...]
    start: int
    remarks: tuple[str, ...] = ()

    def by_offset(self) -> list[tuple[Member, int]]:
        """The members as they lie in the file, each with where the next, or the directory, begins.

        Raises:
            ArchiveStopped: Some share bytes, or lie outside of the file.
        """
        ordered = sorted(self.members, key=lambda member: member.header_offset)
        ends = [*(member.header_offset for member in ordered[1:]), self.start][: len(ordered)]
        laid_out = list(zip(ordered, ends, strict=True))
        for member, end in laid_out:
            if member.header_offset > self.start:
                raise ArchiveStopped(
                    ArchiveStatus.BROKEN, f"{member.name!r} lies behind the members' end"
                )
            taken = LOCAL_BYTES + len(member.raw_name) + member.compressed_bytes
            if member.header_offset + taken > end:
                raise ArchiveStopped(
                    ArchiveStatus.OVERLAPPING,
                    f"{member.name!r} needs {taken} bytes at {member.header_offset}, and something "
                    f"else begins at {end}",
                )
        return laid_out


@dataclass(frozen=True, slots=True)
class _End:
    """What the records at the end of the file say."""

    position: int
    entries: int
    size: int
    offset: int
    remarks: tuple[str, ...] = ()


def read_directory(read: Read, size_bytes: int, limits: Limits) -> Directory:
    """Find and read the directory of a file of *size_bytes*.

    What *read* raises passes through unchanged.

    Raises:
        ArchiveStopped: There is none, it is damaged, or more than *limits* allow.
    """
    tail_start = max(0, size_bytes - _TAIL_BYTES)
    tail = read(tail_start, size_bytes - tail_start) if size_bytes else b""
    end = _end_in(tail, tail_start)
    if end is None:
        raise _no_end(read, size_bytes)
    if end.entries > limits.members or end.size > limits.directory_bytes:
        raise _too_many(f"{end.entries} members in a directory of {end.size} bytes", limits)
    start = end.position - end.size
    base = start - end.offset
    if start < 0 or base < 0:
        raise _broken(
            f"its directory of {end.size} bytes at {end.offset} does not fit before {end.position}"
        )
    if start >= tail_start:
        entries = tail[start - tail_start : end.position - tail_start]
    else:
        entries = read(start, end.size)
    members = tuple(_members_in(entries, base, limits))
    if len(members) & _FULL16 != end.entries & _FULL16:
        raise _broken(f"its directory has {len(members)} members, its end says {end.entries}")
    return Directory(members, start, (*(("prefixed",) if base else ()), *end.remarks))


def _broken(reason: str) -> ArchiveStopped:
    return ArchiveStopped(ArchiveStatus.BROKEN, reason)


def _too_many(got: str, limits: Limits) -> ArchiveStopped:
    return ArchiveStopped(
        ArchiveStatus.TOO_MANY_MEMBERS,
        f"{got}; {limits.members} are allowed, in {limits.directory_bytes} bytes: raise "
        "ArchiveMaxMembers",
    )


def _no_end(read: Read, size_bytes: int) -> ArchiveStopped:
    begins = read(0, min(4, size_bytes)) if size_bytes else b""
    if begins == LOCAL_SIGNATURE:
        return ArchiveStopped(
            ArchiveStatus.TRUNCATED, "it begins as a zip archive, and has no directory at its end"
        )
    return ArchiveStopped(ArchiveStatus.NOT_AN_ARCHIVE, "it has no zip directory at its end")


def _end_in(tail: bytes, tail_start: int) -> _End | None:
    at, remarks = _end_position(tail)
    if at < 0:
        return None
    _, disk, first_disk, _, entries, size, offset, _ = _END.unpack_from(tail, at)
    end = _End(tail_start + at, entries, size, offset, remarks)
    if at >= _LOCATOR.size and tail.startswith(_LOCATOR_SIGNATURE, at - _LOCATOR.size):
        return _end64_in(tail, tail_start, at, end)
    if {disk, first_disk} - {0, _FULL16}:
        raise ArchiveStopped(ArchiveStatus.SPLIT, f"it is volume {disk + 1} of several")
    return end


def _end_position(tail: bytes) -> tuple[int, tuple[str, ...]]:
    """Where the end record is: the last one whose comment ends with the file, or the last."""
    last = -1
    at = tail.rfind(_END_SIGNATURE, 0, max(0, len(tail) - _END.size + 4))
    while at >= 0:
        comment_bytes = int.from_bytes(tail[at + 20 : at + 22], "little")
        if at + _END.size + comment_bytes == len(tail):
            return at, ()
        last = max(last, at)
        at = tail.rfind(_END_SIGNATURE, 0, at)
    return last, ("trailing-data",)


def _end64_in(tail: bytes, tail_start: int, at: int, end: _End) -> _End:
    _, _, offset, volumes = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
    if volumes > 1:
        raise ArchiveStopped(ArchiveStatus.SPLIT, f"it is the last of {volumes} volumes")
    # Where the locator says, or right before it where something was prepended to the file.
    for place in (offset - tail_start, at - _LOCATOR.size - _END64.size):
        if 0 <= place <= at - _LOCATOR.size - _END64.size and tail.startswith(
            _END64_SIGNATURE, place
        ):
            _, _, _, _, _, _, _, entries, size, start = _END64.unpack_from(tail, place)
            return _End(tail_start + place, entries, size, start, end.remarks)
    raise _broken(f"its Zip64 end is not at {offset}, where its locator says")


def _members_in(entries: bytes, base: int, limits: Limits) -> Iterator[Member]:
    at = count = 0
    while at < len(entries):
        if count == limits.members:
            raise _too_many(f"more than {count} members", limits)
        if len(entries) - at < _ENTRY.size:
            raise _broken(f"its directory ends inside of member {count + 1}")
        fields = _ENTRY.unpack_from(entries, at)
        if fields[0] != _ENTRY_SIGNATURE:
            raise _broken(f"member {count + 1} of its directory has no signature")
        name_end = at + _ENTRY.size + fields[11]
        extra_end = name_end + fields[12]
        if extra_end + fields[13] > len(entries):
            raise _broken(f"its directory ends inside of member {count + 1}")
        raw_name = entries[at + _ENTRY.size : name_end]
        yield _member(fields, raw_name, entries[name_end:extra_end], base)
        at = extra_end + fields[13]
        count += 1


def _member(fields: tuple[int, ...], raw_name: bytes, extra: bytes, base: int) -> Member:
    flags, method, crc32 = fields[4], fields[5], fields[8]
    compressed, size, offset = fields[9], fields[10], fields[17]
    if FULL32 in (compressed, size, offset):
        size, compressed, offset = zip64_values(extra, (size, compressed, offset))
    return Member(
        name=decoded_name(raw_name, flags, extra, fields[2]),
        raw_name=raw_name,
        header_offset=offset + base,
        method=method,
        flags=flags,
        crc32=crc32,
        compressed_bytes=compressed,
        size_bytes=size,
        system=fields[2],
        attributes=fields[16],
    )

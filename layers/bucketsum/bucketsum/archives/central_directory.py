"""The end of a zip file → its members, checked against each other and against limits.

Reads with a few small ranged requests: one for the end, rarely another for the directory. From
then on the central directory is believed; `local_header` checks the local headers against it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from bucketsum.archives.end_record import FULL16, TAIL_BYTES, broken, end_record_in
from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE
from bucketsum.archives.names import encoded_name, shown
from bucketsum.archives.zip_model import ArchiveStopped, Member
from bucketsum.table.archive_values import ArchiveStatus, Limits

if TYPE_CHECKING:
    from bucketsum.s3.range_reads import Read

_ENTRY_SIGNATURE: Final = b"PK\x01\x02"

_ENTRY: Final = struct.Struct("<4sBBHHHHHLLLHHHHHLL")
_MASKED_BIT: Final = 0x2000


class Placed(NamedTuple):
    """A member, and the offset at which the next member or the directory begins."""

    member: Member
    end: int


@dataclass(frozen=True, slots=True)
class Directory:
    """An archive's central directory.

    Attributes:
        members: In the order of the directory.
        start: Offset of the directory; all members end before it.
        remarks: Unusual properties of the archive: ``prefixed``, ``trailing-data``, ``second-end``.
    """

    members: tuple[Member, ...]
    start: int
    remarks: tuple[str, ...] = ()

    def by_offset(self) -> list[Placed]:
        """The members as they lie in the file.

        Names count for nothing here: the local header's may be of another length.

        Raises:
            ArchiveStopped: Some share bytes, or lie outside of the file.
        """
        ordered = sorted(self.members, key=lambda member: member.header_offset)
        ends = [*(member.header_offset for member in ordered[1:]), self.start][: len(ordered)]
        placed = [*map(Placed, ordered, ends)]
        for member, end in placed:
            if member.header_offset > self.start:
                raise broken(f"{shown(member.name)} begins after the directory")
            needed = LOCAL_BYTES + member.compressed_bytes
            if member.header_offset + needed > end:
                raise ArchiveStopped(
                    ArchiveStatus.OVERLAPPING,
                    f"{shown(member.name)} needs at least {needed} bytes at "
                    f"{member.header_offset}, and something else begins at {end}",
                )
        return placed


def read_directory(read: Read, size_bytes: int, limits: Limits) -> Directory:
    """Find and read the directory of a file of *size_bytes*.

    Errors of *read* pass through unchanged.

    Raises:
        ArchiveStopped: There is none, it is inconsistent, or more than *limits* allow.
    """
    tail_start = max(0, size_bytes - TAIL_BYTES)
    tail = bytes(read(tail_start, size_bytes - tail_start)) if size_bytes else b""
    end = end_record_in(tail, tail_start)
    if end is None:
        raise _no_end(read, size_bytes)
    start = end.position - end.size
    base = start - end.offset
    if start < 0 or base < 0:
        raise broken(
            f"its directory of {end.size} bytes at {end.offset} does not fit before {end.position}"
        )
    if end.entries * _ENTRY.size > end.size:
        raise broken(f"its end says {end.entries} members in a directory of {end.size} bytes")
    if end.entries > limits.members or end.size > limits.directory_bytes:
        raise _too_many(f"{end.entries} members in a directory of {end.size} bytes", limits)
    if start >= tail_start:
        entries: bytes | memoryview = tail[start - tail_start : end.position - tail_start]
    else:
        entries = read(start, end.size)
    if end.size and entries[:4] != _ENTRY_SIGNATURE and _is_masked(read, start):
        raise ArchiveStopped(ArchiveStatus.ENCRYPTED, "its directory is encrypted")
    members = tuple(_members_in(entries, base, limits))
    if len(members) & FULL16 != end.entries & FULL16:
        raise broken(f"its directory has {len(members)} members, its end says {end.entries}")
    return Directory(members, start, (*(("prefixed",) if base else ()), *end.remarks))


def _is_masked(read: Read, start: int) -> bool:
    """Whether the first local header is masked, as it is if the directory is encrypted."""
    header = read(0, min(LOCAL_BYTES, start))
    return header[:4] == LOCAL_SIGNATURE and bool(
        int.from_bytes(header[6:8], "little") & _MASKED_BIT
    )


def _too_many(got: str, limits: Limits) -> ArchiveStopped:
    return ArchiveStopped(
        ArchiveStatus.TOO_MANY_MEMBERS,
        f"{got}; {limits.members} are allowed here, in {limits.directory_bytes} bytes: raise "
        "ArchiveMaxMembers",
    )


def _no_end(read: Read, size_bytes: int) -> ArchiveStopped:
    if size_bytes and read(0, min(4, size_bytes)) == LOCAL_SIGNATURE:
        return ArchiveStopped(
            ArchiveStatus.TRUNCATED,
            f"it begins as a zip archive, and its last {TAIL_BYTES} bytes have no directory: it is "
            "cut off, or other data follows the archive",
        )
    return ArchiveStopped(ArchiveStatus.NOT_AN_ARCHIVE, "it has no zip directory at its end")


def _members_in(entries: bytes | memoryview, base: int, limits: Limits) -> Iterator[Member]:
    at = count = 0
    while at < len(entries):
        if count == limits.members:
            raise _too_many(f"more than {count} members", limits)
        if len(entries) - at < _ENTRY.size:
            raise broken(f"its directory ends inside of member {count + 1}")
        fields = _ENTRY.unpack_from(entries, at)
        if fields[0] != _ENTRY_SIGNATURE:
            raise broken(f"member {count + 1} of its directory has no signature")
        name_end = at + _ENTRY.size + fields[11]
        extra_end = name_end + fields[12]
        if extra_end + fields[13] > len(entries):
            raise broken(f"its directory ends inside of member {count + 1}")
        raw_name = bytes(entries[at + _ENTRY.size : name_end])
        yield _member(fields, raw_name, bytes(entries[name_end:extra_end]), base)
        at = extra_end + fields[13]
        count += 1


def _member(fields: tuple[int, ...], raw_name: bytes, extra: bytes, base: int) -> Member:
    flags, method, crc32 = fields[4], fields[5], fields[8]
    compressed, size, offset = fields[9], fields[10], fields[17]
    if FULL32 in (compressed, size, offset):
        size, compressed, offset = zip64_values(extra, (size, compressed, offset))
    encoded, encoding = encoded_name(raw_name, flags, extra, fields[2])
    return Member(
        raw_name=raw_name,
        encoded_name=encoded,
        encoding=encoding,
        header_offset=offset + base,
        method=method,
        flags=flags,
        crc32=crc32,
        compressed_bytes=compressed,
        size_bytes=size,
        system=fields[2],
        attributes=fields[16],
    )

"""A member's local header, checked against the central directory."""

from __future__ import annotations

import struct
from typing import Final

from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.names import is_same_name, shown
from bucketsum.archives.zip_model import ArchiveStopped, Member, MemberUnreadable, Problem
from bucketsum.table.archive_values import ArchiveStatus

LOCAL_SIGNATURE: Final = b"PK\x03\x04"
LOCAL_BYTES: Final = 30
"""Bytes of a local header before its name."""

_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_SIZES_FOLLOW_BIT: Final = 8


def rest_bytes(member: Member, header: bytes, end: int) -> int:
    """Check the fixed part of *member*'s local header, which must end before *end*.

    Returns the bytes of the name and of the extra fields that follow.

    Raises:
        ArchiveStopped: It contradicts the directory.
    """
    fields = _LOCAL.unpack(header)
    if fields[0] != LOCAL_SIGNATURE:
        raise _contradiction(member, f"there is no local header at {member.header_offset}")
    if fields[3] != member.method:
        raise _contradiction(
            member, f"its local header has method {fields[3]}, the directory {member.method}"
        )
    if (fields[2] ^ member.flags) & 1:
        raise _contradiction(member, "only one of header and directory calls it encrypted")
    rest: int = fields[9] + fields[10]
    needed = LOCAL_BYTES + rest + member.compressed_bytes
    if member.header_offset + needed > end:
        raise ArchiveStopped(
            ArchiveStatus.OVERLAPPING,
            f"{shown(member.name)} needs {needed} bytes at {member.header_offset}, and something "
            f"else begins at {end}",
        )
    return rest


def check_rest(member: Member, header: bytes, rest: bytes) -> None:
    """Check the sizes, CRC-32 and name of *member*'s local header; *rest* is name and extra fields.

    Raises:
        ArchiveStopped: Sizes or CRC-32 contradict the directory.
        MemberUnreadable: The name differs.
    """
    if member.is_encrypted:
        return  # masked values cannot be compared, and nothing is decoded
    _, _, flags, _, _, _, crc32, compressed, size, name_bytes, _ = _LOCAL.unpack(header)
    raw_name, extra = rest[:name_bytes], rest[name_bytes:]
    if FULL32 in (compressed, size):
        size, compressed = zip64_values(extra, (size, compressed))
    local = (crc32, compressed, size)
    declared = (member.crc32, member.compressed_bytes, member.size_bytes)
    follow = flags & _SIZES_FOLLOW_BIT  # then values that were not known yet are 0
    if local != declared and any(
        value != expected and not (follow and value in (0, FULL32))
        for value, expected in zip(local, declared, strict=True)
    ):
        raise _contradiction(
            member,
            f"its local header has CRC-32 {crc32:08x}, {compressed} → {size} bytes, the directory "
            f"{member.crc32:08x}, {member.compressed_bytes} → {member.size_bytes}",
        )
    if not is_same_name(member, raw_name, flags, extra):
        raise MemberUnreadable(Problem.WRONG_NAME, f"its local header calls it {shown(raw_name)}")


def _contradiction(member: Member, reason: str) -> ArchiveStopped:
    return ArchiveStopped(ArchiveStatus.CONTRADICTORY, f"{shown(member.name)}: {reason}")

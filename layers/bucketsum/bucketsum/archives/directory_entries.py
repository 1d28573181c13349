"""The entries of a central directory → members, as far as they can be read."""

from __future__ import annotations

import re
import struct
from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import Final

from bucketsum.archives.end_record import EndRecord
from bucketsum.archives.extra_fields import FULL32, zip64_values
from bucketsum.archives.limits import LimitCounter, too_many_members
from bucketsum.archives.local_header import LOCAL_BYTES, LOCAL_SIGNATURE
from bucketsum.archives.names import encoded_name
from bucketsum.archives.zip_model import Member
from bucketsum.s3.range_reads import Read

WRAP: Final = FULL32 + 1
"""Sizes and offsets are modulo this in archives without Zip64."""

ENTRY_SIGNATURE: Final = b"PK\x01\x02"
ENTRY_BYTES: Final = 46
"""Bytes of an entry before its name."""

_SIGNED_SIGNATURE: Final = b"PK\x05\x05"
"""Of the digital signature after the entries, which is skipped."""
_ENTRY_START: Final = re.compile(re.escape(ENTRY_SIGNATURE))
_ENTRY: Final = struct.Struct("<4sBBHHHHHLLLHHHHHLL")
_LENGTHS: Final = struct.Struct("<HHH")
_LENGTHS_AT: Final = 28  # of name, extra fields and comment
_WRAPS_MAX: Final = 16  # more than one invocation can read


def members_in(
    entries: bytes | memoryview, end: EndRecord, base: int, counter: LimitCounter
) -> tuple[list[Member], bool, int]:
    """The members in a directory, whether it is whole, and the end of its last entry.

    An entry that nothing known follows is damaged, or has damage after it: it is left out.
    """
    members: list[Member] = []
    at, is_whole, limits = 0, True, counter.limits_left
    while len(entries) - at >= ENTRY_BYTES:
        after = at + ENTRY_BYTES + sum(_LENGTHS.unpack_from(entries, at + _LENGTHS_AT))
        counter.examine(ENTRY_BYTES)
        follows = entries[after : after + 4]
        is_last = after == len(entries) or after == end.size < len(entries)
        is_known = is_last or follows in (ENTRY_SIGNATURE, _SIGNED_SIGNATURE)
        if entries[at : at + 4] == ENTRY_SIGNATURE and is_known:
            if len(members) == limits.members:
                raise too_many_members(f"more than {len(members)} members", limits)
            counter.examine(after - at)
            members.append(_entry_at(entries, at, base))
            if follows != ENTRY_SIGNATURE:
                return members, is_whole, after
            at = after
        else:
            is_whole = False
            match = _ENTRY_START.search(entries, at + 1)
            at = match.start() if match else len(entries)
    return members, False, len(entries)


def _entry_at(entries: bytes | memoryview, at: int, base: int) -> Member:
    fields = _ENTRY.unpack_from(entries, at)
    flags, method, crc32 = fields[4], fields[5], fields[8]
    compressed, size, offset = fields[9], fields[10], fields[17]
    name_end = at + ENTRY_BYTES + fields[11]
    extra_end = name_end + fields[12]
    raw_name = bytes(entries[at + ENTRY_BYTES : name_end])
    extra = bytes(entries[name_end:extra_end])
    if FULL32 in (compressed, size, offset):
        size, compressed, offset = zip64_values(extra, (size, compressed, offset))
    name = encoded_name(raw_name, flags, extra, fields[2])
    values = crc32, compressed, size
    return Member(raw_name, *name, offset + base, method, flags, *values, fields[2], fields[16])


def shifted(members: list[Member], start: int, declared: int, near: Read) -> list[Member]:
    """*members* with their offsets, if these are as wrong as *declared*, that of the directory.

    It is at *start*. The difference is 4 GiB or more if values are modulo 4 GiB, for lack of Zip64;
    otherwise bytes were lost or added. Local headers tell after which members. A lost local header
    has a negative offset.
    """
    total = start - declared
    step = total if total % WRAP else WRAP
    firsts = [0]
    members = sorted(members, key=attrgetter("header_offset")) if step == total else members
    for before in range(0, total, step)[:_WRAPS_MAX] if total else ():

        def is_later(index: int, before: int = before) -> bool:
            member = members[index]
            at, length = member.header_offset + before, LOCAL_BYTES + len(member.raw_name)
            header = near(at, length) if at + length <= start else b""
            return header[:4] != LOCAL_SIGNATURE or header[LOCAL_BYTES:] != member.raw_name

        firsts.append(bisect_left(range(len(members)), x=True, lo=firsts[-1], key=is_later))
    offsets = [
        member.header_offset + step * (bisect_right(firsts, index) - 1)
        for index, member in enumerate(members)
    ]
    placed = []
    for member, at, end in zip(members, offsets, [*offsets, start][1:], strict=True):
        room = max(0, end - at - LOCAL_BYTES - member.compressed_bytes)
        compressed = member.compressed_bytes + room // WRAP * WRAP * (step == WRAP)
        placed.append(member._replace(header_offset=at, compressed_bytes=compressed))
    return placed

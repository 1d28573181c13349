"""The end of a zip file: its end record, and the Zip64 record in front of it."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

from bucketsum.archives.extra_fields import FULL32
from bucketsum.archives.zip_model import ArchiveStopped
from bucketsum.table.archive_values import ArchiveStatus

FULL16: Final = 0xFFFF

_END_SIGNATURE: Final = b"PK\x05\x06"
_END64_SIGNATURE: Final = b"PK\x06\x06"
_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"

_END: Final = struct.Struct("<4sHHHHLLH")
_END64: Final = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR: Final = struct.Struct("<4sLQL")
_ENTRY_BYTES: Final = 46
"""Size of a directory's entry without its name."""

TAIL_BYTES: Final = 65_535 + _END.size + _LOCATOR.size + _END64.size
"""Size of the records, with the longest comment."""


@dataclass(frozen=True, slots=True)
class EndRecord:
    """The records at the end of a zip file.

    Attributes:
        position: Offset of the record that names the directory.
        entries: Number of members.
        size: Size of the directory in bytes.
        offset: Offset of the directory, without a prefix of the file.
        remarks: Unusual properties: ``trailing-data``, ``second-end``.
    """

    position: int
    entries: int
    size: int
    offset: int
    remarks: tuple[str, ...] = ()

    def says_the_same(self, other: EndRecord) -> bool:
        """Whether this record and *other* describe the same directory."""
        return (self.entries, self.size, self.offset) == (other.entries, other.size, other.offset)

    @property
    def can_be_true(self) -> bool:
        """Whether the described directory has members, and fits in front of this record."""
        fits = self.offset + self.size <= self.position
        return fits and 0 < self.entries * _ENTRY_BYTES <= self.size

    @property
    def needs_zip64(self) -> bool:
        """Whether a value is too large for this record, so that the Zip64 record has it."""
        return self.entries == FULL16 or FULL32 in (self.size, self.offset)


def end_record_in(tail: bytes, tail_start: int) -> EndRecord | None:
    """The end record in *tail*, the file from *tail_start* on; None if there is none.

    Raises:
        ArchiveStopped: The records contradict each other, or belong to one of several volumes.
    """
    at, remarks = _end_position(tail)
    if at < 0:
        return None
    _, disk, first_disk, _, entries, size, offset, _ = _END.unpack_from(tail, at)
    end = EndRecord(tail_start + at, entries, size, offset, remarks)
    # Without a value that needs it, the signature may as well be part of a name or comment.
    if at >= _LOCATOR.size and tail.startswith(_LOCATOR_SIGNATURE, at - _LOCATOR.size):
        end64 = _end64_in(tail, tail_start, at, end)
        if end.needs_zip64 or (end64 and end64.says_the_same(end)):
            return _checked_end64(tail, at, end64)
        if end64 and end64.can_be_true:  # other programs read that directory
            raise broken("its end and its Zip64 end name different directories")
    if {disk, first_disk} - {0, FULL16}:
        raise ArchiveStopped(ArchiveStatus.SPLIT, f"it is volume {disk + 1} of several")
    return end


def _end_position(tail: bytes) -> tuple[int, tuple[str, ...]]:
    """Position of the end record: the last whose comment ends with the file, or the last of all.

    If two records' comments end with the file, one lies in the other's comment. Programs then
    disagree about the members, so a remark says it.
    """
    searched = max(0, len(tail) - _END.size + len(_END_SIGNATURE))
    signatures = re.compile(re.escape(_END_SIGNATURE)).finditer(tail, 0, searched)
    positions = [match.start() for match in signatures][::-1]  # the last first
    fitting = [
        at for at in positions if at + _END.size + _END.unpack_from(tail, at)[-1] == len(tail)
    ]
    if fitting:
        return fitting[0], ("second-end",) if len(fitting) > 1 else ()
    return positions[0] if positions else -1, ("trailing-data",)


def _end64_in(tail: bytes, tail_start: int, at: int, end: EndRecord) -> EndRecord | None:
    """The Zip64 record: where the locator says, or right before it if the file has a prefix."""
    _, _, offset, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
    last = at - _LOCATOR.size - _END64.size
    for position in (offset - tail_start, last):
        if 0 <= position <= last and tail.startswith(_END64_SIGNATURE, position):
            _, _, _, _, _, _, _, entries, size, start = _END64.unpack_from(tail, position)
            return EndRecord(tail_start + position, entries, size, start, end.remarks)
    return None


def _checked_end64(tail: bytes, at: int, end64: EndRecord | None) -> EndRecord:
    _, _, offset, volumes = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
    if volumes > 1:
        raise ArchiveStopped(ArchiveStatus.SPLIT, f"it is the last of {volumes} volumes")
    if end64 is None:
        raise broken(f"its Zip64 end is not at {offset}, where its locator says")
    return end64


def broken(reason: str) -> ArchiveStopped:
    """The error of an archive whose directory is inconsistent."""
    return ArchiveStopped(ArchiveStatus.BROKEN, reason)

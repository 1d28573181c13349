"""The end of a zip file: its end record, and the Zip64 record in front of it."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace
from typing import Final

from bucketsum.archives.extra_fields import FULL32
from bucketsum.archives.zip_model import ArchiveStopped
from bucketsum.table.archive_status import ArchiveStatus

FULL16: Final = 0xFFFF

END_SIGNATURE: Final = b"PK\x05\x06"
_END64_SIGNATURE: Final = b"PK\x06\x06"
_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"

_END: Final = struct.Struct("<4sHHHHLLH")
END_BYTES: Final = _END.size
"""Bytes of an end record before its comment."""

_END64: Final = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR: Final = struct.Struct("<4sLQL")
_ENTRY_BYTES: Final = 46
"""Size of a directory's entry without its name."""

TAIL_BYTES: Final = 65_535 + END_BYTES + _LOCATOR.size + _END64.size
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
        problem: Why it may not be the end of a whole archive.
    """

    position: int
    entries: int
    size: int
    offset: int
    remarks: tuple[str, ...] = ()
    problem: ArchiveStopped | None = None

    def says_the_same(self, wide: EndRecord) -> bool:
        """Whether *wide*, a Zip64 record, has each value that this record has."""
        values = ((self.entries, wide.entries, FULL16), (self.size, wide.size, FULL32),
                  (self.offset, wide.offset, FULL32))  # fmt: skip
        return all(value in (other, full) for value, other, full in values)

    @property
    def is_last(self) -> bool:
        """Whether its comment ends with the file; the signature alone may be anything's."""
        return "trailing-data" not in self.remarks

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
    """The end record in *tail*, the file from *tail_start* on; None if there is none."""
    at, remarks = _end_position(tail, tail_start)
    if at < 0:
        return None
    _, disk, first_disk, *_ = _END.unpack_from(tail, at)
    end = replace(_end_at(tail, at, tail_start), remarks=remarks)
    # Without a value that needs it, the signature may as well be part of a name or comment.
    if at >= _LOCATOR.size and tail.startswith(_LOCATOR_SIGNATURE, at - _LOCATOR.size):
        ends64 = _ends64_in(tail, tail_start, at)
        same = bool(ends64) and end.says_the_same(ends64[0])
        if end.needs_zip64 or same:
            return _checked_end64(tail, at, end, ends64, same=same)
        if ends64 and ends64[0].can_be_true:  # other programs read that directory
            problem = broken("its end and its Zip64 end name different directories")
            return replace(end, remarks=_second(remarks), problem=problem)
    if {disk, first_disk} - {0, FULL16}:
        return replace(end, problem=_split(f"it is volume {disk + 1} of several"))
    return end


def _end_at(tail: bytes, at: int, tail_start: int) -> EndRecord:
    *_, entries, size, offset, _ = _END.unpack_from(tail, at)
    return EndRecord(tail_start + at, entries, size, offset)


def _end_position(tail: bytes, tail_start: int) -> tuple[int, tuple[str, ...]]:
    """Position of the end record: the last whose comment ends with the file, or that can be true.

    If one record lies in another's comment, programs disagree about the members, so a remark says
    it.
    """
    searched = max(0, len(tail) - END_BYTES + len(END_SIGNATURE))
    signatures = re.compile(re.escape(END_SIGNATURE)).finditer(tail, 0, searched)
    starts = (signature.start() for signature in signatures)
    ends = {at: at + END_BYTES + _END.unpack_from(tail, at)[-1] for at in starts}
    fitting = [at for at, end in ends.items() if end == len(tail)]
    credible = fitting or [at for at in ends if _end_at(tail, at, tail_start).can_be_true]
    at = max(credible or ends, default=-1)
    remarks = () if fitting else ("trailing-data",)
    others = (other > at or other < at < end for other, end in ends.items())
    return at, _second(remarks) if any(others) else remarks


def _second(remarks: tuple[str, ...]) -> tuple[str, ...]:
    return (*remarks, "second-end") if "second-end" not in remarks else remarks


def _ends64_in(tail: bytes, tail_start: int, at: int) -> list[EndRecord]:
    """Zip64 records: where the locator says, and right before it, as if the file has a prefix."""
    _, _, offset, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
    last = at - _LOCATOR.size - _END64.size
    records = []
    for position in dict.fromkeys((offset - tail_start, last)):
        if 0 <= position <= last and tail.startswith(_END64_SIGNATURE, position):
            _, _, _, _, _, _, _, entries, size, start = _END64.unpack_from(tail, position)
            records.append(EndRecord(tail_start + position, entries, size, start))
    return records


def _checked_end64(
    tail: bytes, at: int, end: EndRecord, ends64: list[EndRecord], *, same: bool
) -> EndRecord:
    _, _, offset, volumes = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
    if not ends64:
        return replace(
            end, problem=broken(f"its Zip64 end is not at {offset}, as its locator says")
        )
    remarks = end.remarks if same and len(ends64) == 1 else _second(end.remarks)
    problem = _split(f"it is the last of {volumes} volumes") if volumes > 1 else None
    return replace(ends64[0], remarks=remarks, problem=problem)


def _split(reason: str) -> ArchiveStopped:
    return ArchiveStopped(ArchiveStatus.SPLIT, reason)


def broken(reason: str) -> ArchiveStopped:
    """The error of an archive whose directory is inconsistent."""
    return ArchiveStopped(ArchiveStatus.BROKEN, reason)

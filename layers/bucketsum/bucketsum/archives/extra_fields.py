"""Extra fields of a zip header."""

from __future__ import annotations

import struct
from typing import Final

FULL32: Final = 0xFFFF_FFFF
"""A 32-bit value that stands for a 64-bit value in the Zip64 extra field."""

_ZIP64: Final = 0x0001


def zip64_values(extra: bytes, narrow: tuple[int, ...]) -> tuple[int, ...]:
    """*narrow* with each full 32-bit value replaced by the 64-bit value of the Zip64 extra field.

    Without the field, and where it is too short, 4 GiB less one byte is an ordinary size.
    """
    field = extra_field(extra, _ZIP64) or b""
    values, at = [], 0
    for value in narrow:
        wide = value == FULL32 and at + 8 <= len(field)
        values.append(int.from_bytes(field[at : at + 8], "little") if wide else value)
        at += 8 * wide
    return tuple(values)


def extra_field(extra: bytes, wanted: int) -> bytes | None:
    """The content of an extra field; a damaged field hides those after it."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == wanted:
            return extra[at + 4 : at + 4 + length]
        at += 4 + length
    return None

"""The checksum that S3 keeps for an object: as response headers and lists of parts have it."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bucketsum.events.message_fields import shown

MODE_HEADER: Final = {"x-amz-checksum-mode": "ENABLED"}
"""Asks for the checksum in the response to a GET or a HEAD; it must be signed."""

VALUE_BYTES: Final[Mapping[str, int]] = {
    "crc64nvme": 8,
    "crc32c": 4,
    "crc32": 4,
    "sha1": 20,
    "sha256": 32,
    "sha512": 64,
    "md5": 16,
    "xxhash64": 8,
    "xxhash3": 8,
    "xxhash128": 16,
}
"""Algorithm, as in the header's name → bytes of a value; [A] S3's API model, 2026-04."""

PARTS_MAX: Final = 10_000
"""[A] Most parts of an object."""

_PREFIX: Final = "x-amz-checksum-"
_TYPE: Final = f"{_PREFIX}type"
_TYPES: Final = {"COMPOSITE": True, "FULL_OBJECT": False}
_VALUE: Final = re.compile(r"([A-Za-z0-9+/]{4,96}={0,2})(?:-([1-9]\d{0,4}))?", re.ASCII)


class NotComparedError(ValueError):
    """The text says why the checksum is not compared."""


@dataclass(frozen=True, slots=True)
class StoredChecksum:
    """S3's checksum of an object.

    Attributes:
        algorithm: One of `VALUE_BYTES`.
        value: Of the object; with *parts*, of the values of its parts.
        parts: Number of its parts; None if the checksum is that of the whole object.
    """

    algorithm: str
    value: bytes
    parts: int | None = None

    def __str__(self) -> str:
        """The algorithm and the value as S3 writes it, for example ``crc32:q83vCA==-5``."""
        suffix = f"-{self.parts}" if self.parts else ""
        return f"{self.algorithm}:{b64encode(self.value).decode()}{suffix}"


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part of an object.

    Attributes:
        number: Its part number: they ascend, and may have gaps.
        value: Its checksum.
    """

    number: int
    size_bytes: int
    value: bytes


def stored_in(headers: Mapping[str, str]) -> StoredChecksum | None:
    """The checksum in *headers*, whose names are lower-case; None if there is none.

    Raises:
        NotComparedError: There are several, or it is not one that S3 writes.
    """
    values = {
        name.removeprefix(_PREFIX): value
        for name, value in headers.items()
        if name.startswith(_PREFIX) and name != _TYPE
    }
    if not values:
        return None
    if len(values) > 1:
        raise NotComparedError(f"S3 sent {len(values)} checksums: {shown(sorted(values))}")
    [(algorithm, text)] = values.items()
    return stored_of(algorithm, text, headers.get(_TYPE))


def stored_of(algorithm: str, text: str, kind: str | None = None) -> StoredChecksum:
    """The checksum *text* in base64, with ``-N`` if it is composite; *kind* is its type.

    Raises:
        NotComparedError: It is not one that S3 writes.
    """
    if algorithm not in VALUE_BYTES:
        raise NotComparedError(f"the algorithm {shown(algorithm)} of S3's checksum is not known")
    match = _VALUE.fullmatch(text)
    if not match:
        raise NotComparedError(f"S3's {algorithm} is {shown(text)}, which is not base64")
    value = _value_of(algorithm, match[1])
    parts = int(match[2]) if match[2] else None
    if parts and parts > PARTS_MAX:
        raise NotComparedError(f"S3's {algorithm} has {parts:,} parts, an object at most 10,000")
    if kind is not None and _TYPES.get(kind) is not (parts is not None):
        raise NotComparedError(f"S3's {algorithm} is {shown(text)}, its type {shown(kind)}")
    return StoredChecksum(algorithm, value, parts)


def _value_of(algorithm: str, text: str) -> bytes:
    try:
        value = b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NotComparedError(f"S3's {algorithm} is {shown(text)}, not base64") from error
    if len(value) != (size := VALUE_BYTES[algorithm]):
        raise NotComparedError(f"S3's {algorithm} has {len(value)} bytes, not {size}")
    return value


def parts_in(
    pages: Iterable[Mapping[str, Any]], checksum: StoredChecksum, size_bytes: int
) -> Sequence[StoredPart]:
    """The parts of an object in *pages*: the outputs of GetObjectAttributes.

    Raises:
        NotComparedError: Some have no checksum, or they do not add up to *checksum* and
            *size_bytes*.
    """
    parts: list[StoredPart] = []
    for page in pages:
        parts += (_part_of(part, checksum) for part in page.get("ObjectParts", {}).get("Parts", ()))
        if len(parts) > PARTS_MAX:
            raise NotComparedError("S3 lists more than 10,000 parts")
    numbers = [part.number for part in parts]
    if len(parts) != checksum.parts or numbers != sorted({*numbers}):
        raise NotComparedError(f"S3 lists {len(parts):,} parts, its checksum {checksum.parts:,}")
    if sum(part.size_bytes for part in parts) != size_bytes:
        raise NotComparedError("the sizes of the parts that S3 lists are not the object's size")
    return parts


def _part_of(part: Mapping[str, Any], checksum: StoredChecksum) -> StoredPart:
    number, size_bytes = part.get("PartNumber"), part.get("Size")
    text = part.get(f"Checksum{checksum.algorithm.upper()}")
    if not (isinstance(number, int) and isinstance(size_bytes, int) and size_bytes > 0):
        raise NotComparedError(f"S3 lists a part {shown(number)} of {shown(size_bytes)} bytes")
    if not isinstance(text, str):
        raise NotComparedError("S3 keeps no checksums of the object's parts")
    return StoredPart(number, size_bytes, _value_of(checksum.algorithm, text))

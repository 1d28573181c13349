"""Checksums of chunks, which continue from a value: CRCs, and the digests that S3 keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from bucketsum.checksums.stored import VALUE_BYTES, NotComparedError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Running(Protocol):
    """A checksum to which chunks are added, as those of hashlib."""

    def update(self, data: ReadableBuffer, /) -> None:
        """Add *data* to the checksum."""

    def digest(self) -> bytes:
        """The checksum of all data so far, as S3 has it in base64."""


_MODELS: Final = {"crc32": "CRC32", "crc32c": "CRC32-ISCSI", "crc64nvme": "CRC64-NVME"}
"""S3's name → anycrc's."""


@cache
def _calculation(algorithm: str) -> Callable[[Any, int], int]:
    """The function of (data, value so far); the module is imported at the first CRC.

    Raises:
        NotComparedError: The layer was built without it, as ALLOW_MISSING permits.
    """
    try:
        from anycrc import Model  # noqa: PLC0415 - a cold start pays for it only if S3 has a CRC
    except ImportError as error:
        raise NotComparedError(f"the layer has no wheel for {algorithm}") from error
    calculate: Callable[[Any, int], int] = Model(_MODELS[algorithm]).calc
    return calculate


class Crc:
    """A CRC; *value* is that of the bytes before."""

    def __init__(self, algorithm: str, value: bytes | None = None) -> None:
        self._algorithm = algorithm
        self._calculate = _calculation(algorithm)
        self._value = int.from_bytes(value or b"", "big")
        self.digest()  # raises OverflowError if it is another algorithm's

    def update(self, data: ReadableBuffer, /) -> None:
        """Add *data* to the checksum."""
        self._value = self._calculate(data, self._value)

    def digest(self) -> bytes:
        """The CRC, big-endian; `Crc` continues from it."""
        return self._value.to_bytes(VALUE_BYTES[self._algorithm], "big")


_DIGESTS: Final[Mapping[str, Callable[[], Running]]] = {
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
    "md5": lambda: hashlib.md5(usedforsecurity=False),
}


def is_crc(algorithm: str) -> bool:
    """Whether it continues from its own value, at a few percent of a reading's CPU time."""
    return algorithm in _MODELS


def is_known(algorithm: str) -> bool:
    """Whether *algorithm* can be computed here; xxHash cannot."""
    return algorithm in _MODELS or algorithm in _DIGESTS


def running(algorithm: str) -> Running:
    """Begin a checksum; it `is_known`.

    Raises:
        NotComparedError: This layer cannot compute it.
    """
    return Crc(algorithm) if algorithm in _MODELS else _DIGESTS[algorithm]()

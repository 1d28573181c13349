"""The digest algorithms: to add one, add an entry here and its name to ExtraAlgorithms."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from _hashlib import HASH

    from _typeshed import ReadableBuffer


class Crc32:
    """CRC-32 with hashlib's interface; it continues from the value in *words*."""

    def __init__(self, words: bytes | None = None) -> None:
        self._value = int.from_bytes(words or b"", "big")

    def update(self, data: ReadableBuffer, /) -> None:
        """Add *data* to the checksum."""
        self._value = zlib.crc32(data, self._value)

    def words(self) -> bytes:
        """The value as big-endian bytes."""
        return self._value.to_bytes(4, "big")

    def finished(self, _length: int) -> bytes:
        """The value; the other algorithms need the length to finish, CRC-32 does not."""
        return self.words()

    def hexdigest(self) -> str:
        """The value in 8 digits."""
        return self.words().hex()


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A digest algorithm, and how its state outlives a process.

    Attributes:
        name: In settings, rows and saved states; also hashlib's name.
        hex_digits: Length of a digest in hexadecimal.
        new: Begins a digest.
        label: In lines of `sha1sum --tag`, and in the names of OpenSSL's functions.
        state_bytes: Size of the hash words between two blocks: all that a digest continues from.
        block_bytes: Size of a block, which has 16 words.
        byte_order: Byte order of the words.
    """

    name: str
    hex_digits: int
    new: Callable[[], HASH | Crc32]
    label: str
    state_bytes: int
    block_bytes: int = 64
    byte_order: Literal["big", "little"] = "big"

    def is_digest(self, text: str) -> bool:
        """Whether *text* is a digest of this algorithm, in lower-case hexadecimal."""
        return len(text) == self.hex_digits and not text.strip("0123456789abcdef")


SHA1: Final = Algorithm("sha1", 40, lambda: hashlib.sha1(usedforsecurity=False), "SHA1", 20)
CRC32: Final = Algorithm("crc32", 8, Crc32, "CRC32", 4)

ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        SHA1,
        Algorithm("sha256", 64, hashlib.sha256, "SHA256", 32),
        Algorithm("sha512", 128, hashlib.sha512, "SHA512", 64, block_bytes=128),
        Algorithm("md5", 32, lambda: hashlib.md5(usedforsecurity=False), "MD5", 16,
                  byte_order="little"),
        CRC32,
    )
}  # fmt: skip

EXTRA_ALGORITHMS: Final = tuple(name for name in ALGORITHMS if name != SHA1.name)
"""Algorithms that can be computed in the same pass as SHA-1."""

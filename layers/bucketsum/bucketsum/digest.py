"""Digests of chunks: SHA-1, and others in the same pass.

An algorithm is also in `bucketsum.long_objects.openssl_digest`, whose states outlive a process.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _hashlib import HASH

    from _typeshed import ReadableBuffer


class Crc32:
    """CRC-32 with hashlib's interface; it continues from the value in *words*."""

    size_bytes: Final = 4

    def __init__(self, words: bytes | None = None) -> None:
        self._value = int.from_bytes(words or b"", "big")

    def update(self, data: ReadableBuffer, /) -> None:
        """Add *data* to the checksum."""
        self._value = zlib.crc32(data, self._value)

    def words(self) -> bytes:
        """The value as big-endian bytes."""
        return self._value.to_bytes(self.size_bytes, "big")

    def finished(self, _length: int) -> bytes:
        """The value; the other algorithms need the length to finish, CRC-32 does not."""
        return self.words()

    def hexdigest(self) -> str:
        """The value in 8 digits."""
        return self.words().hex()


SHA1: Final = "sha1"
_MAKERS: Final[Mapping[str, Callable[[], HASH | Crc32]]] = {
    SHA1: lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
    "md5": lambda: hashlib.md5(usedforsecurity=False),
    "crc32": Crc32,
}

EXTRA_ALGORITHMS: Final = tuple(name for name in _MAKERS if name != SHA1)
"""Algorithms that can be computed in the same pass as SHA-1."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Digests of a stream of bytes.

    Attributes:
        sha1: 40 lower-case hexadecimal characters.
        size_bytes: Bytes that were hashed.
        extra: Further algorithms' names → lower-case hexadecimal digests.
    """

    sha1: str
    size_bytes: int
    extra: Mapping[str, str] = field(default_factory=dict)


class RunningDigest:
    """A digest to which chunks are added."""

    def __init__(self, extra_algorithms: Iterable[str] = ()) -> None:
        self._running = {name: _MAKERS[name]() for name in (SHA1, *extra_algorithms)}
        self._updates = [digest.update for digest in self._running.values()]
        self._size_bytes = 0

    def update(self, chunk: ReadableBuffer) -> None:
        """Hash the next chunk."""
        for update in self._updates:
            update(chunk)
        self._size_bytes += len(memoryview(chunk))

    def passing(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Hash each chunk and pass it on."""
        for chunk in chunks:
            self.update(chunk)
            yield chunk

    def digest(self) -> Digest:
        """The digest of all chunks so far."""
        digests = {name: digest.hexdigest() for name, digest in self._running.items()}
        return Digest(digests.pop(SHA1), self._size_bytes, digests)


def digest_of(chunks: Iterable[bytes], extra_algorithms: Iterable[str] = ()) -> Digest:
    """Hash *chunks* in order, holding one chunk at a time.

    The digest does not depend on how the bytes are split; no chunks hash as zero bytes. Errors
    raised by iterating *chunks* pass through unchanged.

    Raises:
        KeyError: An extra algorithm is not one of `EXTRA_ALGORITHMS`.
    """
    running = RunningDigest(extra_algorithms)
    for chunk in chunks:
        running.update(chunk)
    return running.digest()

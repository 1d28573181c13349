"""Running digests whose state is saved in one process and continued in another.

A state is the hash words after the last block, in the digest's byte order, and the length in 8
bytes: 28 bytes for SHA-1, the same on every version of OpenSSL, CPU and byte order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from bucketsum.algorithms import ALGORITHMS, CRC32, SHA1, Crc32
from bucketsum.checksums.comparison import Witness
from bucketsum.digest import Digest
from bucketsum.long_objects.openssl_digest import OpenSslDigest

if TYPE_CHECKING:
    import ctypes


BLOCK_BYTES: Final = 128
"""States can be saved after multiples of this: the block of SHA-512, two blocks of the others."""

_LENGTH_BYTES: Final = 8


class PortableDigest:
    """SHA-1 and further digests in one pass, from a saved state on.

    Attributes:
        witness: S3's own checksum, compared in the same pass; None if it is not.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        extra_algorithms: Iterable[str] = (),
        states: Mapping[str, bytes] | None = None,
    ) -> None:
        """Begin with no bytes, or continue from *states*, which `states` returned.

        Raises:
            ValueError: A state is missing, has another size, or is of another length.
        """
        names = (SHA1.name, *extra_algorithms)
        self._length = 0
        self.witness: Witness | None = None
        if states is not None:
            self._length = _length_of([states.get(name, b"") for name in names])
        self._running: dict[str, Crc32 | OpenSslDigest] = {
            name: _digest_of(name, library, states[name] if states else None) for name in names
        }

    @property
    def length(self) -> int:
        """The number of bytes so far."""
        return self._length

    def update(self, chunk: bytes) -> None:
        """Hash the next chunk."""
        for digest in self._running.values():
            digest.update(chunk)
        if self.witness:
            self.witness.update(chunk)
        self._length += len(chunk)

    def states(self) -> dict[str, bytes]:
        """Algorithms' names → their states: hash words, then the length in 8 bytes, big-endian.

        Raises:
            ValueError: The length is not a multiple of `BLOCK_BYTES`.
        """
        if self._length % BLOCK_BYTES:
            raise ValueError(f"{self._length} bytes do not end with a block of {BLOCK_BYTES}")
        length = self._length.to_bytes(_LENGTH_BYTES, "big")
        return {name: digest.words() + length for name, digest in self._running.items()}

    def digest(self) -> Digest:
        """The digest of all chunks; none can be added any more."""
        digests = {
            name: digest.finished(self._length).hex() for name, digest in self._running.items()
        }
        return Digest(digests.pop(SHA1.name), self._length, digests)


def _length_of(states: list[bytes]) -> int:
    lengths = {int.from_bytes(state[-_LENGTH_BYTES:], "big") for state in states}
    if len(lengths) != 1 or (length := lengths.pop()) % BLOCK_BYTES:
        raise ValueError("the states do not end with the same block")
    return length


def _digest_of(name: str, library: ctypes.CDLL, state: bytes | None) -> Crc32 | OpenSslDigest:
    algorithm, words = ALGORITHMS[name], None if state is None else state[:-_LENGTH_BYTES]
    if words is not None and len(words) != algorithm.state_bytes:
        expected = algorithm.state_bytes
        raise ValueError(f"the state of {name} has {len(words)} bytes of words, not {expected}")
    return Crc32(words) if algorithm is CRC32 else OpenSslDigest(algorithm, library, words)

"""Digests of chunks: SHA-1, and others in the same pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bucketsum.algorithms import ALGORITHMS, SHA1

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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

    @property
    def by_name(self) -> Mapping[str, str]:
        """All algorithms' names → digests."""
        return {SHA1.name: self.sha1, **self.extra}


class RunningDigest:
    """A digest to which chunks are added."""

    def __init__(self, extra_algorithms: Iterable[str] = ()) -> None:
        self._running = {name: ALGORITHMS[name].new() for name in (SHA1.name, *extra_algorithms)}
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
        return Digest(digests.pop(SHA1.name), self._size_bytes, digests)


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

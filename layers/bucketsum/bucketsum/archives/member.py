"""A member's compressed bytes → its SHA-1, or the reason why it has none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from bucketsum.archives.decoders import ENGINES, crc32, decoded
from bucketsum.archives.zip_model import (
    Member,
    MemberDigest,
    MemberUnreadable,
    Problem,
    StreamEndsEarly,
)

if TYPE_CHECKING:
    from bucketsum.archives.background import BackgroundCalls
    from bucketsum.archives.bounded_decoder import Pieces
    from bucketsum.archives.limits import LimitCounter
    from bucketsum.table.archive_values import Engine

    Write = Callable[[bytes | memoryview], object]

FEED_BYTES: Final = 64 * 1024
"""Most compressed bytes that a decoder is given at a time."""

BACKGROUND_FROM_BYTES: Final = 512 * 1024
"""Members of this size or more are hashed by the second core, if there is one.

Handing a piece over takes some 10 µs, and waiting for a member's last piece as long as hashing it:
for smaller members this is more than the second core saves.
"""


@dataclass(frozen=True, slots=True)
class Decoding:
    """The limits, the decompression library and the second core for decoding members.

    Attributes:
        counter: Counts the output against the limits.
        background: Hashes members of `BACKGROUND_FROM_BYTES` or more.
    """

    counter: LimitCounter
    engine: Engine = ENGINES[0]
    background: BackgroundCalls | None = None


class HashedMember(NamedTuple):
    """A member's digest, and its content if it was kept."""

    digest: MemberDigest
    content: memoryview | None = None


class _Output:
    """A member's output so far."""

    def __init__(self, member: Member, decoding: Decoding, write: Write | None) -> None:
        self._member = member
        self._counter = decoding.counter
        self._write = write
        large = member.size_bytes >= BACKGROUND_FROM_BYTES
        self._background = decoding.background if large else None
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._crc32 = 0
        self._consumed_bytes = 0
        self.size_bytes = 0

    def counted(self, compressed: Iterable[memoryview]) -> Iterator[memoryview]:
        """Pass the input of the decoder on, and count it."""
        for data in compressed:
            self._consumed_bytes += len(data)
            yield data

    def take(self, pieces: Pieces) -> None:
        """Hash *pieces*, all of the content as it is decoded."""
        try:
            for piece in pieces:
                self._take(piece)
        except StreamEndsEarly:
            raise MemberUnreadable(
                Problem.DAMAGED, f"its compressed bytes end early, after {self.size_bytes} bytes"
            ) from None

    def _take(self, piece: bytes | memoryview) -> None:
        self.size_bytes += len(piece)
        if self.size_bytes > self._member.size_bytes:
            raise MemberUnreadable(
                Problem.WRONG_SIZE,
                f"more comes out than the {self._member.size_bytes} bytes its directory says",
            )
        self._counter.add(len(piece), self.size_bytes, self._consumed_bytes)
        if self._background:
            self._background.do(self._hash, piece)
        else:
            self._hash(piece)
        if self._write:
            self._write(piece)

    def _hash(self, piece: bytes | memoryview) -> None:
        self._sha1.update(piece)
        self._crc32 = crc32(piece, self._crc32)

    def sha1(self) -> str:
        """The digest, if the output is as the directory says."""
        member = self._member
        if self.size_bytes != member.size_bytes:
            raise MemberUnreadable(
                Problem.WRONG_SIZE,
                f"{self.size_bytes} bytes come out, its directory says {member.size_bytes}",
            )
        if self._background:
            self._background.wait()
        if self._crc32 != member.crc32:
            raise MemberUnreadable(
                Problem.WRONG_CRC,
                f"its CRC-32 is {self._crc32:08x}, its directory says {member.crc32:08x}",
            )
        return self._sha1.hexdigest()


def digest_of_member(
    member: Member,
    compressed: Iterable[memoryview],
    decoding: Decoding,
    write: Write | None = None,
) -> MemberDigest:
    """Decode and hash *compressed*, keeping one piece at a time.

    Errors of iterating *compressed* and of *write* pass through unchanged, but for
    `MemberUnreadable`, which is the member's result.

    *compressed* has views of at most `FEED_BYTES`, and is not iterated beyond the end of its
    stream, or of what is readable. *write* takes each piece as well.

    Raises:
        ArchiveStopped: A limit was reached, or time is up.
    """
    decoding.counter.require_time()
    output = _Output(member, decoding, write)
    try:
        limits, engine = decoding.counter.limits, decoding.engine
        output.take(decoded(member, output.counted(compressed), limits, engine))
        return MemberDigest(member, output.size_bytes, output.sha1())
    except MemberUnreadable as error:
        return unreadable(member, error, output.size_bytes)


def unreadable(member: Member, error: MemberUnreadable, size_bytes: int = 0) -> MemberDigest:
    """The result of a member that cannot be read, of which *size_bytes* came out."""
    return MemberDigest(member, size_bytes, reason=f"{error.problem}: {error}")

"""A member's compressed bytes → its SHA-1, or the reason why it has none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import tee
from operator import attrgetter
from typing import Final, NamedTuple

from bucketsum.archives.background import BackgroundCalls
from bucketsum.archives.bounded_decoder import Pieces
from bucketsum.archives.data_descriptor import Described, StreamEnd
from bucketsum.archives.decoders import ENGINES, crc32, decoded
from bucketsum.archives.extra_fields import FULL32
from bucketsum.archives.limits import LimitCounter
from bucketsum.archives.zip_model import (
    Member,
    MemberDigest,
    MemberUnreadable,
    Problem,
    StreamEndsEarly,
)
from bucketsum.table.archive_settings import Engine, Limits

Write = Callable[[bytes | memoryview], object]

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

    def remarked(self, *remarks: str) -> HashedMember:
        """Add *remarks* to those of the digest."""
        digest = self.digest._replace(remarks=self.digest.remarks + remarks)
        return HashedMember(digest, self.content)


class _Decoded:
    """A member that is being decoded: its output so far."""

    def __init__(self, member: Member, decoding: Decoding, write: Write | None = None) -> None:
        self._member = member
        self._decoding = decoding
        self._write = write
        large = member.size_bytes >= BACKGROUND_FROM_BYTES
        self._background = decoding.background if large else None
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._crc32 = 0
        self._size_bytes = 0
        self.consumed_bytes = 0
        self._unused_bytes: int | None = None
        self._is_garbled = False
        self._problem: MemberUnreadable | None = None
        self._remarks: tuple[str, ...] = ()

    def pieces(self, compressed: Iterable[memoryview], limits: Limits) -> Iterator[None]:
        """Decode and hash *compressed*, a piece at each step; a problem of the member ends it."""
        engine = self._decoding.engine
        try:
            pieces = decoded(self._member, self._counted(compressed), limits, engine)
            for piece in self._ending(pieces):
                left_bytes = self._member.size_bytes - self._size_bytes
                if self._member.size_bytes and 0 <= left_bytes < len(piece):
                    self._take(piece[:left_bytes])
                    if self._is(self._member):
                        self._remarks = ("wrong-size",)
                        if self._member.method == 0:  # here what comes out is what goes in
                            self._unused_bytes = len(piece) - left_bytes
                        return
                    self._take(piece[left_bytes:])
                else:
                    self._take(piece)
                yield
        except StreamEndsEarly:
            self._problem = MemberUnreadable(Problem.DAMAGED, "its compressed bytes end early")
        except MemberUnreadable as error:  # whose traceback would keep the decoder
            self._problem = MemberUnreadable(error.problem, str(error))
            self._is_garbled = error.problem is Problem.DAMAGED

    def _ending(self, pieces: Pieces) -> Pieces:
        self._unused_bytes = yield from pieces
        return None

    @property
    def end(self) -> StreamEnd:
        """Where the stream ended."""
        if self._background:
            self._background.wait()
        compressed_bytes = self.consumed_bytes - (self._unused_bytes or 0)
        values = self._crc32, compressed_bytes, self._size_bytes
        return StreamEnd(values, self._unused_bytes, self._is_garbled)

    def _counted(self, compressed: Iterable[memoryview]) -> Iterator[memoryview]:
        left_bytes = self._member.compressed_bytes
        views = iter(compressed)
        while left_bytes and (data := next(views, None)) is not None:
            view = data[:left_bytes]
            left_bytes -= len(view)
            self.consumed_bytes += len(view)
            del data
            yield view

    def _take(self, piece: bytes | memoryview) -> None:
        self._size_bytes += len(piece)
        declared_bytes = self._member.size_bytes
        counter = self._decoding.counter
        if self._size_bytes > declared_bytes:
            if counter.is_dense(self._size_bytes, self.consumed_bytes):
                reason = f"far more comes out than the {declared_bytes} bytes its headers say"
                raise MemberUnreadable(Problem.WRONG_SIZE, reason)
            self._write = None
        counter.add(len(piece), self._size_bytes, self.consumed_bytes)
        if self._background:
            self._background.do(self._hash, piece)
        else:
            self._hash(piece)
        if self._write:
            self._write(piece)

    def _hash(self, piece: bytes | memoryview) -> None:
        self._sha1.update(piece)
        self._crc32 = crc32(piece, self._crc32)

    def digest(self, member: Member) -> MemberDigest:
        """The result, when all pieces have been decoded, compared with what *member* says."""
        if self._background:
            self._background.wait()
        differs = (self._size_bytes - member.size_bytes) & FULL32  # modulo 4 GiB without Zip64
        if self._problem and (differs or not self._size_bytes or not self._is(member)):
            return unreadable(member, self._problem)
        if self._is(member):
            remarks = ("damaged",) * bool(self._problem) + ("wrong-size",) * bool(differs)
            remarks = remarks or self._remarks
            return MemberDigest(member, self._size_bytes, self._sha1.hexdigest(), remarks=remarks)
        if differs:
            reason = f"{self._size_bytes} bytes come out, its headers say {member.size_bytes}"
            return unreadable(member, MemberUnreadable(Problem.WRONG_SIZE, reason))
        reason = f"its CRC-32 is {self._crc32:08x}, its headers say {member.crc32:08x}"
        return unreadable(member, MemberUnreadable(Problem.WRONG_CRC, reason))

    def _is(self, member: Member) -> bool:
        """Whether what came out has the CRC-32 of *member*."""
        if self._background:
            self._background.wait()
        return self._crc32 == member.crc32


def digest_of_member(
    claims: Sequence[Member],
    compressed: Iterable[memoryview] | Described,
    decoding: Decoding,
    write: Write | None = None,
) -> MemberDigest:
    """Decode and hash *compressed* once, by each of *claims*: the first with its CRC-32, not empty.

    Errors of iterating *compressed* and of *write* pass through unchanged, but for
    `MemberUnreadable`, which is the member's result.

    *compressed* has views of at most `FEED_BYTES`, and is not iterated beyond the end of its
    stream, or of what is readable; if it is `Described`, it has what a claim lacks. *write* takes
    each piece of the first claim, up to its size.

    Raises:
        ArchiveStopped: A limit was reached, or time is up.
    """
    decoding.counter.require_time()
    first, *others = claims
    readings = [_Decoded(first, decoding, write), *(_Decoded(other, decoding) for other in others)]
    limits = decoding.counter.limits
    if others:
        shared = replace(limits, window_bytes=limits.window_bytes // len(claims))
        _read_together(readings, tee(compressed, len(readings)), shared)
    else:
        for _ in readings[0].pieces(compressed, limits):
            continue
    if isinstance(compressed, Described):
        described = compressed.described(readings[0].end)
        if described is None:
            error = MemberUnreadable(Problem.DAMAGED, "it has no data descriptor")
            return unreadable(compressed.member, error)
        claims = (described,)
    digests = [reading.digest(claim) for reading, claim in zip(readings, claims, strict=True)]
    return max(digests, key=lambda digest: bool(digest.sha1) * (1 + bool(digest.size_bytes)))


def _read_together(
    readings: list[_Decoded], feeds: Iterable[Iterable[memoryview]], limits: Limits
) -> None:
    """Let the one that is furthest behind go on, so that little is kept for it."""
    steps = {
        reading: reading.pieces(feed, limits) for reading, feed in zip(readings, feeds, strict=True)
    }
    del feeds
    while steps:
        reading = min(steps, key=attrgetter("consumed_bytes"))
        if next(steps[reading], reading) is reading:
            del steps[reading]


def hashed_content(
    claims: Sequence[Member],
    compressed: Iterable[memoryview] | Described,
    decoding: Decoding,
    keeps: Callable[[Member], bool],
) -> HashedMember:
    """Like `digest_of_member`; *compressed* is read to its end, and the content kept if *keeps*."""
    content = BytesIO() if keeps(claims[0]) else None
    digest = digest_of_member(claims, compressed, decoding, content.write if content else None)
    for _ in compressed:  # what the decoder left
        continue
    if content is None or not keeps(digest.member):
        return HashedMember(digest)
    view = content.getbuffer()
    is_it = len(view) == digest.size_bytes and crc32(view, 0) == digest.member.crc32
    return HashedMember(digest, view if is_it else None)


def unreadable(member: Member, error: MemberUnreadable) -> MemberDigest:
    """The result of a member that cannot be read."""
    return MemberDigest(member, member.size_bytes, reason=f"{error.problem}: {error}")

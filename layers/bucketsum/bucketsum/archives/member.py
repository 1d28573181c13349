"""One member's compressed bytes → its SHA-1, or the reason why not. Limits are counted here."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Final

from bucketsum.archives.decoders import DAMAGES, ENGINES, crc32, decoder_for
from bucketsum.archives.model import (
    RATIO_FREE_BYTES,
    ArchiveStatus,
    ArchiveStopped,
    Engine,
    Limits,
    Member,
    MemberDigest,
    MemberUnreadable,
    Problem,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bucketsum.archives.background import BackgroundCalls
    from bucketsum.archives.decoders import Decoder

    Write = Callable[[bytes | memoryview], object]

FEED_BYTES: Final = 64 * 1024
"""Most compressed bytes that a decoder is given at a time."""

ASIDE_FROM_BYTES: Final = 512 * 1024
"""From this size on a member is hashed by the other core, where there is one.

Handing a piece over takes some 10 µs, and waiting for the last one of a member as long as hashing
it does: below, that is what it saves.
"""


class LimitCounter:
    """What has come out of an archive so far, those within it included; threads may share it."""

    def __init__(self, limits: Limits, in_time: Callable[[], bool] = lambda: True) -> None:
        self.limits: Final = limits
        self._in_time = in_time
        self._lock = threading.Lock()
        self.members = 0
        self.total_bytes = 0
        self._stopped = False

    def stop(self) -> None:
        """Let every thread that still counts end its work."""
        self._stopped = True

    def add_members(self, count: int) -> None:
        """Count members of an archive whose directory was read."""
        with self._lock:
            self.members += count
        if self.members > self.limits.members:
            raise ArchiveStopped(
                ArchiveStatus.TOO_MANY_MEMBERS,
                f"{self.members} members with those of archives in it; {self.limits.members} are "
                "allowed: raise ArchiveMaxMembers",
            )

    def add(self, piece_bytes: int, member_bytes: int, consumed_bytes: int) -> None:
        """Count a piece that came out of a member.

        Args:
            piece_bytes: Its size.
            member_bytes: What came out of the member so far, with the piece.
            consumed_bytes: What the decoder was given for it so far.

        Raises:
            ArchiveStopped: More came out than is allowed, or time is up.
        """
        with self._lock:
            self.total_bytes += piece_bytes
        limits = self.limits
        if self.total_bytes > limits.total_bytes:
            raise ArchiveStopped(
                ArchiveStatus.TOO_LARGE,
                f"its members come to more than {limits.total_bytes} bytes: raise "
                "ArchiveMaxTotalBytes",
            )
        if member_bytes > RATIO_FREE_BYTES and member_bytes > limits.ratio * consumed_bytes:
            raise ArchiveStopped(
                ArchiveStatus.TOO_DENSE,
                f"{consumed_bytes} bytes came to {member_bytes}, more than {limits.ratio} times as "
                "many: raise ArchiveMaxRatio",
            )
        if self._stopped or not self._in_time():
            raise ArchiveStopped(
                ArchiveStatus.OUT_OF_TIME,
                f"{self.total_bytes} bytes of its members were read when the invocation's time "
                "ended; raise MemorySize, or hash this archive elsewhere",
            )


class _Running:
    """What one member has come to so far."""

    def __init__(
        self,
        member: Member,
        tally: LimitCounter,
        write: Write | None,
        aside: BackgroundCalls | None,
    ) -> None:
        self._member = member
        self._tally = tally
        self._write = write
        self._aside = aside if member.size_bytes >= ASIDE_FROM_BYTES else None
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._crc32 = 0
        self._consumed_bytes = 0
        self.size_bytes = 0

    def decode(self, decoder: Decoder, data: memoryview) -> None:
        """Hash what *data* adds."""
        self._consumed_bytes += len(data)
        pieces = decoder.decode(data)
        while (piece := _next_of(pieces)) is not None:
            self._take(piece)

    def _take(self, piece: bytes | memoryview) -> None:
        self.size_bytes += len(piece)
        if self.size_bytes > self._member.size_bytes:
            raise MemberUnreadable(
                Problem.WRONG_SIZE,
                f"more comes out than the {self._member.size_bytes} bytes its directory says",
            )
        self._tally.add(len(piece), self.size_bytes, self._consumed_bytes)
        if self._aside:
            self._aside.do(self._hash, piece)
        else:
            self._hash(piece)
        if self._write:
            self._write(piece)

    def _hash(self, piece: bytes | memoryview) -> None:
        self._sha1.update(piece)
        self._crc32 = crc32(piece, self._crc32)

    def sha1(self, decoder: Decoder) -> str:
        """The digest, if all is as the directory says."""
        member = self._member
        if not decoder.finished:
            raise MemberUnreadable(
                Problem.DAMAGED, f"its compressed bytes end early, after {self.size_bytes} bytes"
            )
        if self.size_bytes != member.size_bytes:
            raise MemberUnreadable(
                Problem.WRONG_SIZE,
                f"{self.size_bytes} bytes come out, its directory says {member.size_bytes}",
            )
        if self._aside:
            self._aside.wait()
        if self._crc32 != member.crc32:
            raise MemberUnreadable(
                Problem.WRONG_CRC,
                f"its CRC-32 is {self._crc32:08x}, its directory says {member.crc32:08x}",
            )
        return self._sha1.hexdigest()


def _next_of(pieces: Iterator[bytes | memoryview]) -> bytes | memoryview | None:
    try:
        return next(pieces, None)
    except DAMAGES as error:
        raise MemberUnreadable(Problem.DAMAGED, f"it cannot be decoded ({error})") from None


def digest_of_member(
    member: Member,
    compressed: Iterable[memoryview],
    tally: LimitCounter,
    write: Write | None = None,
    engine: Engine = ENGINES[0],
    aside: BackgroundCalls | None = None,
) -> MemberDigest:
    """Decode and hash *compressed*, holding one piece at a time.

    What iterating *compressed* and *write* raise passes through unchanged.

    Args:
        member: What the directory says of it.
        compressed: Its compressed bytes, in views of at most `FEED_BYTES`. Not iterated to its
            end where the member turns out to be unreadable.
        tally: Counts what comes out.
        write: Takes each piece as well.
        engine: What inflates.
        aside: Hashes members of `ASIDE_FROM_BYTES` and more.

    Raises:
        ArchiveStopped: A limit was reached.
    """
    running = _Running(member, tally, write, aside)
    try:
        decoder = decoder_for(member, tally.limits, engine)
        for data in compressed:
            running.decode(decoder, data)
        return MemberDigest(member, running.size_bytes, running.sha1(decoder))
    except MemberUnreadable as error:
        return MemberDigest(
            member, running.size_bytes, problem=error.problem, reason=f"{error.problem}: {error}"
        )

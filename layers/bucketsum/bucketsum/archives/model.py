"""What a zip archive is to bucketsum: members, limits, and a name for all that can go wrong."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bucketsum.errors import BucketsumError

RATIO_FREE_BYTES: Final = 64 * 1024 * 1024
"""Output up to which no ratio is too high: a few MB of zeros in a small file are no attack."""

MADE_ON_UNIX: Final = frozenset({3, 19})
"""What `Member.system` is on Unix and macOS."""

_ENCRYPTED_BITS: Final = 0x2041  # bit 0: encrypted, 6: strongly, 13: with its header masked


class Mode(StrEnum):
    """How an archive is read."""

    STREAM = "stream"
    """Members are decompressed while the object arrives."""
    TMP = "tmp"
    """The object and its members are written to /tmp, and several threads read them."""
    DISCARD = "discard"
    """The object is written to /tmp, its members are not; only sweeps and benchmarks do this."""


class Engine(StrEnum):
    """The decompression library for Deflate."""

    ISAL = "isal"
    ZLIB = "zlib"


class ArchiveStatus(StrEnum):
    """What became of an archive as such; its own SHA-1 is recorded in each case."""

    READ = "read"
    """Every member has been read, or has a reason of its own why not."""
    NOT_AN_ARCHIVE = "not-an-archive"
    TRUNCATED = "truncated"
    """It begins as an archive and has no end."""
    BROKEN = "broken"
    """Its directory does not hold together."""
    SPLIT = "split"
    """It is one of several volumes."""
    OVERLAPPING = "overlapping"
    """Members share bytes, as in a bomb."""
    CONTRADICTORY = "contradictory"
    """A local header says something else than the directory."""
    TOO_MANY_MEMBERS = "too-many-members"
    TOO_LARGE = "too-large"
    """Its members came to more bytes than are allowed."""
    TOO_DENSE = "too-dense"
    """It came to more bytes per byte than are allowed, as a bomb does."""
    NO_ROOM = "no-room"
    """It does not fit into /tmp."""
    OUT_OF_TIME = "out-of-time"
    """The invocation would have ended before its members did."""


class Problem(StrEnum):
    """Why a member has no SHA-1."""

    ENCRYPTED = "encrypted"
    METHOD = "unknown-method"
    MEMORY = "needs-memory"
    DAMAGED = "damaged"
    WRONG_SIZE = "wrong-size"
    WRONG_CRC = "wrong-crc"


class ArchiveStopped(BucketsumError):
    """No more can be told of the archive's members; the text says why."""

    def __init__(self, status: ArchiveStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class MemberUnreadable(BucketsumError):
    """This member cannot be read; the others can."""

    def __init__(self, problem: Problem, reason: str) -> None:
        super().__init__(reason)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an archive may ask for. All are counted on what really comes out.

    Attributes:
        members: How many members, those of nested archives included.
        total_bytes: How many bytes all members together.
        ratio: How many bytes may come out of one, beyond the first `RATIO_FREE_BYTES`.
        window_bytes: Largest dictionary that LZMA and Zstandard may look back on.
        depth: How deep archives in archives are opened; 0 is not at all.
        nested_bytes: Largest archive in an archive that is opened; it is held in memory.
    """

    members: int = 50_000
    total_bytes: int = 100_000_000_000
    ratio: int = 200
    window_bytes: int = 64 * 1024 * 1024
    depth: int = 0
    nested_bytes: int = 16 * 1024 * 1024

    @property
    def directory_bytes(self) -> int:
        """How large a directory may be: it is held in memory."""
        return 65_536 + 512 * self.members


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an archive's directory.

    Attributes:
        name: Its name as the directory has it, decoded; never to be used as a path.
        raw_name: The name's bytes.
        header_offset: Where its local header is in the file.
        method: Number of its compression method.
        flags: Its general purpose bits.
        crc32: CRC-32 that its content should have.
        compressed_bytes: Bytes that it takes in the archive.
        size_bytes: Bytes that it should come to.
        system: What made it; says what *attributes* mean.
        attributes: External attributes.
    """

    name: str
    raw_name: bytes
    header_offset: int
    method: int
    flags: int
    crc32: int
    compressed_bytes: int
    size_bytes: int
    system: int = 0
    attributes: int = 0

    @property
    def is_directory(self) -> bool:
        """Whether it stands for a folder."""
        return self.name.endswith("/")

    @property
    def is_symlink(self) -> bool:
        """Whether its content is where a symbolic link points to."""
        return self.system in MADE_ON_UNIX and stat.S_ISLNK(self.attributes >> 16)

    @property
    def is_encrypted(self) -> bool:
        """Whether a password is needed."""
        return bool(self.flags & _ENCRYPTED_BITS)


@dataclass(frozen=True, slots=True)
class MemberDigest:
    """What came of reading one member.

    Attributes:
        member: The member.
        size_bytes: Bytes that came out.
        sha1: 40 lower-case hexadecimal characters; None where unreadable.
        problem: Why unreadable.
        reason: The same with its circumstances.
    """

    member: Member
    size_bytes: int
    sha1: str | None = None
    problem: Problem | None = None
    reason: str | None = None

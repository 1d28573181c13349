"""Zip model: members, limits and failure statuses."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bucketsum.errors import BucketsumError

MADE_ON_UNIX: Final = frozenset({3, 19})
"""`Member.system` of archives made on Unix and macOS."""

_ENCRYPTED_BITS: Final = 0x2041  # bit 0: encrypted, 6: strongly, 13: with its header masked


class Mode(StrEnum):
    """Ways to read an archive."""

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
    """Outcome of reading an archive's members; its own SHA-1 is recorded in each case."""

    READ = "read"
    """Every member was read, or has a reason of its own why not."""
    NOT_AN_ARCHIVE = "not-an-archive"
    TRUNCATED = "truncated"
    """It begins as an archive and has no end."""
    BROKEN = "broken"
    """Its central directory is inconsistent."""
    ENCRYPTED = "encrypted"
    """Its central directory is encrypted."""
    SPLIT = "split"
    """It is one of several volumes."""
    OVERLAPPING = "overlapping"
    """Members share bytes, as in a zip bomb."""
    CONTRADICTORY = "contradictory"
    """A local header differs from the central directory."""
    TOO_MANY_MEMBERS = "too-many-members"
    TOO_LARGE = "too-large"
    """More output than is allowed."""
    TOO_DENSE = "too-dense"
    """More output for each byte of a member than is allowed, as in a zip bomb."""
    NO_ROOM = "no-room"
    """It does not fit into /tmp."""
    OUT_OF_TIME = "out-of-time"
    """The invocation would have ended before its members did."""


class Problem(StrEnum):
    """Reason why a member has no SHA-1."""

    ENCRYPTED = "encrypted"
    METHOD = "unknown-method"
    MEMORY = "needs-memory"
    DAMAGED = "damaged"
    WRONG_SIZE = "wrong-size"
    WRONG_CRC = "wrong-crc"
    WRONG_NAME = "wrong-name"


class ArchiveStopped(BucketsumError):
    """The archive's other members cannot be read; the text says why."""

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
    """Limits on an archive, counted on real output.

    Attributes:
        members: Number of members, those of nested archives included.
        total_bytes: Bytes of all members together.
        ratio: Bytes of output for each byte of a member, beyond `limits.RATIO_FREE_BYTES`.
        window_bytes: Largest dictionary of LZMA and Zstandard.
        depth: Levels of nested archives that are opened; 0 opens none.
        nested_bytes: Largest nested archive that is opened; one of each level is kept in memory.
    """

    members: int = 50_000
    total_bytes: int = 100_000_000_000
    ratio: int = 200
    window_bytes: int = 64 * 1024 * 1024
    depth: int = 0
    nested_bytes: int = 16 * 1024 * 1024

    @property
    def directory_bytes(self) -> int:
        """Largest central directory, which is kept in memory."""
        return 65_536 + 512 * self.members


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of an archive's central directory.

    Attributes:
        raw_name: Bytes of its name in the central directory.
        encoded_name: Bytes that *encoding* decodes to its name: *raw_name* or its Unicode path.
        encoding: Encoding of the name; every sequence of bytes in *encoded_name* is valid in it.
        header_offset: Offset of its local header in the file.
        method: Number of its compression method.
        flags: General purpose bits.
        crc32: CRC-32 of its content, as the directory has it.
        compressed_bytes: Its bytes in the archive.
        size_bytes: Bytes of its content, as the directory has them.
        system: System that made it; decides the meaning of *attributes*.
        attributes: External attributes.
    """

    raw_name: bytes
    encoded_name: bytes
    encoding: str
    header_offset: int
    method: int
    flags: int
    crc32: int
    compressed_bytes: int
    size_bytes: int
    system: int = 0
    attributes: int = 0

    @property
    def name(self) -> str:
        """Its name, never to be used as a path.

        Decoded at each use: a name takes up to four times its bytes as text, and an archive may
        have megabytes of names.
        """
        return self.encoded_name.decode(self.encoding)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, which has no content at all."""
        return self.ends_as_folder and not (self.size_bytes or self.compressed_bytes)

    @property
    def ends_as_folder(self) -> bool:
        """Whether its raw name is a folder's; it may have content all the same."""
        return self.raw_name.endswith(b"/")

    @property
    def is_symlink(self) -> bool:
        """Whether its content is the target of a symbolic link."""
        return self.system in MADE_ON_UNIX and stat.S_ISLNK(self.attributes >> 16)

    @property
    def is_encrypted(self) -> bool:
        """Whether a password is needed."""
        return bool(self.flags & _ENCRYPTED_BITS)


@dataclass(frozen=True, slots=True)
class MemberDigest:
    """Result of reading a member.

    Attributes:
        member: The member.
        size_bytes: Bytes that came out.
        sha1: 40 lower-case hexadecimal characters; None if unreadable.
        problem: Why unreadable.
        reason: The same with its circumstances.
    """

    member: Member
    size_bytes: int
    sha1: str | None = None
    problem: Problem | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MemberResult:
    """A member's digest, its path and remarks.

    Attributes:
        path: Its name, after the paths of the archives that it is nested in; unique in the
            outermost archive, and at most `names.PATH_BYTES_MAX` bytes.
        digest: Result of reading it.
        remarks: Unusual properties, as ``climbs`` or ``duplicate``.
        inside: Its members as a whole, if it was opened as a nested archive.
    """

    path: str
    digest: MemberDigest
    remarks: tuple[str, ...] = ()
    inside: ArchiveSummary | None = None


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """An archive's members as a whole.

    Attributes:
        status: Outcome of reading them.
        mode: How they were read.
        members: Number that was read, those of nested archives not included.
        unreadable: Number of these without a digest.
        directories: Number of folders that they are in.
        member_bytes: Bytes of their content.
        ratio: *member_bytes* to the archive's size.
        reason: Why *status* is not ``read``.
        remarks: Unusual properties of the archive, as ``prefixed``.
    """

    status: ArchiveStatus
    mode: Mode
    members: int
    unreadable: int
    directories: int
    member_bytes: int
    ratio: float
    reason: str | None = None
    remarks: tuple[str, ...] = ()

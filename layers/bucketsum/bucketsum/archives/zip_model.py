"""Zip model: members, limits and failure statuses."""

from __future__ import annotations

import stat
from enum import StrEnum
from typing import Final, NamedTuple

from bucketsum.errors import BucketsumError
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

MADE_ON_UNIX: Final = frozenset({3, 19})
"""`Member.system` of archives made on Unix and macOS."""

_FOLDER_BIT: Final = 0x10  # of the attributes, as MS-DOS has them
_ENCRYPTED_BIT: Final = 1
DECODING_BITS: Final = _ENCRYPTED_BIT | 2  # bit 1: LZMA has an end mark
"""`Member.flags` that decide how it is decoded."""


class Problem(StrEnum):
    """Reason why a member has no SHA-1."""

    ENCRYPTED = "encrypted"
    METHOD = "unknown-method"
    MEMORY = "needs-memory"
    DAMAGED = "damaged"
    WRONG_SIZE = "wrong-size"
    WRONG_CRC = "wrong-crc"
    OVERLAPPING = "overlapping"


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


class StreamEndsEarly(BucketsumError):
    """The compressed bytes of a member end before its stream does."""


class Member(NamedTuple):
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
    def place(self) -> int:
        """A number that no other member of its archive has: several can be at one offset."""
        return hash((self.header_offset, self.raw_name))

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, which has no content at all."""
        return self.ends_as_folder and not (self.size_bytes or self.compressed_bytes)

    @property
    def ends_as_folder(self) -> bool:
        """Whether its raw name is a folder's; it may have content all the same."""
        return self.raw_name.endswith(b"/")

    @property
    def is_made_on_unix(self) -> bool:
        """Whether it was made on Unix or macOS."""
        return self.system in MADE_ON_UNIX

    @property
    def is_symlink(self) -> bool:
        """Whether its content is the target of a symbolic link."""
        return self.is_made_on_unix and stat.S_ISLNK(self.attributes >> 16)

    @property
    def is_marked_as_folder(self) -> bool:
        """Whether its attributes are those of a folder, so that other programs extract nothing."""
        return bool(self.attributes & _FOLDER_BIT) or stat.S_ISDIR(self.attributes >> 16)

    @property
    def is_encrypted(self) -> bool:
        """Whether a password is needed."""
        return bool(self.flags & _ENCRYPTED_BIT)


class MemberDigest(NamedTuple):
    """Result of reading a member.

    Attributes:
        size_bytes: Bytes that came out; if it is unreadable, what its headers say.
        sha1: 40 lower-case hexadecimal characters; None if unreadable.
        reason: The problem with its circumstances.
        remarks: What is unusual about its headers, as ``contradictory``.
    """

    member: Member
    size_bytes: int
    sha1: str | None = None
    reason: str | None = None
    remarks: tuple[str, ...] = ()


class MemberResult(NamedTuple):
    """A member's digest, its path and remarks.

    Attributes:
        path: Its name, after the paths of the archives that it is nested in; unique in the
            outermost archive, and at most `names.PATH_BYTES_MAX` bytes.
        remarks: Unusual properties, as ``climbs`` or ``duplicate``.
        inside: Its members as a whole, if it was opened as a nested archive.
    """

    path: str
    digest: MemberDigest
    remarks: tuple[str, ...] = ()
    inside: ArchiveRecord | None = None

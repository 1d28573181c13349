"""Settings for reading archives; a cold start imports no other archive code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

STORAGE_MIB_MAX: Final = 10_240
"""[A] The largest /tmp that a function can have."""


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


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on an archive, counted on real output.

    Attributes:
        members: Number of members, those of nested archives included.
        total_bytes: Bytes of all members together.
        ratio: Bytes of output for each byte of a member, beyond `limits.RATIO_FREE_BYTES`.
        window_bytes: Of a member's dictionary for LZMA or Zstandard, or all its claims' together.
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
class ArchiveSettings:
    """Settings for reading archives.

    Attributes:
        mode: How an archive is read; when deployed, ``stream`` or ``tmp``.
        limits: Limits against zip bombs, and of memory.
        suffixes: Suffixes of archives, in lower case; of nested archives too, to `Limits.depth`.
        threads: Threads that read members, except in ``stream``; see `settings.archive_threads`.
        second_core: Whether a second core hashes the archive, and in ``stream`` its large members;
            see `settings.has_second_core`.
    """

    mode: Mode
    limits: Limits = field(default_factory=Limits)
    suffixes: tuple[str, ...] = ()
    threads: int = 2
    second_core: bool = False

    def takes(self, key: str) -> bool:
        """Whether an object of this key is read as an archive."""
        return key.lower().endswith(self.suffixes)

"""Schedules, kinds of work, items and results of the workload fetch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from bucketsum.errors import BucketsumError

if TYPE_CHECKING:
    from pathlib import Path

    from bucketsum.s3.range_reads import Read


class ArchiveWork(StrEnum):
    """Processing of an archive."""

    UNZIP_SHA1 = "unzip-sha1"
    """SHA-1 of the archive and of its members."""
    COUNT_LINES = "count-lines"
    """Newlines in its members, as ``unzip -p ARCHIVE | wc -l``."""


class Schedule(StrEnum):
    """Order of fetching and processing."""

    ALL_FIRST = "all-first"
    """Every archive is on the disk before the first one is processed."""
    QUEUE_1 = "queue:1"
    """Archives are fetched while others are processed; at most one is ahead of the workers."""
    QUEUE_2 = "queue:2"
    QUEUE_4 = "queue:4"
    QUEUE_8 = "queue:8"
    STREAM = "stream"
    """Archives are processed while they arrive, without a disk."""
    SHELL = "shell"
    """Every archive first; then GNU parallel and unzip process them."""

    @property
    def depth(self) -> int | None:
        """Maximum number of archives on the disk, or on their way to it, ahead of the workers."""
        _, _, depth = self.partition(":")
        return int(depth) if depth else None


@dataclass(frozen=True, slots=True)
class ArchiveItem:
    """An archive, and the known results of processing it.

    Attributes:
        name: Its file name beside the manifest.
        members_sha1: SHA-1 over its members' SHA-1s; see `generated_archive.members_sha1`.
        lines: Newlines in its members.
    """

    name: str
    size_bytes: int
    sha1: str
    members_sha1: str
    lines: int


@dataclass(frozen=True, slots=True)
class Bytes:
    """An archive's bytes, from the disk or from S3.

    Attributes:
        chunks: All of them in order; can be iterated once.
        read: Reads a range, for the central directory.
    """

    chunks: Iterable[bytes]
    read: Read


class ItemFailed(BucketsumError):
    """An archive could not be processed, or came to a wrong result."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(cause)
        self.error = error
        """Name of the sample's error."""


FOLDER_PROCESSORS: Final[
    dict[Schedule, Callable[[Path, ArchiveWork, int, Sequence[ArchiveItem]], float]]
] = {}
"""Schedule → its processor of the items in a folder, with a number of jobs; the command adds GNU
parallel. It checks the results, and returns the seconds that it took."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Times of one run, in seconds, and its highest disk use.

    The two sides wait for each other, so busy and idle time together are the wall time.

    Attributes:
        wall: From the first request to the last result.
        fetching: Time in which archives were fetched; None if fetching and processing are one.
        working: Time in which each worker was busy, on average.
        peak_bytes: Most bytes of archives on the disk at once.
    """

    wall: float
    fetching: float | None
    working: float
    peak_bytes: int

    def values(self) -> Mapping[str, int]:
        """The times in milliseconds as attributes of a sample."""
        values: dict[str, Any] = {
            "work_ms": _ms(self.working),
            "work_idle_ms": _ms(self.wall - self.working),
            "disk_peak_bytes": self.peak_bytes,
        }
        if self.fetching is not None:
            values["fetch_ms"] = _ms(self.fetching)
            values["fetch_idle_ms"] = _ms(self.wall - self.fetching)
        return values


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))

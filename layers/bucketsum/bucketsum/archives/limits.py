"""Limits on an archive's members, counted on real output: how zip bombs are stopped.

Other modules stop them too: `central_directory` refuses directories that are too large; `placed`
lets no member share bytes with another; `bounded_decoder` bounds each piece;
`lzma_decoder` and `zstandard_decoder` refuse large dictionaries; `extract.check_room` refuses an
archive that does not fit on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from bucketsum.archives.zip_model import ArchiveStopped, Member
from bucketsum.table.archive_settings import Limits
from bucketsum.table.archive_status import ArchiveStatus

_ENTRY_BYTES: Final = 46  # of a member besides its name
_UNTIMED_BYTES: Final = 64 * 1024
"""Bytes of headers between two questions for the time, which take about as long as a header."""

RATIO_FREE_BYTES: Final = 64 * 1024 * 1024
"""Output up to which no ratio is too high: a few MB of zeros in a small file are not an attack."""


class LimitCounter:
    """Output of an archive so far, nested archives included; threads may share it."""

    def __init__(self, limits: Limits, in_time: Callable[[], bool] = lambda: True) -> None:
        self.limits: Final = limits
        self._in_time = in_time
        self._lock = threading.Lock()
        self._members = 0
        self._total_bytes = 0
        self._stopped = False
        self._untimed_bytes = 0

    @property
    def limits_left(self) -> Limits:
        """The limits, with the number of members that are still allowed."""
        return replace(self.limits, members=self.members_left)

    @property
    def members_left(self) -> int:
        """Number of members that are still allowed."""
        return self.limits.members - self._members

    def stop(self) -> None:
        """Let every thread that still counts end its work."""
        self._stopped = True

    def add_members(self, count: int) -> None:
        """Count members that were found.

        Raises:
            ArchiveStopped: They are more than are allowed.
        """
        if count > self.members_left:
            raise too_many_members(f"more than {self.limits.members} members", self.limits)
        with self._lock:
            self._members += count

    def is_dense(self, member_bytes: int, consumed_bytes: int) -> bool:
        """Whether *member_bytes* are too many to come out of *consumed_bytes*."""
        return member_bytes > max(RATIO_FREE_BYTES, self.limits.ratio * consumed_bytes)

    def add(self, piece_bytes: int, member_bytes: int, consumed_bytes: int) -> None:
        """Count a piece that came out of a member.

        *member_bytes* is its output so far, with the piece, *consumed_bytes* its decoder's input.

        Raises:
            ArchiveStopped: More came out than is allowed, or time is up.
        """
        with self._lock:
            self._total_bytes += piece_bytes
        limits = self.limits
        if self._total_bytes > limits.total_bytes:
            raise ArchiveStopped(
                ArchiveStatus.TOO_LARGE,
                f"its members come to more than {limits.total_bytes} bytes: raise "
                "ArchiveMaxTotalBytes",
            )
        if self.is_dense(member_bytes, consumed_bytes):
            raise ArchiveStopped(
                ArchiveStatus.TOO_DENSE,
                f"{consumed_bytes} bytes came to {member_bytes}, more than {limits.ratio} times as "
                "many: raise ArchiveMaxRatio",
            )
        self.require_time()

    def examine(self, header_bytes: int) -> None:
        """Count bytes of headers that are examined next; raise `ArchiveStopped` if time is up."""
        self._untimed_bytes += header_bytes
        if self._untimed_bytes >= _UNTIMED_BYTES:
            self._untimed_bytes = 0
            self.require_time()

    def examined(self, members: Iterable[Member]) -> Iterator[Member]:
        """Yield *members* as long as there is time."""
        for member in members:
            self.examine(_ENTRY_BYTES + len(member.raw_name))
            yield member

    def require_time(self) -> None:
        """Raise `ArchiveStopped` if time is up."""
        if self._stopped or not self._in_time():
            raise ArchiveStopped(
                ArchiveStatus.OUT_OF_TIME,
                f"{self._total_bytes} bytes of its members were read when the invocation's time "
                "ended; raise MemorySize, or hash this archive elsewhere",
            )


def too_many_members(got: str, limits: Limits) -> ArchiveStopped:
    """The error of an archive with more members, or a larger directory, than are allowed."""
    return ArchiveStopped(
        ArchiveStatus.TOO_MANY_MEMBERS,
        f"{got}; {limits.members} are allowed here, in {limits.directory_bytes} bytes: raise "
        "ArchiveMaxMembers",
    )

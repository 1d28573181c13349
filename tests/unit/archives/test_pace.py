"""An archive's own SHA-1 comes before its members', where there is no time for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.zip_maker import archive_of, named

from bucketsum.archives.model import ArchiveStatus, Limits, Mode
from bucketsum.archives.pace import Pace
from bucketsum.archives.reader import ArchiveReader, ArchiveSummary, MemberResult
from bucketsum.digest import RunningDigest

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMBERS = 400
ARCHIVE = archive_of(*(named(f"{number:04}", bytes(5_000)) for number in range(MEMBERS)))
CHUNK_BYTES = len(ARCHIVE) // MEMBERS


class Slow:
    """A clock that goes on by 1 s for each chunk, and by *member_seconds* for each member."""

    def __init__(self, time_out: float, member_seconds: float) -> None:
        self.remaining = time_out
        self._member_seconds = dict.fromkeys(range(MEMBERS), member_seconds)
        self._members = 0
        self._pace = Pace(len(ARCHIVE), lambda: self.remaining)

    def slow_down_at(self, member: int, member_seconds: float) -> None:
        """Let *member* and those behind it take longer."""
        self._member_seconds |= dict.fromkeys(range(member, MEMBERS), member_seconds)

    def read(self) -> ArchiveSummary:
        """Read the archive as the hash path does."""
        return ArchiveReader(Mode.STREAM, Limits()).read(
            lambda offset, length: ARCHIVE[offset : offset + length],
            len(ARCHIVE),
            iter(self._pace.counting(self._chunks())),
            RunningDigest(),
            self._take,
            self._pace.allows_members,
        )

    def _chunks(self) -> Iterator[bytes]:
        for at in range(0, len(ARCHIVE), CHUNK_BYTES):
            self.remaining -= 1
            yield ARCHIVE[at : at + CHUNK_BYTES]

    def _take(self, _: MemberResult) -> None:
        self.remaining -= self._member_seconds[self._members]
        self._members += 1


@pytest.mark.parametrize("member_seconds", [0, 1, 3])
def test_members_are_read_while_there_is_time_for_all(member_seconds: float) -> None:
    """Where the invocation would not end before them, none is given up."""
    contents = Slow(480 + MEMBERS * member_seconds, member_seconds).read()
    assert (contents.status, contents.members) == (ArchiveStatus.READ, MEMBERS)


@pytest.mark.parametrize("time_out", [520, 600, 900])
@pytest.mark.parametrize("member_seconds", [0.9, 1.5, 9, 90])
def test_members_end_early_enough_for_the_archive(time_out: float, member_seconds: float) -> None:
    """However long they take, the archive is read to its end if that alone fits in."""
    slow = Slow(time_out, member_seconds)
    contents = slow.read()
    assert (contents.status is ArchiveStatus.READ) == (contents.members == MEMBERS)
    assert slow.remaining > 0


def test_slow_beginning_gives_up_nothing() -> None:
    """A cold connection's first chunk does not stand for those to come."""
    slow = Slow(900, 0.1)
    slow.remaining -= 20
    assert slow.read().status is ArchiveStatus.READ


def test_members_that_get_slow_late_are_given_up_late() -> None:
    """The pace is judged all the time, and what was read before stays."""
    slow = Slow(900, 0)
    slow.slow_down_at(MEMBERS // 2, 20)
    contents = slow.read()
    assert contents.status is ArchiveStatus.OUT_OF_TIME
    assert MEMBERS // 2 < contents.members < MEMBERS
    assert slow.remaining >= 60

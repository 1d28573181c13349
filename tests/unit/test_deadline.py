"""The end of an invocation: what is begun, what is read on, and which members are given up."""

from collections.abc import Iterator

import pytest
from tests.support.archive_rules import opened
from tests.support.zip_maker import archive_of, named

from bucketsum.digest import RunningDigest
from bucketsum.errors import OutOfTime
from bucketsum.invocation.deadline import MEMBERS_STOP_SECONDS, STOP_BEFORE_END_SECONDS, Deadline
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.row_parts import ArchiveRecord

MEMBERS = 400
ARCHIVE = archive_of(*(named(f"{number:04}", bytes(5_000)) for number in range(MEMBERS)))
CHUNK_BYTES = len(ARCHIVE) // MEMBERS


def read_with(*seconds: float) -> list[bytes]:
    """The chunks that are read where the clock shows *seconds*, one after the other."""
    clock = iter(seconds)
    chunks = iter([b"one ", b"two ", b"three"])
    return list(Deadline(lambda: next(clock)).guard(chunks, 13))


def test_reading_ends_before_the_invocation_does() -> None:
    """The error says how far it came, and what to change."""
    last = STOP_BEFORE_END_SECONDS
    assert len(read_with(9, 9, 9, last, last, last, last, last)) == 3
    with pytest.raises(OutOfTime, match=r"4 of 13 bytes were read .* raise MemorySize"):
        read_with(9, 9, 9, last, last - 0.001)


def test_time_is_kept_for_a_chunk_as_slow_as_the_slowest() -> None:
    """Reading stops when twice the slowest chunk so far would outlast the rest."""
    with pytest.raises(OutOfTime, match="4 of 13 bytes"):
        read_with(60, 60, 40, 40, 39)  # the first took 20 s


def test_time_between_chunks_is_not_the_sources() -> None:
    """Members that are slow to decode do not stop the archive itself from being read."""
    assert len(read_with(60, 60, 59, 40, 39, 20, 19, 10)) == 3


def test_what_needs_time_is_refused_without() -> None:
    """With the reason, and only below what is needed."""
    Deadline(lambda: 5.0).require(5, "late")
    with pytest.raises(OutOfTime, match="late"):
        Deadline(lambda: 4.999).require(5, "late")


@pytest.mark.parametrize(("memory_mb", "fits"), [(128, 1_024), (375, 3_000), (10_240, 3_000)])
def test_slow_reading_is_judged_by_memory(memory_mb: int, fits: int) -> None:
    """At 20.48 MB/s with 128 MB and at most 60 MB/s, here in 50 s."""
    deadline = Deadline(lambda: STOP_BEFORE_END_SECONDS + 50)
    assert deadline.allows_slow_reading(fits * 10**6, memory_mb)
    assert not deadline.allows_slow_reading((fits + 1) * 10**6, memory_mb)


@pytest.mark.parametrize(("invocation_seconds", "kept"), [(900, 60), (180, 60), (60, 20), (6, 3)])
def test_last_beginning_leaves_a_third_of_a_short_invocation(
    invocation_seconds: float, kept: float
) -> None:
    """A function with a short time-out still begins objects in most of its time."""
    deadline = Deadline(lambda: invocation_seconds, invocation_seconds)

    assert deadline.last_begin_seconds == kept


def test_the_longest_short_object_follows_from_memory_and_time() -> None:
    """The rest of this invocation does not count: another one has all its time."""
    deadline = Deadline(lambda: 5.0)
    assert not deadline.invocation_is_too_short(36_741_120_000, 256)
    assert deadline.invocation_is_too_short(36_741_120_001, 256)
    assert not deadline.invocation_is_too_short(53_820_000_000, 10_240)
    assert Deadline(lambda: 5.0, 4.0).invocation_is_too_short(20_480_001, 128)


class Slow:
    """A clock that goes on by 1 s for each chunk, and by *member_seconds* for each member."""

    def __init__(self, time_out: float, member_seconds: float) -> None:
        self.remaining = time_out
        self._member_seconds = dict.fromkeys(range(MEMBERS), member_seconds)
        self._chunks = Deadline(lambda: self.remaining).guard(self._read(), len(ARCHIVE))

    def slow_down_at(self, member: int, member_seconds: float) -> None:
        """Let *member* and those after it take longer."""
        self._member_seconds |= dict.fromkeys(range(member, MEMBERS), member_seconds)

    def read(self) -> ArchiveRecord:
        """Read the archive as the hash path does."""
        archive = opened(ARCHIVE)
        members = archive.members(self._chunks, RunningDigest(), self._chunks.allow_members)
        for number, _ in enumerate(members):
            self.remaining -= self._member_seconds[number]
        return archive.summary

    def _read(self) -> Iterator[bytes]:
        for at in range(0, len(ARCHIVE), CHUNK_BYTES):
            self.remaining -= 1
            yield ARCHIVE[at : at + CHUNK_BYTES]


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
    assert slow.remaining >= MEMBERS_STOP_SECONDS

"""background: calls on a second core are in order, complete, and limited in memory."""

import hashlib
import threading
import zlib

import pytest
from tests.support.archive_rules import read_stream
from tests.support.zip_maker import Part, archive_of

from bucketsum.archives import member
from bucketsum.archives.archive_reader import ArchiveReader
from bucketsum.archives.background import WAITING_BYTES, BackgroundCalls
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode


def test_calls_are_made_in_order() -> None:
    """Calls of several functions keep their order; leaving waits for all of them."""
    calls: list[object] = []
    with BackgroundCalls() as background:
        for number in range(200):
            background.do(calls.append, b"%d" % number)
    assert calls == [b"%d" % number for number in range(200)]


def test_waiting_is_until_all_are_made() -> None:
    """After `wait`, every earlier call has had its effect."""
    sha1 = hashlib.sha1(usedforsecurity=False)
    with BackgroundCalls() as background:
        for _ in range(10):
            background.do(sha1.update, bytes(100_000))
        background.wait()
        assert sha1.hexdigest() == hashlib.sha1(bytes(1_000_000)).hexdigest()


@pytest.mark.parametrize("size", [WAITING_BYTES // 4, 3 * WAITING_BYTES])
def test_what_waits_is_limited(size: int) -> None:
    """A faster producer waits: the queue holds `WAITING_BYTES`, or a single larger piece."""
    begin, entered = threading.Event(), threading.Event()
    handed = 0

    def slow(_: object) -> None:
        entered.set()
        begin.wait()

    def hand_over() -> None:
        nonlocal handed
        for _ in range(10):
            background.do(slow, bytes(size))
            handed += size

    with BackgroundCalls() as background:
        hand = threading.Thread(target=hand_over)
        hand.start()
        entered.wait()
        hand.join(0.1)  # as long as it takes to show that it does not end
        held = handed
        begin.set()
        hand.join()
    assert held <= max(WAITING_BYTES, size)
    assert handed == 10 * size


def fail(_: object) -> None:
    """Fails as hashing may fail without memory."""
    raise MemoryError


def test_failure_comes_back_to_who_goes_on() -> None:
    """It is raised where the next piece is handed over or waited for, and at the end."""
    later: list[object] = []
    background = BackgroundCalls()
    with pytest.raises(MemoryError):
        _fail_in(background, later)
    assert later == ["waited", "handed over"]


def _fail_in(background: BackgroundCalls, later: list[object]) -> None:
    with background:
        background.do(fail, b"x")
        try:
            background.wait()
        except MemoryError:
            later.append("waited")
        try:
            background.do(later.append, b"y")
        except MemoryError:
            later.append("handed over")


def test_error_of_the_first_core_ends_it() -> None:
    """It is passed on unchanged, and no thread is left behind."""
    threads = set(threading.enumerate())
    with pytest.raises(KeyError):
        _raise_in(BackgroundCalls())
    assert set(threading.enumerate()) <= threads


def _raise_in(background: BackgroundCalls) -> None:
    with background:
        background.do(len, b"x")
        raise KeyError


def test_threads_that_extract_hash_what_they_decode(monkeypatch: pytest.MonkeyPatch) -> None:
    """One other core would hash the members of all threads in a row."""
    hashed_by: set[str] = set()

    def recorded(piece: bytes, value: int) -> int:
        hashed_by.add(threading.current_thread().name)
        return zlib.crc32(piece, value)

    monkeypatch.setattr(member, "crc32", recorded)
    settings = ArchiveSettings(Mode.TMP, Limits(), threads=2, second_core=True)
    content = bytes(member.BACKGROUND_FROM_BYTES)
    read_stream(archive_of(Part(content=content)), len(content), ArchiveReader(settings))
    assert hashed_by
    assert "background" not in hashed_by

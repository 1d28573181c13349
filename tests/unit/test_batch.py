"""A batch of messages, with a hasher that is a function."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.events import TEST_EVENT, message_of
from tests.support.settings import SETTINGS

from bucketsum.errors import MalformedMessage, Released, SourceUnavailable
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.batch import LARGE_BYTES, BatchHasher, MessageResult
from bucketsum.hashing.job import Job, State, Task
from bucketsum.hashing.result import HashResult
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS, Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.settings import Settings
from bucketsum.table.archive_settings import ArchiveSettings, Limits, Mode
from bucketsum.table.outcome import Outcome

PLENTY: Final = 900.0
WAIT_SECONDS: Final = 60.0


def arrival(key: str, size_bytes: int = 1) -> ObjectCreated:
    """An object that landed."""
    moment = "2026-11-01T00:00:00.000Z"
    return ObjectCreated(
        "inbox", key, None, "an-etag", size_bytes, sequencer="00AB", event_time=moment
    )


def delivery(*arrivals: ObjectCreated, receives: int = 1, name: str = "") -> ReceivedMessage:
    """A message of them."""
    return ReceivedMessage(
        message_of(*arrivals), "handle", receives, name or arrivals[0].key, "arrivals"
    )


@dataclass(slots=True)
class Hasher:
    """Hashes nothing, and notes what it was asked.

    Attributes:
        fails: Keys that cannot be hashed.
        meanwhile: Called with the key while an object is being hashed.
        asked: Keys, in the order of their beginnings.
        at_once: How many were hashed at the same time, at most.
        threads: Where they were.
    """

    fails: frozenset[str] = frozenset()
    meanwhile: Callable[[str], object] = str
    hashed_keys: list[str] = field(default_factory=list)
    at_once: int = 0
    threads: set[int] = field(default_factory=set)
    _now: list[str] = field(default_factory=list)

    def begin(
        self, tasks: Sequence[Task | HashResult], _deadline: Deadline
    ) -> Sequence[Task | HashResult]:
        """See `SmallObjectHasher.begin`: no object is small."""
        return tasks

    def hash(self, task: State, deadline: Deadline) -> HashResult:
        """See `ObjectHasher.hash`."""
        assert isinstance(task, Job)
        arrival = task.created
        deadline.require(1, "the batch passes its own deadline on")
        self.hashed_keys.append(arrival.key)
        self.threads.add(threading.get_ident())
        self._now.append(arrival.key)
        self.at_once = max(self.at_once, len(self._now))
        try:
            self.meanwhile(arrival.key)
            if arrival.key in self.fails:
                raise SourceUnavailable(arrival.key)
            return HashResult(arrival, Outcome.HASHED)
        finally:
            self._now.remove(arrival.key)


def handled(
    hasher: Hasher,
    *deliveries: ReceivedMessage,
    settings: Settings = SETTINGS,
    left: Callable[[], float] = lambda: PLENTY,
) -> dict[str, MessageResult]:
    """Handle a batch; message ids → works, in the order they came."""
    works = list(BatchHasher(hasher, settings).handle(deliveries, Deadline(left)))
    by_id = {work.received.message_id: work for work in works}
    assert len(by_id) == len(works)
    return by_id


def released(works: dict[str, MessageResult]) -> dict[str, int]:
    """Those left to other environments, and for how long."""
    return {
        name: work.failure.seconds
        for name, work in works.items()
        if isinstance(work.failure, Released)
    }


def test_small_objects_are_hashed_side_by_side() -> None:
    """Each waits for the others, so one after the other would never end."""
    together = threading.Barrier(4, timeout=WAIT_SECONDS)
    hasher = Hasher(meanwhile=lambda _: together.wait())
    works = handled(hasher, *(delivery(arrival(key, SPLIT_FROM_BYTES - 1)) for key in "abcd"))
    assert list(works) == ["a", "b", "c", "d"]
    assert all(work.failure is None for work in works.values())


def test_objects_of_one_message_are_too() -> None:
    """It is the objects of a batch that count, not its messages."""
    together = threading.Barrier(3, timeout=WAIT_SECONDS)
    hasher = Hasher(meanwhile=lambda _: together.wait())
    works = handled(hasher, delivery(*map(arrival, "abc")))
    assert [report.event.key for report in works["a"].reports] == ["a", "b", "c"]


def test_there_are_no_more_threads_than_set() -> None:
    """Memory is bounded by their number."""
    hasher = Hasher(meanwhile=lambda _: time.sleep(0.002))
    handled(hasher, *(delivery(arrival(f"{n}")) for n in range(30)))
    assert hasher.at_once <= SETTINGS.threads
    assert len(hasher.hashed_keys) == 30


@pytest.mark.parametrize(
    ("arrivals", "threads"),
    [("a", 4), ("abc", 1)],
    ids=["one object", "room for one thread"],
)
def test_without_company_no_thread_is_made(arrivals: str, threads: int) -> None:
    """The usual batch of one message costs no more than it did."""
    hasher = Hasher()
    handled(
        hasher, *map(delivery, map(arrival, arrivals)), settings=replace(SETTINGS, threads=threads)
    )
    assert hasher.threads == {threading.get_ident()}


def test_nothing_runs_on_when_a_batch_is_done() -> None:
    """Lambda freezes a function after its answer, and what still ran would end in the next."""
    before = set(threading.enumerate())
    handled(Hasher(), *map(delivery, map(arrival, "abcd")))
    assert set(threading.enumerate()) <= before


def test_others_wait_for_their_turn() -> None:
    """Large objects are read one at a time, after all small ones."""
    hasher = Hasher(meanwhile=lambda _: time.sleep(0.002))
    big = [delivery(arrival(key, SPLIT_FROM_BYTES)) for key in "AB"]
    works = handled(hasher, big[0], delivery(arrival("c")), big[1])
    assert hasher.hashed_keys == ["c", "A", "B"]
    assert hasher.at_once == 1
    assert list(works) == ["c", "A", "B"]


def test_an_archive_waits_for_its_turn() -> None:
    """Its members take more time and memory than its size tells."""
    limits = Limits(1, 1, 1, 1, 0, 1)
    archives = ArchiveSettings(Mode.STREAM, limits, (".zip",), threads=1, second_core=False)
    hasher = Hasher()
    settings = replace(SETTINGS, archives=archives)
    handled(hasher, *(delivery(arrival(k)) for k in ("a.zip", "b", "c")), settings=settings)
    assert hasher.hashed_keys[-1] == "a.zip"


def test_a_failure_is_its_messages_alone() -> None:
    """The others have their reports; several of one message are a group."""
    hasher = Hasher(fails=frozenset("bde"))
    works = handled(hasher, *map(delivery, map(arrival, "abc")), delivery(*map(arrival, "def")))
    assert {name: bool(work.failure) for name, work in works.items()} == {
        "a": False, "b": True, "c": False, "d": True,
    }  # fmt: skip
    assert isinstance(works["b"].failure, SourceUnavailable)
    group = works["d"].failure
    assert isinstance(group, ExceptionGroup)
    assert [str(error) for error in group.exceptions] == ["d", "e"]
    assert [report.event.key for report in works["d"].reports] == ["f"]


def test_a_malformed_message_keeps_no_other_from_its_turn() -> None:
    """It fails by itself, and names no objects."""
    hasher = Hasher()
    malformed = ReceivedMessage("hello", "handle", 1, "malformed", "arrivals")
    works = handled(hasher, malformed, delivery(arrival("a")))
    assert isinstance(works["malformed"].failure, MalformedMessage)
    assert hasher.hashed_keys == ["a"]


def test_a_message_that_names_nothing_is_done() -> None:
    """S3's test event."""
    works = handled(
        Hasher(), ReceivedMessage(json.dumps(TEST_EVENT), "handle", 1, "test", "arrivals")
    )
    assert (works["test"].failure, works["test"].reports) == (None, [])


def test_large_messages_that_come_together_part() -> None:
    """All but one are left to other environments at once, a second apart; small ones are not."""
    hasher = Hasher()
    large = [delivery(arrival(key, LARGE_BYTES)) for key in "ABC"]
    works = handled(hasher, *large, delivery(arrival("d")), delivery(arrival("E", LARGE_BYTES - 1)))
    assert released(works) == {"B": 0, "C": 1}
    assert list(works)[:2] == ["B", "C"]  # before anything is read
    assert hasher.hashed_keys == ["d", "A", "E"]


def test_a_message_of_many_objects_is_as_large_as_they_are() -> None:
    """Together they take as long as one of their size."""
    halves = [arrival(key, LARGE_BYTES // 2) for key in "AB"]
    works = handled(Hasher(), delivery(arrival("c", LARGE_BYTES)), delivery(*halves))
    assert released(works) == {"A": 0}


def test_large_messages_part_but_once() -> None:
    """Every time costs a receive; from the second on they are read in turn, the oldest first."""
    hasher = Hasher()
    works = handled(
        hasher,
        delivery(arrival("new", LARGE_BYTES)),
        delivery(arrival("second", LARGE_BYTES), receives=2),
        delivery(arrival("third", LARGE_BYTES), receives=3),
    )
    assert released(works) == {"new": 0}
    assert hasher.hashed_keys == ["third", "second"]


def test_what_does_not_fit_into_the_time_is_left() -> None:
    """The estimate at 512 MB is 60 MB/s, so 6 GB take 100 s; the first is always tried."""
    left = [STOP_BEFORE_END_SECONDS + 99.0]
    hasher = Hasher()
    works = handled(
        hasher,
        delivery(arrival("huge", 90 * 10**9), receives=4),
        delivery(arrival("too large", 6 * 10**9), receives=3),
        delivery(arrival("fits", 5 * 10**9), receives=2),
        delivery(arrival("neither", 6 * 10**9), receives=2),
        left=lambda: left[0],
    )
    assert hasher.hashed_keys == ["huge", "fits"]
    assert released(works) == {"too large": 0, "neither": 1}


def test_a_silent_dynamodb_does_not_outlast_the_invocation() -> None:
    """Each large object then takes 19 s to fail; the others are left in time."""
    left = [PLENTY]

    def wait_for_dynamodb(_key: str) -> None:
        left[0] -= 19

    hasher = Hasher(meanwhile=wait_for_dynamodb)
    large = [delivery(arrival(f"{number}", SPLIT_FROM_BYTES)) for number in range(100)]
    works = handled(hasher, *large, left=lambda: left[0])
    assert left[0] > 0
    assert len(released(works)) == 100 - len(hasher.hashed_keys)


def test_on_its_last_receive_a_message_is_tried() -> None:
    """Left once more, the queue would move it to the dead letters without a reason."""
    hasher = Hasher()
    huge = [delivery(arrival(key, 90 * 10**9), receives=5) for key in "AB"]
    assert released(handled(hasher, *huge)) == {}
    assert hasher.hashed_keys == ["A", "B"]


@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from([0, SPLIT_FROM_BYTES - 1, SPLIT_FROM_BYTES, LARGE_BYTES]),
                min_size=1,
                max_size=3,
            ),
            st.integers(1, 5),
        ),
        max_size=10,
    ),
    st.integers(1, 8),
    st.sets(st.integers(0, 30)),
)
def test_every_message_is_accounted_for(
    messages: list[tuple[list[int], int]], threads: int, failing: set[int]
) -> None:
    """Each comes back once; each of its objects was hashed, or failed, or all are left."""
    numbers = iter(range(100))
    batch = [
        ReceivedMessage(
            message_of(*(arrival(f"{next(numbers)}", size) for size in sizes)),
            "",
            receives,
            f"m{n}",
            "arrivals",
        )
        for n, (sizes, receives) in enumerate(messages)
    ]
    hasher = Hasher(fails=frozenset(map(str, failing)))
    works = handled(hasher, *batch, settings=replace(SETTINGS, threads=threads))
    assert set(works) == {message.message_id for message in batch}
    assert len(hasher.hashed_keys) == len(set(hasher.hashed_keys))
    for work in works.values():
        keys = {task.created.key for task in work.tasks if isinstance(task, Job)}
        if isinstance(work.failure, Released):
            assert keys.isdisjoint(hasher.hashed_keys)
        else:
            assert keys <= set(hasher.hashed_keys)
            assert {result.event.key for result in work.reports} == keys - hasher.fails
            assert bool(work.failure) == bool(keys & hasher.fails)


def test_long_objects_hold_up_no_batch() -> None:
    """They are only handed over: none is deferred, and none waits for another."""
    hasher = Hasher()
    long = [delivery(arrival(f"long-{number}", 10**15)) for number in range(3)]
    settings = replace(SETTINGS, long_objects_queue_url="long-objects")
    results = handled(hasher, *long, delivery(arrival("small")), settings=settings)
    assert [result.failure for result in results.values()] == [None] * 4
    assert sorted(hasher.hashed_keys) == ["long-0", "long-1", "long-2", "small"]

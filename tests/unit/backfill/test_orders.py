"""Listed objects, events and deletions of one key, in any order: never a wrong row."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.dynamodb_fake import FakeDynamoDb
from tests.support.settings import SETTINGS

from bucketsum.backfill.listed_batch import ListedBatchHasher
from bucketsum.backfill.messages import (
    TOTAL_BYTES_MAX,
    ListedObjects,
    bodies_of,
    body_of,
    listed_objects_in,
)
from bucketsum.errors import (
    DamagedRow,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    RowContended,
    TableBusy,
)
from bucketsum.events.object_events import DeletedBy, ObjectCreated, ObjectDeleted
from bucketsum.hashing.batch import MessageResult
from bucketsum.hashing.deletions import record_deletion
from bucketsum.hashing.job import Job
from bucketsum.hashing.notified import NotifiedHasher
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.result import HashResult
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.s3.source import OpenObject
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import RowKey, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

BUCKET: Final = "inbox"
DEADLINE: Final = Deadline(lambda: 900.0)
NO_BACKFILLS: Final[Any] = None
"""Nothing is counted."""

Step = Callable[[], None]


@dataclass
class Bucket:
    """One key of a bucket without versions; each change is a second after the one before.

    Attributes:
        key: The key.
        content: What it holds; None if there is no object.
        changes: Number of changes so far.
        events: An event of each change.
        listings: The object as it was listed, whenever it was.
        meanwhile: What happens while an object is read, once.
        reads: Entity tags that were read.
        digests: Entity tag → SHA-1 of every content so far.
        is_denied: Whether nobody may read it.
    """

    key: str
    content: bytes | None = None
    changes: int = 0
    events: list[ObjectCreated | ObjectDeleted] = field(default_factory=list)
    listings: list[ObjectCreated] = field(default_factory=list)
    meanwhile: list[Step] = field(default_factory=list)
    reads: list[str | None] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    is_denied: bool = False

    def put(self) -> None:
        """Create or overwrite the object."""
        self.changes += 1
        self.content = f"content {self.changes}".encode()
        created = self._object(f"{self.changes:04X}")
        self.digests[str(created.etag)] = hashlib.sha1(self.content).hexdigest()
        self.events.append(created)

    def delete(self) -> None:
        """Delete the object, if there is one."""
        if self.content is None:
            return
        self.changes += 1
        self.content = None
        self.events.append(
            ObjectDeleted(BUCKET, self.key, None, False, DeletedBy.REQUEST,
                          f"{self.changes:04X}", self._now())
        )  # fmt: skip

    def list(self, last_modified: str | None = None) -> None:
        """Remember the object as a listing shows it."""
        if self.content is not None:
            listed = self._object(NO_SEQUENCER)
            self.listings.append(replace(listed, event_time=last_modified or listed.event_time))

    def _now(self) -> str:
        return f"2026-11-21T10:{self.changes // 60:02d}:{self.changes % 60:02d}Z"

    def _object(self, sequencer: str) -> ObjectCreated:
        assert self.content is not None
        etag = hashlib.md5(self.content).hexdigest()
        return ObjectCreated(
            BUCKET, self.key, None, etag, len(self.content), sequencer, self._now()
        )

    def another(self) -> Bucket:
        """See `Source.another`."""
        return self

    def open(self, created: ObjectCreated, offset: int = 0, doubt: object = None) -> OpenObject:  # noqa: ARG002
        """See `Source.open`: the object, if it is still the one that is asked for."""
        if self.is_denied:
            raise ObjectUnreadable("access denied")
        if self.content is None:
            raise ObjectGone("deleted")
        if hashlib.md5(self.content).hexdigest() != created.etag:
            raise ObjectSuperseded("overwritten")
        self.reads.append(created.etag)
        return OpenObject(len(self.content), created.etag, self._chunks(self.content))

    def _chunks(self, content: bytes) -> Generator[bytes]:
        yield content
        while self.meanwhile:  # before the row is written
            self.meanwhile.pop()()


@dataclass(frozen=True)
class World:
    """The hasher with its table, and one key."""

    bucket: Bucket
    items: dict[tuple[str, str], dict[str, Any]]
    table: DigestsTable
    hasher: ObjectHasher

    def handle_event(self, number: int) -> None:
        """Handle an event that S3 has sent, perhaps again."""
        if self.bucket.events:
            event = self.bucket.events[number % len(self.bucket.events)]
            if isinstance(event, ObjectCreated):
                self.hasher.hash(Job(event), DEADLINE)
            else:
                record_deletion(event, self.table, DEADLINE)

    def handle_listed(self, number: int) -> Outcome | None:
        """Handle an object that was listed, perhaps again."""
        if not self.bucket.listings:
            return None
        [result] = self.listed_result(number).results
        if isinstance(result, RowContended):  # a row came meanwhile: the message returns
            return None
        assert isinstance(result, HashResult)
        return result.outcome

    def listed_result(self, number: int) -> MessageResult:
        """Handle the message of an object that was listed."""
        listed = self.bucket.listings[number % len(self.bucket.listings)]
        [body] = bodies_of("20261121T100000-a", [listed])
        batch = listed_batch(self.hasher, self.table)
        [result] = batch.handle([ReceivedMessage(body, "handle", 1, "id", "backfill")], DEADLINE)
        return result

    def take(self, step: tuple[str, int]) -> None:
        """One step of a schedule."""
        kind, number = step
        if kind == "meanwhile":
            self.bucket.meanwhile.append(self.bucket.put if number % 2 else self.bucket.delete)
        elif kind == "event meanwhile":
            self.bucket.meanwhile.append(lambda: self.handle_event(number))
        else:
            steps: dict[str, Callable[[], object]] = {
                "put": self.bucket.put,
                "delete": self.bucket.delete,
                "list": self.bucket.list,
                "event": lambda: self.handle_event(number),
                "listed": lambda: self.handle_listed(number),
            }
            steps[kind]()

    def row(self) -> Any:  # noqa: ANN401 - a row or None
        """The key's row."""
        return self.table.row_at(RowKey(BUCKET, self.bucket.key, "null"))


def listed_batch(hasher: ObjectHasher, table: DigestsTable) -> ListedBatchHasher:
    """The hasher of listed objects, without libcurl."""
    return ListedBatchHasher(NotifiedHasher(hasher, table, None), table, NO_BACKFILLS, SETTINGS)


def new_world() -> World:
    """A key without an object, and an empty table."""
    bucket = Bucket("key")
    dynamodb: Any = FakeDynamoDb()
    table = DigestsTable(dynamodb, "digests")
    return World(bucket, dynamodb.items, table, ObjectHasher(bucket, table, SETTINGS))


KINDS: Final = (
    "put", "put", "delete", "list", "event", "event", "listed", "listed", "meanwhile",
    "event meanwhile",
)  # fmt: skip
STEPS: Final = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 5)), max_size=14)


@settings(max_examples=60)
@given(steps=STEPS)
def test_a_row_is_never_wrong(steps: list[tuple[str, int]]) -> None:
    """A digest is of the entity tag beside it, and no event is overtaken by a listing.

    At the end, when everything is delivered and listed once more, the row is that of the object
    that exists; of a deleted object it says that it is deleted.
    """
    world = new_world()
    highest = comparable_sequencer("")
    for step in steps:
        world.take(step)
        row = world.row()
        if row:
            assert row.sha1 == world.bucket.digests[row.etag]
            assert row.sequencer >= highest
            highest = row.sequencer
    world.bucket.meanwhile.clear()
    for number in range(len(world.bucket.events)):
        world.handle_event(number)
    world.bucket.list()
    for number in range(len(world.bucket.listings)):
        world.handle_listed(number)
    row = world.row()
    if world.bucket.content is None:
        assert row is None or row.deletion is not None
    else:
        assert row.etag == hashlib.md5(world.bucket.content).hexdigest()
        assert row.deletion is None


@settings(max_examples=60)
@given(puts=st.integers(1, 4), heard=st.sets(st.integers(0, 3)), listed=st.integers(0, 3))
def test_lost_events_are_made_good(puts: int, heard: set[int], listed: int) -> None:
    """Whichever events were lost, a listing brings the row up to date, and is then skipped."""
    world = new_world()
    for number in range(puts):
        world.bucket.put()
        world.bucket.list()
        if number in heard:
            world.handle_event(number)
        if number == listed:
            world.handle_listed(number)
    world.handle_listed(puts - 1)
    reads = len(world.bucket.reads)

    assert world.handle_listed(puts - 1) is Outcome.UNCHANGED
    for number in range(puts):  # older listings, and all events, come late
        world.handle_listed(number)
        if number != puts - 1:
            world.handle_event(number)

    assert world.bucket.content is not None
    row = world.row()
    assert (row.status, row.etag) == (
        Status.HASHED,
        hashlib.md5(world.bucket.content).hexdigest(),
    )
    assert len(world.bucket.reads) == reads


BEGUN: Final = "2026-11-21T09:00:00Z"
"""Before all changes: S3 lists the time at which an upload in parts was begun."""


@pytest.mark.parametrize("last_modified", [None, BEGUN])
@pytest.mark.parametrize("hashed_before", [True, False])
def test_an_object_that_exists_again_is_hashed(
    *, hashed_before: bool, last_modified: str | None
) -> None:
    """It was put after a deletion, and its event was lost: the deletion is not its own."""
    world = new_world()
    world.bucket.put()
    if hashed_before:
        world.handle_event(0)
    world.bucket.delete()
    world.handle_event(1)
    world.bucket.put()
    world.bucket.list(last_modified)

    assert world.handle_listed(0) is Outcome.HASHED
    assert world.handle_listed(0) is Outcome.UNCHANGED
    for late in (0, 1):
        world.handle_event(late)
    row = world.row()
    assert (row.etag, row.deletion) == (world.bucket.listings[0].etag, None)

    world.bucket.delete()
    world.handle_event(3)
    assert world.row().deletion
    assert world.handle_listed(0) is Outcome.GONE


def test_an_upload_that_was_begun_before_the_row_is_hashed() -> None:
    """Its event was lost, and S3 lists it as older than the row's object, which it overwrote."""
    world = new_world()
    world.bucket.put()
    world.bucket.list()
    world.handle_event(0)
    world.bucket.put()
    world.bucket.list(BEGUN)
    assert world.handle_listed(1) is Outcome.HASHED
    assert world.handle_listed(0) is Outcome.SUPERSEDED
    assert world.row().etag == world.bucket.listings[1].etag


@pytest.mark.parametrize("deleted", [True, False])
def test_an_unreadable_object_replaces_nothing_that_may_be_newer(*, deleted: bool) -> None:
    """S3 does not say whether it still has it: the message fails, and comes again."""
    world = new_world()
    world.bucket.put()
    world.handle_event(0)
    if deleted:
        world.bucket.delete()
        world.handle_event(1)
    row = world.row()
    world.bucket.put()
    world.bucket.list(BEGUN)
    world.bucket.is_denied = True
    assert isinstance(world.listed_result(0).failure, ObjectUnreadable)
    assert world.row() == row


def test_an_unreadable_object_keeps_the_time_of_its_event() -> None:
    """S3 lists when its upload was begun: an older object that was listed is not newer than it."""
    world = new_world()
    world.bucket.put()
    world.bucket.list()
    world.bucket.put()
    world.bucket.list(BEGUN)
    world.bucket.is_denied = True
    world.handle_event(1)
    arrived_at = world.row().arrived_at
    assert world.handle_listed(1) is Outcome.UNREADABLE
    assert isinstance(world.listed_result(0).failure, ObjectUnreadable)
    row = world.row()
    assert (row.etag, row.arrived_at) == (world.bucket.listings[1].etag, arrived_at)


@pytest.mark.parametrize("digest", [None, {"S": "zz"}, {"N": "5"}])
def test_a_backfill_hashes_a_row_without_a_digest_again(digest: dict[str, str] | None) -> None:
    """Another program took the digest of a hashed row, or wrote another text in its place."""
    world = new_world()
    world.bucket.put()
    world.handle_event(0)
    [item] = world.items.values()
    whole = dict(item)
    del item["sha1"]
    if digest:
        item["sha1"] = digest
    world.bucket.list()
    assert world.handle_listed(0) is Outcome.HASHED
    assert world.row().sha1 == whole["sha1"]["S"]


@pytest.mark.parametrize("size_bytes", [9, 20_000_000])
def test_a_failed_message_names_only_the_objects_that_failed(size_bytes: int) -> None:
    """So a dead letter, `failures` and `redrive` are of the damaged row alone."""
    world = new_world()
    world.bucket.put()
    world.handle_event(0)
    [item] = world.items.values()
    item["status"] = {"S": "weird"}
    world.bucket.list()
    damaged = world.bucket.listings[0]
    other = replace(damaged, key="other", size_bytes=size_bytes)
    [body] = bodies_of("b", [other, damaged, replace(other, key="third")])
    batch = listed_batch(world.hasher, world.table)
    [result] = batch.handle([ReceivedMessage(body, "handle", 1, "id", "backfill")], DEADLINE)
    assert isinstance(result.failure, DamagedRow)
    assert listed_objects_in(result.received.body) == ListedObjects("b", (damaged,))
    assert [report.event.key for report in result.reports] == ["other", "third"]


def test_a_forged_message_of_many_bytes_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No enqueuer writes it: its failed objects fit one message all the same."""
    world = new_world()
    world.bucket.put()
    world.bucket.list()
    large = replace(world.bucket.listings[0], size_bytes=TOTAL_BYTES_MAX)
    objects = (large, replace(large, key="other"))

    def refuse(*_: object) -> None:
        raise TableBusy("DynamoDB is busy")

    monkeypatch.setattr(world.hasher, "hash", refuse)
    batch = listed_batch(world.hasher, world.table)
    received = ReceivedMessage(body_of("b", objects), "handle", 1, "id", "backfill")
    [result] = batch.handle([received], DEADLINE)
    assert result.failure
    assert listed_objects_in(result.received.body) == ListedObjects("b", objects)


def test_a_throttled_table_is_an_error_of_each_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that cannot be looked up send the messages back, and do not end the invocation."""

    def refuse(*_: object) -> None:
        raise TableBusy("DynamoDB read none of 1 rows")

    monkeypatch.setattr(DigestsTable, "records_at", refuse)
    world = new_world()
    batch = listed_batch(world.hasher, world.table)
    [result] = batch.handle([ReceivedMessage("{}", "handle", 1, "id", "backfill")], DEADLINE)
    assert isinstance(result.failure, TableBusy)

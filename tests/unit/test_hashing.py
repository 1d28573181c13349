"""One object and its outcome, with a source and a table in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import pytest
from tests.support.dynamodb_fake import table_with
from tests.support.settings import SETTINGS

from bucketsum.errors import (
    BucketsumError,
    NotHashed,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    OutOfTime,
    Retryable,
    RowContended,
    SourceInterrupted,
    Unordered,
)
from bucketsum.events.object_events import DeletedBy, ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.recording import Recording, finished
from bucketsum.hashing.size_limits import LOOK_UP_FROM_BYTES
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS, Deadline
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.source import OpenObject
from bucketsum.table.archive_settings import Mode
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord, Deletion, ReadSetup, Timing
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

CHUNKS: Final = (b"one " * 10_000, b"two " * 10_000, b"three" * 10_000)
CONTENT: Final = b"".join(CHUNKS)
HASHING: Final = replace(
    SETTINGS, extra_algorithms=("md5",), read_policy=ReadPolicy(1, 65_536, 512)
)
SMALL: Final = ObjectCreated(
    bucket="inbox",
    key="a",
    version_id=None,
    etag="an-etag",
    size_bytes=len(CONTENT),
    sequencer="00AB",
    event_time="2026-11-01T00:00:00.000Z",
)
BIG: Final = replace(SMALL, size_bytes=LOOK_UP_FROM_BYTES)


@dataclass(slots=True)
class FakeSource:
    """Sends its chunks, then raises its error.

    Attributes:
        refusal: Raised instead of opening.
        later_refusal: Raised instead of opening again.
        break_off: Raised behind the last chunk.
        opened: What was asked for.
        closed: How many streams were let go of.
    """

    refusal: BucketsumError | None = None
    later_refusal: BucketsumError | None = None
    break_off: BucketsumError | None = None
    opened: list[ObjectCreated] = field(default_factory=list)
    closed: int = 0

    def another(self) -> FakeSource:
        """See `Source.another`."""
        return self

    def open(self, created: ObjectCreated, offset: int = 0, doubt: object = None) -> OpenObject:  # noqa: ARG002
        """See `Source.open`."""
        self.opened.append(created)
        if refusal := self.later_refusal if self.opened[1:] else self.refusal:
            raise refusal
        return OpenObject(len(CONTENT), "its-etag", self._chunks())

    def _chunks(self) -> Generator[bytes]:
        try:
            yield from CHUNKS
            if self.break_off:
                raise self.break_off
        finally:
            self.closed += 1


def rows_in(table: DigestsTable) -> list[Row]:
    """All rows of the key of these tests."""
    return table.versions_of("inbox", "a")


def row_with(sequencer: str, status: Status = Status.HASHED) -> Row:
    """A row that is already recorded."""
    return Row(
        bucket="inbox",
        key="a",
        entry="null",
        status=status,
        size_bytes=1,
        sequencer=sequencer,
        arrived_at="2026-10-01T00:00:00.000Z",
        recorded_at="2026-10-01T00:00:01.000+00:00",
        sha1="0" * 40 if status is Status.HASHED else None,
    )


def hasher(
    source: FakeSource, table: DigestsTable, clock: Callable[[], float] | None = None
) -> ObjectHasher:
    """A hasher whose clock gains half a second each time it is asked."""
    ticks = iter(range(1000))
    return ObjectHasher(source, table, HASHING, clock or (lambda: next(ticks) / 2))


PLENTY: Final = Deadline(lambda: 900.0)


def test_a_hashed_row_tells_everything() -> None:
    """The row holds digests, size, times, speed and the settings that it was read with."""
    table = table_with()
    report = hasher(FakeSource(), table).hash(Job(replace(SMALL, version_id="v1")), PLENTY)
    [row] = rows_in(table)
    assert row.entry == "v1"
    assert (report.outcome, report.sha1) == (Outcome.HASHED, hashlib.sha1(CONTENT).hexdigest())
    assert (row.status, row.sha1, row.size_bytes) == (Status.HASHED, report.sha1, len(CONTENT))
    assert row.digests == {"md5": hashlib.md5(CONTENT).hexdigest()}
    assert (row.etag, row.arrived_at) == ("its-etag", SMALL.event_time)
    assert row.sequencer == comparable_sequencer("00AB")
    assert row.timing == Timing(500.0, len(CONTENT) / 1_000_000 / 0.5)
    assert row.setup == ReadSetup(chunk_bytes=65_536, streams=1, memory_mb=512)
    assert datetime.fromisoformat(row.recorded_at).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("refusal", "outcome"),
    [(ObjectGone("deleted"), Outcome.GONE), (ObjectSuperseded("replaced"), Outcome.SUPERSEDED)],
)
@pytest.mark.parametrize("midway", [False, True])
def test_what_is_not_there_leaves_no_row(
    refusal: NotHashed, outcome: Outcome, *, midway: bool
) -> None:
    """Gone and superseded are outcomes with a reason, at the beginning and in the middle."""
    source = FakeSource(break_off=refusal) if midway else FakeSource(refusal=refusal)
    table = table_with()
    report = hasher(source, table).hash(Job(SMALL), PLENTY)
    assert (report.outcome, report.reason, report.sha1) == (outcome, str(refusal), None)
    assert rows_in(table) == []


@pytest.mark.parametrize("midway", [False, True])
def test_what_cannot_be_read_leaves_its_reason(*, midway: bool) -> None:
    """Unreadable is an outcome with a row: no digest, the event's size, and the reason."""
    refusal = ObjectUnreadable("restore it")
    source = FakeSource(break_off=refusal) if midway else FakeSource(refusal=refusal)
    table = table_with()
    report = hasher(source, table).hash(Job(SMALL), PLENTY)
    [row] = rows_in(table)
    assert (report.outcome, report.reason) == (Outcome.UNREADABLE, "restore it")
    assert (row.status, row.reason, row.sha1) == (Status.UNREADABLE, "restore it", None)
    assert (row.size_bytes, row.etag, row.timing) == (len(CONTENT), "an-etag", None)


@pytest.mark.parametrize(
    ("held", "outcome"),
    [
        (row_with("00AB"), Outcome.UNCHANGED),
        (row_with("00AC"), Outcome.SUPERSEDED),
        (row_with("00AC", Status.UNREADABLE), Outcome.SUPERSEDED),
        (row_with("00AB", Status.UNREADABLE), Outcome.UNREADABLE),
        (row_with("00AA"), Outcome.UNREADABLE),
    ],
)
def test_an_unreadable_row_never_replaces_what_is_known(held: Row, outcome: Outcome) -> None:
    """A digest of this event, and whatever a newer one left, outlive that it is unreadable now."""
    table = table_with(held)
    source = FakeSource(refusal=ObjectUnreadable("restore it"))
    assert hasher(source, table).hash(Job(SMALL), PLENTY).outcome is outcome
    [row] = rows_in(table)
    assert (row.recorded_at == held.recorded_at) == (outcome is not Outcome.UNREADABLE)


@pytest.mark.parametrize(
    ("held", "outcome"),
    [
        (row_with("00AA"), Outcome.HASHED),
        (row_with("00AB"), Outcome.UNCHANGED),
        (row_with("00AB", Status.UNREADABLE), Outcome.HASHED),
        (row_with("00AC"), Outcome.SUPERSEDED),
        (row_with("00AB1"), Outcome.SUPERSEDED),
        (row_with("00AB000"), Outcome.UNCHANGED),
    ],
)
@pytest.mark.parametrize("arrival", [SMALL, BIG], ids=["small", "big"])
def test_the_sequencer_decides(arrival: ObjectCreated, held: Row, outcome: Outcome) -> None:
    """A look-up before reading and the condition when writing come to the same outcome."""
    table = table_with(held)
    assert hasher(FakeSource(), table).hash(Job(arrival), PLENTY).outcome is outcome
    [row] = rows_in(table)
    assert (row.recorded_at == held.recorded_at) == (outcome is not Outcome.HASHED)


@pytest.mark.parametrize(
    ("refusal", "outcome", "etag"),
    [
        (ObjectSuperseded("412"), Outcome.SUPERSEDED, "another"),
        (ObjectGone("404"), Outcome.SUPERSEDED, "another"),
        (None, Outcome.HASHED, "its-etag"),
    ],
    ids=["overwritten", "gone", "still there"],
)
@pytest.mark.parametrize(
    ("expected", "held"),
    [
        (None, row_with(NO_SEQUENCER)),
        (None, replace(row_with(comparable_sequencer("00A9")), recorded_at="2099-01-01T00:00:00Z")),
        (row_with("00A9"), row_with(comparable_sequencer("00AC"))),
        (Deletion("", DeletedBy.REQUEST, "00A9"), row_with(comparable_sequencer("00AC"))),
    ],
    ids=[
        "an event, and another was listed",
        "an event, and another was listed in place of an older",
        "listed, and its row changed",
        "listed, deleted",
    ],
)
def test_s3_decides_between_an_event_and_a_listed_object(
    expected: Row | Deletion | None,
    held: Row,
    refusal: BucketsumError | None,
    outcome: Outcome,
    etag: str,
) -> None:
    """Either may have been read before the other: it is newer if S3 still has it."""
    table, job = table_with(replace(held, etag="another")), Job(SMALL, Recording(expected))
    source = FakeSource(later_refusal=refusal)
    assert hasher(source, table).hash(job, PLENTY).outcome is outcome
    [row] = rows_in(table)
    assert (row.etag, len(source.opened)) == (etag, 2)
    assert row.sequencer >= held.sequencer


@pytest.mark.parametrize("members", [0, 1])
def test_a_listed_archive_whose_row_changed_is_looked_up_again(members: int) -> None:
    """Its members have the sequencer of their reading, and the row would have another."""
    archive = ArchiveRecord(ArchiveStatus.READ, Mode.STREAM, members, 0, 0, 0, 0.0)
    read = replace(row_with("00A9"), archive=archive, etag="its-etag")
    table, ending = table_with(replace(row_with("00AC"), etag="another")), Recording(read)
    if members:
        with pytest.raises(Unordered):
            finished(ending, table, FakeSource(), SMALL, read, None)
    else:
        finished(ending, table, FakeSource(), SMALL, read, None)
    [row] = rows_in(table)
    assert row.etag == ("another" if members else "its-etag")


@pytest.mark.parametrize("arrival", [SMALL, BIG], ids=["small", "big"])
@pytest.mark.parametrize("recorded", [CONTENT, b"other"], ids=["same", "other"])
def test_an_event_never_replaces_the_digest_of_its_version(
    arrival: ObjectCreated, recorded: bytes
) -> None:
    """A listing recorded it first: the reading for the event verifies that, or differs from it."""
    sha1 = hashlib.sha1(recorded).hexdigest()
    held = replace(
        row_with(NO_SEQUENCER), entry="v1", sha1=sha1, size_bytes=len(CONTENT), etag="its-etag"
    )
    source, table = FakeSource(), table_with(held)
    report = hasher(source, table).hash(Job(replace(arrival, version_id="v1")), PLENTY)
    [row] = rows_in(table)
    assert (row.sha1, row.recorded_at) == (sha1, held.recorded_at)
    assert row.sequencer == comparable_sequencer(SMALL.sequencer)  # orders the versions of a key
    if recorded == CONTENT:
        assert (report.outcome, len(source.opened)) == (Outcome.VERIFIED, 1)
        assert row.verified
    else:
        assert (report.outcome, len(source.opened)) == (Outcome.DIFFERS, 2)
        assert row.difference
        assert row.difference.digest == f"sha1:{report.sha1}"


def test_a_digest_of_another_release_does_not_end_an_event() -> None:
    """Nothing here computes it: all others are compared."""
    held = replace(
        row_with(NO_SEQUENCER), entry="v1", sha1=hashlib.sha1(CONTENT).hexdigest(),
        size_bytes=len(CONTENT), digests={"sha3": "ab"},
    )  # fmt: skip
    table = table_with(held)
    report = hasher(FakeSource(), table).hash(Job(replace(BIG, version_id="v1")), PLENTY)
    [row] = rows_in(table)
    assert report.outcome is Outcome.VERIFIED
    assert row.digests == {"sha3": "ab", "md5": hashlib.md5(CONTENT).hexdigest()}


def test_an_event_that_cannot_be_read_leaves_the_digest_of_its_version() -> None:
    """A row of a version has a digest for good, whatever events come."""
    held = replace(row_with(NO_SEQUENCER), entry="v1", etag="an-etag")
    table, source = table_with(held), FakeSource(refusal=ObjectUnreadable("restore it"))
    report = hasher(source, table).hash(Job(replace(SMALL, version_id="v1")), PLENTY)
    assert report.outcome is Outcome.UNCHANGED
    assert [row.sha1 for row in rows_in(table)] == [held.sha1]


@pytest.mark.parametrize(
    ("size_bytes", "reads"), [(LOOK_UP_FROM_BYTES - 1, 1), (BIG.size_bytes, 0)]
)
def test_only_large_objects_are_looked_up_first(size_bytes: int, reads: int) -> None:
    """From 16 MiB on what is recorded is not read again; below, reading is as cheap as asking."""
    source = FakeSource()
    arrival = replace(SMALL, size_bytes=size_bytes)
    report = hasher(source, table_with(row_with("00AB"))).hash(Job(arrival), PLENTY)
    assert (report.outcome, len(source.opened)) == (Outcome.UNCHANGED, reads)


@pytest.mark.parametrize("etag", ["another", "an-etag"])
def test_a_large_listed_object_that_a_look_up_missed_is_looked_up_again(etag: str) -> None:
    """A row of another object says nothing about it: of the same object, it is read no more."""
    listed, source = replace(BIG, sequencer=NO_SEQUENCER, etag="an-etag"), FakeSource()
    hasher_of_row = hasher(source, table_with(replace(row_with("00AB"), etag=etag)))
    if etag == "another":
        with pytest.raises(RowContended, match="a row of another object"):
            hasher_of_row.hash(Job(listed), PLENTY)
    else:
        assert hasher_of_row.hash(Job(listed), PLENTY).outcome is Outcome.SUPERSEDED
    assert source.opened == []


def test_an_unknown_large_object_is_read() -> None:
    """Where the look-up finds nothing, the object is hashed."""
    assert hasher(FakeSource(), table_with()).hash(Job(BIG), PLENTY).outcome is Outcome.HASHED


def test_time_that_runs_out_stops_the_reading() -> None:
    """The error says how much was read, nothing is recorded, and the stream is closed."""
    source, table = FakeSource(), table_with()
    seconds = iter([900.0] * 5 + [STOP_BEFORE_END_SECONDS - 0.001])
    with pytest.raises(OutOfTime) as caught:  # kept, as Powertools keeps it
        hasher(source, table).hash(Job(SMALL), Deadline(lambda: next(seconds)))
    assert (source.closed, rows_in(table)) == (1, [])
    assert str(caught.value).startswith("40000 of 130000 bytes were read")


def test_no_object_is_begun_without_time_for_it() -> None:
    """The messages of a batch after a slow one return before S3 is asked for their objects."""
    source = FakeSource()
    too_late = Deadline(lambda: STOP_BEFORE_END_SECONDS - 0.001)
    with pytest.raises(OutOfTime, match="before this object's turn"):
        hasher(source, table_with()).hash(Job(SMALL), too_late)
    assert source.opened == []


def test_what_goes_back_leaves_no_row() -> None:
    """An error that time can heal passes through, and nothing is recorded of it."""
    source, table = FakeSource(break_off=SourceInterrupted("broke")), table_with()
    with pytest.raises(Retryable, match="broke"):
        hasher(source, table).hash(Job(SMALL), PLENTY)
    assert (source.closed, rows_in(table)) == (1, [])


LONG: Final = replace(SMALL, size_bytes=10**15)


def handing_over(source: FakeSource, table: DigestsTable) -> tuple[ObjectHasher, list[Job]]:
    """A hasher with long objects, and the jobs that it hands over."""
    begun: list[Job] = []
    settings = replace(HASHING, long_objects_queue_url="long-objects")
    return ObjectHasher(source, table, settings, hand_over=begun.append), begun


def test_a_long_object_is_handed_over_unread() -> None:
    """An object that a slow reader might not finish is not begun."""
    source = FakeSource()
    hasher, begun = handing_over(source, table_with())
    assert hasher.hash(Job(LONG), PLENTY).outcome is Outcome.LONG
    assert begun == [Job(LONG)]
    assert source.opened == []


def test_a_recorded_long_object_is_not_handed_over_again() -> None:
    """A duplicate of its event that comes after its last slice changes nothing."""
    hasher, begun = handing_over(FakeSource(), table_with(row_with("00AB")))
    assert hasher.hash(Job(LONG), PLENTY).outcome is Outcome.UNCHANGED
    assert begun == []


def test_an_object_whose_time_runs_out_is_handed_over() -> None:
    """It was expected to be read in time, and was not."""
    source = FakeSource(break_off=OutOfTime("13 of 14 bytes were read"))
    hasher, begun = handing_over(source, table_with())
    result = hasher.hash(Job(SMALL), PLENTY)
    assert (result.outcome, result.reason) == (Outcome.LONG, "13 of 14 bytes were read")
    assert source.closed == 1
    assert begun == [Job(SMALL)]


def test_without_an_entity_tag_nothing_is_handed_over() -> None:
    """Slices of it could be of different objects."""
    source = FakeSource(break_off=OutOfTime("some bytes were read"))
    hasher, begun = handing_over(source, table_with())
    with pytest.raises(OutOfTime):
        hasher.hash(Job(replace(LONG, etag=None)), PLENTY)
    assert begun == []

"""A recorded object is read again, and its digests are compared."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.dynamodb_fake import table_with
from tests.support.settings import SETTINGS
from tests.support.sha1 import sha1_of

from bucketsum.backfill.listed_batch import ListedBatchHasher
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.errors import (
    BucketsumError,
    DamagedRow,
    ObjectArchived,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    OutOfTime,
    SourceInterrupted,
    SourceUnavailable,
)
from bucketsum.events.object_events import DeletedBy, ObjectCreated, ObjectDeleted
from bucketsum.hashing.batch import MessageResult
from bucketsum.hashing.deletions import record_deletion
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.notified import NotifiedHasher
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.invocation.deadline import Deadline
from bucketsum.queue.dead_letters import ReceivedMessage
from bucketsum.s3.source import OpenObject
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Verified
from bucketsum.table.rows import Row, RowKey, Status, row_key_of
from bucketsum.table.sequencer import NO_SEQUENCER

PLENTY: Final = Deadline(lambda: 900.0)
CONTENT: Final = b"as it was recorded"
ROT: Final = b"as it was recordeD"
OTHER: Final = b"AS it was recorded"
LISTED: Final = ObjectCreated(
    "inbox", "a", "v1", "a-tag", len(CONTENT), NO_SEQUENCER, "2026-11-01T00:00:00Z"
)
ROW: Final = Row(
    bucket="inbox",
    key="a",
    entry="v1",
    status=Status.HASHED,
    size_bytes=len(CONTENT),
    sequencer="0A".ljust(32, "0"),
    arrived_at="2026-11-01T00:00:00.000Z",
    recorded_at="2026-11-01T00:00:01.000+00:00",
    etag="a-tag",
    sha1=sha1_of(CONTENT),
    digests={"md5": hashlib.md5(CONTENT).hexdigest()},
)
ALL: Final = Selection(Purpose.VERIFY)
NONE: Final = Selection()
FIRST: Final = ReceivedMessage("", "handle", 1, "id", "backfill")
SHA256: Final = hashlib.sha256(CONTENT).hexdigest()


@dataclass(slots=True)
class Source:
    """Sends one of its contents, or raises one of its errors, each time.

    Attributes:
        connections: Number of sources with connections of their own.
        meanwhile: Called at the end of each object.
    """

    answers: list[bytes | BucketsumError]
    connections: int = 1
    meanwhile: Callable[[], object] = int
    opened: list[ObjectCreated] = field(default_factory=list)

    def open(self, created: ObjectCreated, offset: int = 0, doubt: object = None) -> OpenObject:  # noqa: ARG002
        """See `Source.open`."""
        self.opened.append(created)
        answer = self.answers.pop(0)
        if isinstance(answer, BucketsumError):
            raise answer
        return OpenObject(len(answer), created.etag or "", self._chunks(answer))

    def another(self) -> Source:
        """See `Source.another`."""
        self.connections += 1
        return self

    def _chunks(self, content: bytes) -> Generator[bytes]:
        yield content
        self.meanwhile()


def verify(
    source: Source,
    table: DigestsTable,
    selection: Selection = ALL,
    extra: tuple[str, ...] = (),
    listed: ObjectCreated = LISTED,
    received: ReceivedMessage = FIRST,
) -> MessageResult:
    """Handle the message of a verification of *listed*, or of a backfill."""
    settings = replace(SETTINGS, extra_algorithms=extra)
    hasher = NotifiedHasher(ObjectHasher(source, table, settings), table, None)
    backfills: Any = None
    [body] = bodies_of("b", [listed], selection)
    batch = ListedBatchHasher(hasher, table, backfills, settings)
    [result] = batch.handle([replace(received, body=body)], PLENTY)
    return result


def row_in(table: DigestsTable, listed: ObjectCreated = LISTED) -> Row:
    """The row of *listed*."""
    row = table.row_at(row_key_of(listed))
    assert row
    return row


@pytest.mark.parametrize(
    ("answers", "outcome", "connections"),
    [
        ([CONTENT], Outcome.VERIFIED, 1),
        ([ROT, CONTENT], Outcome.VERIFIED, 2),
        ([ROT, ROT], Outcome.DIFFERS, 2),
        ([ObjectGone("deleted")], Outcome.GONE, 1),
        ([ROT, ObjectGone("deleted")], Outcome.GONE, 2),
        ([ObjectSuperseded("overwritten")], Outcome.SUPERSEDED, 1),
        ([ROT, ObjectSuperseded("overwritten")], Outcome.SUPERSEDED, 2),
        ([ObjectArchived("GLACIER")], Outcome.ARCHIVED, 1),
    ],
)
def test_an_object_differs_only_if_two_readings_say_so(
    answers: list[bytes | BucketsumError], outcome: Outcome, connections: int
) -> None:
    """The second is over other connections; in no case the recorded digest is replaced."""
    source, table = Source([*answers]), table_with(ROW)
    [report] = verify(source, table).reports
    assert (report.outcome, source.answers, source.connections) == (outcome, [], connections)
    row = row_in(table)
    expected = f"sha1:{sha1_of(ROT)}" if outcome is Outcome.DIFFERS else None
    assert (row.difference.digest if row.difference else None) == expected
    assert (row.verified.count if row.verified else 0) == (outcome is Outcome.VERIFIED)
    assert replace(row, verified=None, difference=None) == ROW


def test_every_recorded_digest_is_compared() -> None:
    """One whose SHA-1 is right is not verified while another digest differs."""
    table = table_with(replace(ROW, digests={"md5": "0" * 32}))
    [report] = verify(Source([CONTENT] * 2), table).reports
    assert report.outcome is Outcome.DIFFERS
    difference = row_in(table).difference
    assert difference
    assert difference.digest == f"md5:{ROW.digests['md5']}"


@pytest.mark.parametrize(
    "second", [OTHER, ObjectUnreadable("archived"), SourceUnavailable("SlowDown")]
)
def test_a_difference_that_no_second_reading_confirms_proves_nothing(
    second: bytes | BucketsumError,
) -> None:
    """The message returns to the queue, and at last is a dead letter; the row is as it was."""
    table = table_with(ROW)
    result = verify(Source([ROT, second]), table)
    assert isinstance(result.failure, SourceInterrupted)
    assert sha1_of(ROT) in str(result.failure)
    assert row_in(table) == ROW


READABLE: Final = [CONTENT], [ROT, ROT]


@pytest.mark.parametrize("answers", READABLE, ids=["verified", "differs"])
def test_a_row_says_since_when_its_object_is_unreadable(answers: list[bytes]) -> None:
    """The first refusal stays with the last reason, until the object is read again."""
    table = table_with(ROW)
    [report] = verify(Source([ObjectUnreadable("denied")]), table).reports
    first = row_in(table).failed_reading
    assert (report.outcome, report.reason) == (Outcome.UNREADABLE, "denied")
    assert first
    assert replace(row_in(table), failed_reading=None) == ROW
    verify(Source([ObjectUnreadable("no key")]), table)
    assert row_in(table).failed_reading == replace(first, reason="no key")
    verify(Source([*answers]), table)
    assert row_in(table).failed_reading is None


UNREADABLE_ONCE: Final[list[list[bytes | BucketsumError]]] = [
    [SourceUnavailable("SlowDown")],
    [SourceInterrupted("another size")],
    [OutOfTime("the invocation ended")],
    [ROT, OTHER],
    [ROT, ObjectUnreadable("denied")],
]


@pytest.mark.parametrize("answers", UNREADABLE_ONCE)
@pytest.mark.parametrize("receives", [1, SETTINGS.max_receives])
def test_a_message_ends_when_no_retry_is_left(
    answers: list[bytes | BucketsumError], receives: int
) -> None:
    """Then the row says that the object could not be read, and no dead letter is needed."""
    table = table_with(ROW)
    result = verify(Source([*answers]), table, received=replace(FIRST, receive_count=receives))
    failed = row_in(table).failed_reading
    assert replace(row_in(table), failed_reading=None) == ROW
    if receives == 1:
        assert (result.failure is None, failed) == (False, None)
    else:
        assert [report.outcome for report in result.reports] == [Outcome.UNREADABLE]
        assert failed
        assert failed.reason == result.reports[0].reason


@pytest.mark.parametrize("first", READABLE, ids=["verified", "differs"])
def test_a_message_that_comes_again_reads_nothing_twice(first: list[bytes]) -> None:
    """Its figures are those of the row; a reading from before it was sent does not count."""
    table = table_with(ROW)
    sent = replace(FIRST, sent_ms=int(time.time() * 1000) - 1000)
    [report] = verify(Source([*first]), table, received=sent).reports
    row = row_in(table)
    [again] = verify(Source([]), table, received=sent).reports
    assert (again.outcome, row_in(table)) == (report.outcome, row)
    assert again.measurement
    assert again.measurement.size_bytes == ROW.size_bytes
    later = replace(FIRST, sent_ms=int(time.time() * 1000) + 1000)
    [report] = verify(Source([CONTENT]), table, received=later).reports
    assert report.outcome is Outcome.VERIFIED


GLACIER: Final = replace(LISTED, storage_class="GLACIER")


@pytest.mark.parametrize("selection", [NONE, ALL])
def test_a_listed_archived_object_has_a_row(selection: Selection) -> None:
    """Nothing is read for it; restored, it is hashed."""
    table = table_with()
    for _ in range(2):
        [report] = verify(Source([]), table, selection, listed=GLACIER).reports
        assert report.outcome is Outcome.ARCHIVED
    row = row_in(table)
    assert (row.status, row.storage_class, row.sha1) == (Status.ARCHIVED, "GLACIER", None)
    assert (row.etag, row.size_bytes) == (LISTED.etag, LISTED.size_bytes)
    [report] = verify(Source([CONTENT]), table, selection).reports
    assert (report.outcome, row_in(table).storage_class) == (Outcome.HASHED, None)


def test_an_overwritten_archived_object_is_superseded() -> None:
    """Its message came late: S3 is asked only if the row of the newer object is older by time."""
    for arrived_at, source in (
        ("2026-12-01T00:00:00.000Z", Source([ObjectSuperseded("overwritten")])),
        ("2026-10-01T00:00:00.000Z", Source([])),
    ):
        newer = replace(ROW, entry="null", etag="newer", arrived_at=arrived_at)
        listed = replace(GLACIER, version_id=None)
        [report] = verify(source, table_with(newer), listed=listed).reports
        assert report.outcome is (Outcome.SUPERSEDED if source.opened else Outcome.ARCHIVED)


def test_a_digest_outlives_the_archiving_of_its_object() -> None:
    """A verification counts it as archived, and a backfill as recorded before."""
    table = table_with(ROW)
    outcomes = [
        verify(Source([]), table, selection, listed=GLACIER).reports[0].outcome
        for selection in (ALL, NONE)
    ]
    assert outcomes == [Outcome.ARCHIVED, Outcome.UNCHANGED]
    assert row_in(table) == ROW


def test_a_verification_adds_the_digests_that_a_row_lacks() -> None:
    """In the same write, if all others agree; those that it has stay, also if switched off."""
    table = table_with(ROW)
    lacking = Selection(Purpose.VERIFY, missing="sha256")
    verify(Source([CONTENT]), table, lacking, extra=("sha256",))
    assert row_in(table).digests == {"sha256": SHA256, **ROW.digests}
    verify(
        Source([]), table, Selection(Purpose.VERIFY, missing="sha256"), extra=("sha256",)
    )  # nothing is read


def test_a_row_that_changes_meanwhile_is_not_marked() -> None:
    """Its deletion comes while the object is read."""
    table = table_with(ROW)
    deleted = ObjectDeleted(
        "inbox", "a", "v1", is_marker=False, deleted_by=DeletedBy.REQUEST, sequencer="0B",
        event_time="2026-11-02T00:00:00.000Z",
    )  # fmt: skip
    source = Source([CONTENT], meanwhile=lambda: record_deletion(deleted, table, PLENTY))
    [report] = verify(source, table).reports
    assert (report.outcome, row_in(table).verified) == (Outcome.GONE, None)


@pytest.mark.parametrize("contents", [[CONTENT], [ROT, ROT]])
def test_a_newer_row_is_not_marked(contents: list[BucketsumError | bytes]) -> None:
    """Its object is not the one that was read."""
    table, listed = table_with(replace(ROW, entry="null")), replace(LISTED, version_id=None)
    newer = replace(ROW, entry="null", sequencer="0C", sha1=sha1_of(OTHER), etag="other")
    source = Source([*contents], meanwhile=lambda: table.record(newer))
    [report] = verify(source, table, listed=listed).reports
    assert report.outcome is Outcome.SUPERSEDED
    assert row_in(table, listed) == table_with(newer).row_at(RowKey("inbox", "a", "null"))


@pytest.mark.parametrize(
    ("row", "selection", "is_read"),
    [
        (ROW, Selection(Purpose.VERIFY), True),
        (ROW, Selection(Purpose.VERIFY, older_than="2026-11-01T00:00:02Z"), True),
        (ROW, Selection(Purpose.VERIFY, older_than="2026-11-01T00:00:01Z"), False),
        (
            replace(ROW, verified=Verified("2026-11-03T00:00:00.000+00:00", 2)),
            Selection(Purpose.VERIFY, older_than="2026-11-02T00:00:00Z"),
            False,
        ),
        (ROW, Selection(Purpose.VERIFY, missing="md5"), False),
        (ROW, Selection(Purpose.VERIFY, missing="members"), False),
    ],
)
def test_only_the_wanted_rows_are_read(row: Row, selection: Selection, *, is_read: bool) -> None:
    """An object that the filters leave out costs no read, and counts as unchanged."""
    source = Source([CONTENT])
    [report] = verify(source, table_with(row), selection).reports
    assert report.outcome is (Outcome.VERIFIED if is_read else Outcome.UNCHANGED)
    assert len(source.opened) == is_read


@pytest.mark.parametrize("digests", [{"md5": "weird"}, {"sha3": "ab"}])
def test_a_digest_that_nothing_can_compare_is_named(digests: dict[str, str]) -> None:
    """Another program changed it, or a newer release wrote it: it neither differs nor agrees."""
    source, row = Source([]), replace(ROW, digests=digests)
    result = verify(source, table_with(row))
    assert isinstance(result.failure, DamagedRow)
    assert f"digest_{next(iter(digests))}" in str(result.failure)


def test_what_is_not_recorded_is_hashed() -> None:
    """No row, an overwritten null version, and one without a digest, as in a backfill."""
    unreadable = replace(ROW, status=Status.UNREADABLE, sha1=None, digests={}, reason="denied")
    overwritten = replace(ROW, entry="null", etag="lost", sha1=sha1_of(OTHER))
    for rows in ([], [overwritten], [unreadable]):
        table = table_with(*rows)
        listed = replace(LISTED, version_id=None) if overwritten in rows else LISTED
        [report] = verify(Source([CONTENT]), table, listed=listed).reports
        assert report.outcome is Outcome.HASHED
        row = row_in(table, listed)
        assert (row.sha1, row.verified) == (sha1_of(CONTENT), None)


@given(
    version=st.sampled_from(["v1", None]),
    changes=st.fixed_dictionaries(
        {},
        optional={
            "size_bytes": st.integers(0, 2**40),
            "etag": st.sampled_from(["a-tag", "lost", "a-tag-2"]),
            "sha1": st.sampled_from([sha1_of(OTHER), ROW.sha1]),
        },
    ),
    selection=st.sampled_from(
        [NONE, ALL, Selection(Purpose.VERIFY, older_than="2020-01-01T00:00:00Z")]
    ),
)
def test_the_digest_of_a_version_is_never_replaced(
    version: str | None, changes: dict[str, Any], selection: Selection
) -> None:
    """Only an overwritten null version has another entity tag, and is another object."""
    listed = replace(LISTED, version_id=version)
    recorded = replace(ROW, entry=version or "null", **changes)
    table = table_with(recorded)
    [report] = verify(Source([CONTENT] * 2), table, selection, listed=listed).reports
    after = row_in(table, listed)
    if version is None and recorded.etag != LISTED.etag:
        assert (report.outcome, after.sha1) == (Outcome.HASHED, sha1_of(CONTENT))
        return
    assert replace(after, verified=None, difference=None) == recorded
    is_listed_so = (recorded.size_bytes, recorded.etag) == (ROW.size_bytes, ROW.etag)
    if not is_listed_so or (recorded.sha1 != ROW.sha1 and selection is ALL):
        assert report.outcome is Outcome.DIFFERS
        assert after.difference
    else:
        assert report.outcome is (Outcome.VERIFIED if selection is ALL else Outcome.UNCHANGED)

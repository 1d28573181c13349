"""An event of a key without versions where another object was listed."""

from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.dynamodb_fake import table_with
from tests.support.sha1 import sha1_of

from bucketsum.errors import RowContended, Unordered
from bucketsum.events.object_events import DeletedBy, ObjectDeleted
from bucketsum.hashing.deletions import record_deletion
from bucketsum.invocation.deadline import Deadline
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer

EVENT: Final = Row(
    bucket="inbox",
    key="a",
    entry="null",
    status=Status.UNREADABLE,
    size_bytes=0,
    sequencer=comparable_sequencer("0A"),
    arrived_at="2026-11-01T00:00:05.500Z",
    recorded_at="2026-11-01T00:01:00.000Z",
    etag="of-the-event",
    reason="denied",
)
AT: Final = "2026-11-01T00:00:04Z"
PLENTY: Final = Deadline(lambda: 900.0)
UNREAD: Final = replace(
    EVENT, sequencer=comparable_sequencer(NO_SEQUENCER), etag="listed", arrived_at=AT
)
HASHED: Final = replace(UNREAD, status=Status.HASHED, reason=None, sha1=sha1_of(b"x"))


@pytest.mark.parametrize("status", [Status.UNREADABLE, Status.ARCHIVED])
@pytest.mark.parametrize("listed", [UNREAD, HASHED], ids=["unread", "hashed"])
def test_a_newer_listed_object_stays(listed: Row, status: Status) -> None:
    """S3 would say that the event's object was overwritten, if it could be read."""
    newer = replace(listed, arrived_at="2026-11-01T00:00:06Z")
    table = table_with(newer)
    assert table.record(replace(EVENT, status=status)) is Outcome.SUPERSEDED
    assert table.versions_of("inbox", "a") == [newer]


@pytest.mark.parametrize("listed", [UNREAD, HASHED], ids=["unread", "hashed"])
def test_an_older_listed_object_is_replaced(listed: Row) -> None:
    """The event is of the archived object that overwrote it, as S3 says."""
    archived = replace(EVENT, status=Status.ARCHIVED)
    table = table_with(replace(listed, arrived_at="2026-11-01T00:00:04Z"))
    assert table.record(archived) is Outcome.ARCHIVED
    assert table.versions_of("inbox", "a") == [archived]


@pytest.mark.parametrize("listed_at", ["2026-11-01T00:00:05Z", "2026-11-01T00:00:04Z"])
@pytest.mark.parametrize("listed", [UNREAD, HASHED], ids=["unread", "hashed"])
def test_if_nothing_tells_the_order_neither_is_lost(listed: Row, listed_at: str) -> None:
    """An upload in parts has the time of its beginning, so that the other may be the newer.

    The message of the event is tried again, and at last is a dead letter.
    """
    listed = replace(listed, arrived_at=listed_at)
    table = table_with(listed)
    with pytest.raises(RowContended, match="perhaps a newer one"):
        table.record(EVENT)
    assert table.versions_of("inbox", "a") == [listed]


@pytest.mark.parametrize("listed", [UNREAD, HASHED], ids=["unread", "hashed"])
def test_what_was_read_has_no_order_either(listed: Row) -> None:
    """The other may have been listed since the reading, whatever S3's times say."""
    read = replace(EVENT, status=Status.HASHED, reason=None, sha1=sha1_of(b""))
    table = table_with(listed)
    with pytest.raises(Unordered):
        table.record(read)
    assert table.versions_of("inbox", "a") == [listed]


@pytest.mark.parametrize(("deleted", "is_kept"), [("09", False), ("0B", True)])
def test_a_newer_archived_object_ends_the_deletion_of_a_listed_one(
    deleted: str, *, is_kept: bool
) -> None:
    """Its first write is refused for the listed object's sake, not for that of the deletion."""
    table, archived = table_with(UNREAD), replace(EVENT, status=Status.ARCHIVED)
    deletion = ObjectDeleted(
        "inbox",
        "a",
        None,
        is_marker=False,
        deleted_by=DeletedBy.REQUEST,
        sequencer=deleted,
        event_time=AT,
    )
    assert record_deletion(deletion, table, PLENTY).outcome is Outcome.DELETED
    assert table.record(archived) is Outcome.ARCHIVED
    [row] = table.versions_of("inbox", "a")
    assert (row.etag, row.deletion is not None) == (archived.etag, is_kept)


@given(
    rows=st.lists(
        st.builds(
            lambda status, sequencer, content: replace(
                EVENT,
                entry="v1",
                status=status,
                sequencer=sequencer,
                sha1=sha1_of(content) if status is Status.HASHED else None,
            ),
            st.sampled_from([Status.HASHED, Status.UNREADABLE, Status.ARCHIVED]),
            st.sampled_from([NO_SEQUENCER, "0A", "0B"]),
            st.sampled_from([b"x", b"y"]),
        ),
        max_size=6,
    )
)
def test_a_version_keeps_its_first_digest(rows: list[Row]) -> None:
    """No event and no listing of it changes that later, in any order."""
    table, first = table_with(), None
    for row in rows:
        with suppress(RowContended):
            table.record(row)
        [held] = table.versions_of("inbox", "a")
        assert first in (None, held.sha1)
        first = held.sha1

"""The state of a version of an object follows from its row, its deletion and S3's listing."""

from dataclasses import replace

import pytest

from bucketsum.events.object_events import DeletedBy
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.row_parts import Deletion, Difference, FailedReading, Verified
from bucketsum.table.rows import Row, Status
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum.table.state import ObjectState, Presence, is_repaired, state_of

AT = "2026-11-20T10:00:00.000Z"
LATER = "2026-11-21T10:00:00Z"
LATEST = "2026-11-21T10:00:00.001Z"
ROW = Row("b", "k", "v1", Status.HASHED, 1, comparable_sequencer("1"), AT, AT, sha1="a" * 40)
DIFFERS = replace(ROW, difference=Difference("sha1:00", LATER))
REFUSED = replace(ROW, failed_reading=FailedReading(LATER, "denied"))
CONTRADICTED = replace(
    ROW, compared=Compared(ChecksumResult.DIFFERS, "crc32:AA==", "crc32:AB== as read")
)
ARCHIVED = replace(ROW, status=Status.ARCHIVED, sha1=None)
DELETION = Deletion(AT, DeletedBy.REQUEST, comparable_sequencer("2"))


@pytest.mark.parametrize(
    ("row", "presence", "state"),
    [
        (ROW, Presence.UNKNOWN, "hashed"),
        (ROW, Presence.ABSENT, "lost"),
        (ROW, Presence.CHANGED, "not recorded"),
        (None, Presence.LISTED, "not recorded"),
        (DIFFERS, Presence.LISTED, "differs"),
        (DIFFERS, Presence.ABSENT, "lost"),
        (CONTRADICTED, Presence.LISTED, "differs"),
        (replace(CONTRADICTED, verified=Verified(LATER, 1)), Presence.LISTED, "differs"),
        (CONTRADICTED, Presence.ABSENT, "lost"),
        (replace(DIFFERS, failed_reading=FailedReading(LATER, "")), Presence.LISTED, "differs"),
        (REFUSED, Presence.LISTED, "unreadable"),
        (replace(ROW, status=Status.UNREADABLE), Presence.LISTED, "unreadable"),
        (ARCHIVED, Presence.LISTED, "archived"),
        (ARCHIVED, Presence.ABSENT, "lost"),
        (replace(DIFFERS, deletion=DELETION), Presence.ABSENT, "deleted"),
        (replace(ROW, status=Status.DAMAGED, deletion=DELETION), Presence.ABSENT, "damaged"),
    ],
)  # fmt: skip
def test_the_first_state_that_fits_holds(row: Row | None, presence: Presence, state: str) -> None:
    """Damaged, deleted, lost, differs, unreadable, archived, hashed: in this order."""
    assert state_of(row, presence) == state


@pytest.mark.parametrize("row", [DIFFERS, REFUSED])
def test_the_last_reading_decides(row: Row) -> None:
    """Only a later verification ends a difference or a refusal; an unknown time ends neither."""
    times = ((AT, False), (LATER, False), (LATEST, True), ("2027", False), ("once", False))
    for verified_at, is_over in times:
        verified = replace(row, verified=Verified(verified_at, 1))
        assert (state_of(verified) is ObjectState.HASHED) is is_over


def test_a_newer_version_with_the_recorded_digest_repairs() -> None:
    """Not an older one, one with another digest, one that differs, or one of another key."""
    newer = replace(ROW, entry="v2", sequencer=comparable_sequencer("2"), arrived_at=LATER)
    no_event = replace(newer, sequencer=comparable_sequencer(""))
    for other in (newer, no_event):
        assert is_repaired(DIFFERS, [DIFFERS, other])
        assert state_of(DIFFERS, is_repaired=True) is ObjectState.REPAIRED
    for other in (
        replace(newer, sha1="b" * 40), replace(newer, difference=DIFFERS.difference),
        replace(newer, key="x"), replace(no_event, arrived_at=AT),
        replace(newer, deletion=DELETION),
    ):  # fmt: skip
        assert not is_repaired(DIFFERS, [DIFFERS, other])
    assert not is_repaired(replace(DIFFERS, sequencer=comparable_sequencer("3")), [newer])

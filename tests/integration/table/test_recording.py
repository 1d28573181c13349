"""The newest event wins, in any order of events."""

from dataclasses import replace
from typing import Final

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.rows import BUCKET, fresh_key, place, row, unreadable

from bucketsum.events.version import NULL
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Timing
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import comparable_sequencer

SEQUENCERS = st.text("0123456789ABCDEFabcdef", min_size=1, max_size=32)
OLDER: Final = ("09", "09FFFFFFFFFFFFFF", "0")
NEWER: Final = ("0B", "0A01", "0A000000000000000000000000000001")
OF_EVENTS = SEQUENCERS.filter(lambda text: text.strip("0"))  # zero alone is a listed object's
EVENTS = st.lists(st.tuples(OF_EVENTS, st.sampled_from(Status)), min_size=1, max_size=6)


def rank(sequencer: str) -> int:
    """A sequencer's rank: S3 pads the shorter of two with zeros on the right."""
    return int(sequencer.ljust(32, "0"), 16)


HELD: Final = row("key", "0A", digests={"md5": "00"}, timing=Timing(1.5, 2.5))
REFUSED: Final = unreadable("key", "0A", "archived")
OTHER: Final = {"size_bytes": 1, "sha1": "1" * 40, "recorded_at": "later"}


@pytest.mark.parametrize(
    ("held", "event", "result"),
    [
        (None, HELD, Outcome.HASHED),
        (HELD, replace(HELD, recorded_at="later"), Outcome.UNCHANGED),
        (HELD, unreadable("key", "0A"), Outcome.UNCHANGED),
        *((HELD, row("key", older, **OTHER), Outcome.SUPERSEDED) for older in OLDER),
        *((HELD, row("key", newer, **OTHER), Outcome.HASHED) for newer in NEWER),
        (REFUSED, HELD, Outcome.HASHED),
        (REFUSED, replace(REFUSED, reason="denied"), Outcome.UNREADABLE),
        (HELD, replace(unreadable("key", "0B"), etag="other"), Outcome.UNREADABLE),
    ],
)
def test_a_row_is_written_whole_or_not_at_all(
    digests_table: DigestsTable, held: Row | None, event: Row, result: Outcome
) -> None:
    """The newer event's row is there alone; of one event, a digest wins, then the last reason."""
    event = replace(event, key=fresh_key())
    if held:
        held = replace(held, key=event.key)
        digests_table.record(held)
    assert digests_table.record(event) is result
    expected = event if result is Outcome(event.status) else held
    assert digests_table.row_at(place(event)) == expected


def test_reason_never_replaces_the_digest_of_the_same_content(digests_table: DigestsTable) -> None:
    """A backfill has hashed it; when its late event comes, it cannot be read any more."""
    listed = row(fresh_key(), "")
    digests_table.record(listed)
    late = replace(unreadable(listed.key, "0A"), arrived_at="2026-11-22T00:00:00Z")
    assert digests_table.record(late) is Outcome.UNCHANGED
    kept = digests_table.row_at(place(listed))
    assert kept is not None
    assert (kept.sha1, kept.sequencer, kept.arrived_at, kept.reason) == (
        listed.sha1,
        late.sequencer,
        "2026-11-22T00:00:00Z",
        None,
    )


def test_reason_of_a_listed_object_never_replaces_a_digest_of_meanwhile(
    digests_table: DigestsTable,
) -> None:
    """A backfill saw an unreadable row, and its event was hashed before the backfill's write."""
    seen = unreadable(fresh_key(), "0A")
    digests_table.record(seen)
    hashed = replace(row(seen.key, "0A"), etag=seen.etag)
    assert digests_table.record(hashed) is Outcome.HASHED
    assert digests_table.replace(replace(seen, reason="denied again"), seen) is Outcome.UNCHANGED
    assert digests_table.row_at(place(seen)) == hashed


def expected_of(held: Row | None, event: Row) -> Outcome:
    """The result that `record` must return for *event* while *held* is recorded."""
    if held is None or rank(event.sequencer) > rank(held.sequencer):
        return Outcome(event.status)
    if rank(event.sequencer) < rank(held.sequencer):
        return Outcome.SUPERSEDED
    return Outcome.UNCHANGED if held.status is Status.HASHED else Outcome(event.status)


@given(events=EVENTS)
def test_newest_wins_in_any_order(
    prompt_dynamodb: tuple[DynamoDBClient, str], events: list[tuple[str, Status]]
) -> None:
    """In any order of events, the newest is recorded in the end."""
    digests_table = DigestsTable(*prompt_dynamodb)
    key = fresh_key()
    held: Row | None = None
    for number, (sequencer, status) in enumerate(events):
        make = row if status is Status.HASHED else unreadable
        event = replace(make(key, sequencer), size_bytes=number, etag=str(number))
        expected = expected_of(held, event)
        assert digests_table.record(event) is expected
        held = event if expected is Outcome(event.status) else held
    recorded = digests_table.row_at(RowKey(BUCKET, key, NULL.entry))
    newest = max(rank(sequencer) for sequencer, _ in events)
    assert recorded == held
    assert recorded is not None
    assert rank(recorded.sequencer) == newest
    hashed = (newest, Status.HASHED) in {(rank(sequencer), status) for sequencer, status in events}
    assert (recorded.status is Status.HASHED) == hashed


@given(SEQUENCERS, SEQUENCERS)
def test_padded_sequencers_compare_as_s3_says(first: str, other: str) -> None:
    """Texts of the same length compare as the numbers that they write."""
    texts = comparable_sequencer(first), comparable_sequencer(other)
    assert (texts[0] < texts[1]) == (rank(first) < rank(other))
    assert (texts[0] == texts[1]) == (rank(first) == rank(other))


def test_versions_are_recorded_apart(digests_table: DigestsTable) -> None:
    """A late event of another version is not a late event of this one."""
    newer = row(fresh_key(), "0B", entry="v2")
    older = row(newer.key, "0A", entry="v1")
    assert [digests_table.record(newer), digests_table.record(older)] == [Outcome.HASHED] * 2
    assert digests_table.row_at(place(older)) == older


def test_refusal_of_dynamodb_passes_through(dynamodb: DynamoDBClient) -> None:
    """Only a condition that failed is an answer; all else is the caller's to try again."""
    with pytest.raises(ClientError, match="ResourceNotFound"):
        DigestsTable(dynamodb, "no-such-table").record(row(fresh_key(), "0A"))

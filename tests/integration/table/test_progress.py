"""Progress items in a DynamoDB that checks expressions as AWS does."""

from dataclasses import replace
from typing import Final

import pytest
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.rows import fresh_key
from tests.support.events import LANDED

from bucketsum.hashing.job import Job
from bucketsum.long_objects.progress import ChainStatus, Progress, progress_of
from bucketsum.long_objects.progress_table import ProgressTable
from bucketsum.table.archive_settings import Mode
from bucketsum.table.sequencer import comparable_sequencer

STATES: Final = {"sha1": bytes(range(28)), "crc32": bytes(12)}


@pytest.fixture
def table(dynamodb: DynamoDBClient, table_name: str) -> ProgressTable:
    """The progress items of a table."""
    return ProgressTable(dynamodb, table_name)


@pytest.fixture
def begun(table: ProgressTable) -> Progress:
    """A new long object, as it is read back."""
    created = replace(LANDED, key=fresh_key(), size_bytes=10**12)
    written = progress_of(Job(created, mode=Mode.STREAM))
    assert table.begin(written) is written
    stored = table.at(written.row_key)
    assert stored == replace(written, sequencer=comparable_sequencer(written.sequencer))
    return stored


def test_a_slice_moves_progress_once(table: ProgressTable, begun: Progress) -> None:
    """A writer that saw another offset changes nothing."""
    new = replace(begun, offset=1280, hop=1, seconds=2.5, mb_per_s=78.0, states=STATES)
    assert table.lease(begun, 1000, 100)
    assert not table.lease(begun, 1000, 999)
    moved = table.advance(begun, new)
    assert moved is not None
    assert moved == replace(new, updated_at=moved.updated_at)
    assert table.advance(begun, new) is None
    table.end_lease(begun)
    table.mark_sent(begun)
    table.remove_progress(begun)
    assert table.at(begun.row_key) == moved
    table.mark_sent(moved)
    assert table.at(begun.row_key) == replace(moved, sent_offset=1280)
    assert table.lease(moved, 1000, 100)
    table.end_lease(moved)
    assert table.lease(moved, 1000, 100)


def test_a_chain_is_stopped_and_restarted(table: ProgressTable, begun: Progress) -> None:
    """A stopped chain gives no lease; a restart forgets the reason."""
    stopped = table.stop(begun, "why")
    assert stopped is not None
    assert (stopped.status, stopped.reason) == (ChainStatus.STOPPED, "why")
    assert not table.lease(begun, 1000, 100)
    newer = replace(begun, sequencer="FF", arrived_at="2026-12-01T00:00:00.000Z")
    again = table.restart(begun, newer)
    assert again is not None
    assert (again.status, again.reason) == (ChainStatus.RUNNING, None)
    assert (again.sequencer, again.arrived_at) == (
        comparable_sequencer("FF"),
        "2026-12-01T00:00:00.000Z",
    )


def test_only_a_newer_object_replaces_progress(table: ProgressTable, begun: Progress) -> None:
    """An older event and the same object find what is there; a listed one replaces a stopped."""
    for other in (replace(begun, etag="other", sequencer="00"), replace(begun, hop=9)):
        assert table.begin(other) == begun
    newer = replace(begun, etag="other", sequencer="FF")
    assert table.begin(newer) is newer
    every = list(table.in_progress())
    listed = {item.key: item.etag for item in every if isinstance(item, Progress)}
    assert listed[begun.key] == "other"
    third = replace(begun, etag="third", sequencer="")
    assert table.begin(third, is_listed=True) == table.at(newer.row_key)
    assert table.stop(newer, "why")
    assert table.begin(third, is_listed=True) is third


def test_progress_ends(table: ProgressTable, begun: Progress) -> None:
    """The item is removed by the worker of its last slice."""
    table.remove_progress(begun)
    assert table.at(begun.row_key) is None
    assert table.advance(begun, begun) is None

"""Events that come late or early: creations, overwrites, deletions and restores.

That the end never depends on their order, tests/simulation shows.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from mypy_boto3_dynamodb import DynamoDBClient
from tests.integration.table.rows import BUCKET, fresh_key, fresh_sha1, place, row, unreadable
from tests.support.settings import SETTINGS

from bucketsum.errors import ObjectGone, OutOfTime
from bucketsum.events.object_events import (
    DeletedBy,
    ObjectCreated,
    ObjectDeleted,
    ObjectEvent,
    ObjectRestored,
)
from bucketsum.hashing.deletions import TOMBSTONE_DAYS, record_deletion
from bucketsum.hashing.job import Job
from bucketsum.hashing.object_hasher import ObjectHasher
from bucketsum.hashing.restores import hash_restored
from bucketsum.invocation.deadline import Deadline
from bucketsum.s3.source import OpenObject
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import key_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import RowKey, Status
from bucketsum.table.sequencer import comparable_sequencer

PLENTY: Final = Deadline(lambda: 900.0)
MOMENT: Final = "2026-11-20T10:00:00.000Z"
DAY_SECONDS: Final = 24 * 3600


@dataclass(slots=True)
class FakeS3:
    """Objects whose content is their entity tag.

    Attributes:
        missed: Entity tags of objects that are read too late: they do not exist any more.
    """

    missed: set[str] = field(default_factory=set)

    def another(self) -> FakeS3:
        """See `Source.another`."""
        return self

    def open(self, created: ObjectCreated, offset: int = 0, doubt: object = None) -> OpenObject:  # noqa: ARG002
        """See `Source.open`."""
        if created.etag in self.missed:
            raise ObjectGone("deleted")
        content = (created.etag or "").encode()
        return OpenObject(len(content), created.etag or "", _chunks(content))


def _chunks(content: bytes) -> Generator[bytes]:
    yield content


@dataclass(frozen=True, slots=True)
class Function:
    """The parts of the hasher that handle events."""

    s3: FakeS3
    table: DigestsTable
    hasher: ObjectHasher

    def handle(self, event: ObjectEvent) -> Outcome:
        """The outcome of *event*."""
        if isinstance(event, ObjectCreated):
            return self.hasher.hash(Job(event), PLENTY).outcome
        if isinstance(event, ObjectDeleted):
            return record_deletion(event, self.table, PLENTY).outcome
        return hash_restored(event, self.table, self.hasher, PLENTY).outcome


def function(
    dynamodb: DynamoDBClient, table: str, s3: FakeS3, deleted_row_days: int = 0
) -> Function:
    """The hasher with *s3*."""
    digests = DigestsTable(dynamodb, table, deleted_row_days)
    return Function(s3, digests, ObjectHasher(s3, digests, SETTINGS))


def item_at(dynamodb: DynamoDBClient, table: str, row_key: RowKey) -> dict[str, Any]:
    """The stored item, also a tombstone."""
    answer = dynamodb.get_item(TableName=table, Key=key_of(row_key), ConsistentRead=True)
    return dict(answer.get("Item", {}))


def recorded(dynamodb: DynamoDBClient, table: str, row_key: RowKey) -> tuple[Any, ...]:
    """The stored item's sequencer, status, and deletion's sequencer."""
    item = item_at(dynamodb, table, row_key)
    assert item["sha1"]["S"] == hashlib.sha1(item["etag"]["S"].encode()).hexdigest()
    deletion = item.get("deletion_sequencer", {}).get("S")
    assert ("deleted_at" in item) == bool(deletion)
    return (item["sequencer"]["S"][:4], item["status"]["S"], deletion and deletion[:4])


def deletion_of(
    key: str,
    sequencer: str,
    version: str | None = None,
    **fields: Any,  # noqa: ANN401 - its fields
) -> ObjectDeleted:
    """A permanent deletion of *key*, with *fields* changed."""
    deleted = ObjectDeleted(
        BUCKET,
        key,
        version,
        is_marker=False,
        deleted_by=DeletedBy.REQUEST,
        sequencer=sequencer,
        event_time=MOMENT,
    )
    return replace(deleted, **fields)


@pytest.mark.parametrize("version", [None, "v1"])
def test_a_deleted_row_keeps_all_that_it_has(
    digests_table: DigestsTable, version: str | None
) -> None:
    """The digest stays, and content is found by it; only the deletion is added."""
    before = row(fresh_key(), "0A", sha1=fresh_sha1(), entry=version or "null")
    digests_table.record(before)
    deleted = deletion_of(before.key, "0B", version, deleted_by=DeletedBy.LIFECYCLE)
    assert record_deletion(deleted, digests_table, PLENTY).outcome is Outcome.DELETED
    deletion = Deletion(MOMENT, DeletedBy.LIFECYCLE, comparable_sequencer("0B"))
    assert digests_table.row_at(place(before)) == replace(before, deletion=deletion)
    assert digests_table.with_sha1(before.sha1 or "") == [replace(before, deletion=deletion)]
    assert record_deletion(deleted, digests_table, PLENTY).outcome is Outcome.UNCHANGED
    older = replace(deleted, sequencer="0AB")
    assert record_deletion(older, digests_table, PLENTY).outcome is Outcome.SUPERSEDED


@pytest.mark.parametrize("sequencer", ["0A", "0C"])
def test_a_late_creation_keeps_the_deletion(digests_table: DigestsTable, sequencer: str) -> None:
    """A deletion that comes first leaves a tombstone, which is not a row; then the digest joins it.

    The version is the identity: whatever the sequencers say, a deleted one never comes back.
    """
    late = row(fresh_key(), sequencer, entry="v1")
    assert (
        record_deletion(deletion_of(late.key, "0B", "v1"), digests_table, PLENTY).outcome
        is Outcome.DELETED
    )
    assert digests_table.row_at(place(late)) is None
    assert digests_table.versions_of(BUCKET, late.key) == []
    assert digests_table.record(late) is Outcome.HASHED
    held = digests_table.row_at(place(late))
    assert held == replace(late, deletion=held.deletion if held else None)
    assert held.deletion
    assert held.deletion.expires_at is None
    assert digests_table.record(late) is Outcome.UNCHANGED


def test_a_new_object_at_the_key_ends_the_deletion(digests_table: DigestsTable) -> None:
    """Without versions, a newer creation exists again; the older deletion is void, also if late."""
    newer = row(fresh_key(), "0C")
    digests_table.record(row(newer.key, "0A"))
    record_deletion(deletion_of(newer.key, "0B"), digests_table, PLENTY)
    assert digests_table.record(newer) is Outcome.HASHED
    assert digests_table.row_at(place(newer)) == newer
    late = record_deletion(deletion_of(newer.key, "0B"), digests_table, PLENTY)
    assert late.outcome is Outcome.SUPERSEDED
    assert digests_table.row_at(place(newer)) == newer


def test_a_deletion_with_the_sequencer_of_the_creation_ends(digests_table: DigestsTable) -> None:
    """S3 sends none; a forged one changes nothing, and is not tried again and again."""
    null = row(fresh_key(), "0A")
    digests_table.record(null)
    assert (
        record_deletion(deletion_of(null.key, "0A"), digests_table, PLENTY).outcome
        is Outcome.SUPERSEDED
    )
    assert digests_table.row_at(place(null)) == null


@pytest.mark.parametrize(
    ("version", "outcome"),
    [("m1", Outcome.HIDDEN), (None, Outcome.DELETED), ("null", Outcome.DELETED)],
)
def test_a_marker_deletes_the_null_version_alone(
    digests_table: DigestsTable, version: str | None, outcome: Outcome
) -> None:
    """A marker only hides versions; with versioning suspended it takes the null version's place."""
    null = row(fresh_key(), "0A")
    digests_table.record(null)
    marker = deletion_of(null.key, "0B", version, is_marker=True)
    assert record_deletion(marker, digests_table, PLENTY).outcome is outcome
    held = digests_table.row_at(place(null))
    assert held
    assert bool(held.deletion) == (outcome is Outcome.DELETED)


@pytest.mark.parametrize("days", [0, 7])
def test_rows_and_tombstones_expire(dynamodb: DynamoDBClient, table_name: str, days: int) -> None:
    """Rows after the parameter's days, if at all; tombstones always, and later than any event."""
    hasher = function(dynamodb, table_name, FakeS3(), days)
    with_row, without = fresh_key(), fresh_key()
    hasher.table.record(row(with_row, "0A"))
    now = time.time()
    for key in (with_row, without):
        hasher.handle(deletion_of(key, "0B"))

    def expires_in_days(key: str) -> float | None:
        item = item_at(dynamodb, table_name, RowKey(BUCKET, key, "null"))
        moment = item.get("expires_at", {}).get("N")
        return moment and (int(moment) - now) / DAY_SECONDS

    assert expires_in_days(with_row) == (pytest.approx(days, abs=0.01) if days else None)
    assert expires_in_days(without) == pytest.approx(TOMBSTONE_DAYS, abs=0.01)
    hasher.table.record(row(without, "0A"))
    assert expires_in_days(without) == (pytest.approx(days, abs=0.01) if days else None)
    for key in (with_row, without):
        hasher.table.record(row(key, "0C"))
        assert expires_in_days(key) is None


def test_no_time_is_no_deletion(digests_table: DigestsTable) -> None:
    """An invocation that is about to end returns the message to the queue."""
    with pytest.raises(OutOfTime):
        record_deletion(deletion_of(fresh_key(), "0B"), digests_table, Deadline(lambda: 0.0))


@pytest.mark.parametrize("etag", ["the-tag", None, "another"])
@pytest.mark.parametrize("version", ["v1", None])
def test_a_restored_object_is_hashed(
    dynamodb: DynamoDBClient,
    table_name: str,
    etag: str | None,
    version: str | None,
) -> None:
    """The row that was unreadable gets its digest; the event of another object changes nothing.

    A version is always the same object: if its row has another tag, a program changed that.
    """
    is_other = etag == "another" and version is None
    outcome = Outcome.UNCHANGED if is_other else Outcome.HASHED
    hasher = function(dynamodb, table_name, FakeS3())
    before = replace(
        unreadable(fresh_key(), "0A"), etag="the-tag", entry=version or "null", size_bytes=32
    )
    hasher.table.record(before)
    restored = ObjectRestored(BUCKET, before.key, version, etag, 32, MOMENT)
    assert hasher.handle(restored) is outcome
    after = hasher.table.row_at(place(before))
    assert after
    assert (after.status is Status.HASHED) == (outcome is Outcome.HASHED)
    assert (after.sequencer, after.arrived_at) == (before.sequencer, before.arrived_at)


@pytest.mark.parametrize("version", ["v1", None])
def test_a_restored_object_without_a_row_is_hashed(
    dynamodb: DynamoDBClient, table_name: str, version: str | None
) -> None:
    """As a listed one: the late event of its creation orders the row, a deletion marks it."""
    hasher = function(dynamodb, table_name, FakeS3())
    row_key = RowKey(BUCKET, fresh_key(), version or "null")
    restored = ObjectRestored(BUCKET, row_key.key, version, "the-tag", 32, MOMENT)
    assert hasher.handle(restored) is Outcome.HASHED
    assert hasher.handle(restored) is Outcome.UNCHANGED
    assert recorded(dynamodb, table_name, row_key) == ("0000", Status.HASHED, None)
    created = ObjectCreated(BUCKET, row_key.key, version, "the-tag", 32, "0A", MOMENT)
    assert hasher.handle(created) is (Outcome.VERIFIED if version else Outcome.HASHED)
    hasher.handle(deletion_of(row_key.key, "0B", version))
    assert recorded(dynamodb, table_name, row_key) == ("0A00", Status.HASHED, "0B00")


def test_a_restored_object_that_is_known_is_not_read(
    dynamodb: DynamoDBClient, table_name: str
) -> None:
    """Neither an object with a digest, nor one whose deletion is recorded."""
    hasher = function(dynamodb, table_name, FakeS3(missed={"the-tag"}))
    known = row(fresh_key(), "0A", etag="the-tag")
    hasher.table.record(known)
    deleted = deletion_of(fresh_key(), "0B")
    hasher.handle(deleted)
    for key in (known.key, deleted.key):
        restored = ObjectRestored(BUCKET, key, None, "the-tag", 32, MOMENT)
        assert hasher.handle(restored) is Outcome.UNCHANGED
    assert hasher.table.row_at(place(known)) == known

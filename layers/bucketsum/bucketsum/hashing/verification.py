"""A verification: digests of a row, compared with another reading; imported at the first one.

A row that was verified keeps its digests: only attributes that it lacks are written, and only if
its digest and its event are still those that were compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bucketsum.algorithms import SHA1
from bucketsum.clock import now
from bucketsum.errors import ObjectArchived, ObjectUnreadable, SourceInterrupted, SourceUnavailable
from bucketsum.hashing.object_rows import hashed_row
from bucketsum.table.checksum_values import Compared
from bucketsum.table.codec import encoded
from bucketsum.table.columns import names_of
from bucketsum.table.condition import absent, compared
from bucketsum.table.digests_table import item_found
from bucketsum.table.items import DIGEST_PREFIX, item_of, key_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord, Difference, FailedReading, Verified
from bucketsum.table.rows import RowKey
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum.table.state import is_repaired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bucketsum.errors import BucketsumError
    from bucketsum.hashing.result import HashResult, ReadObject
    from bucketsum.settings import Settings
    from bucketsum.table.digests_table import DigestsTable
    from bucketsum.table.rows import Row


UNREAD: Final = (ObjectUnreadable, SourceInterrupted, SourceUnavailable)
"""Errors of a reading that say nothing about the object's bytes."""


def difference(recorded: Row, read: Row) -> str | None:
    """The algorithm and the digest in which *read* is not *recorded*; None if all are equal.

    A version never changes: if all digests agree, its size and its entity tag must too. A digest
    that was recorded only after the reading had begun is not compared. S3's own checksum must be
    that of the bytes as well.
    """
    values = {SHA1.name: read.sha1, **read.digests, "size_bytes": read.size_bytes}
    expected = {SHA1.name: recorded.sha1, **recorded.digests, "size_bytes": recorded.size_bytes}
    if recorded.etag is not None:
        values["etag"], expected["etag"] = read.etag, recorded.etag
    differing = (name for name, value in expected.items() if values.get(name, value) != value)
    return next((f"{name}:{values[name]}" for name in differing), read.contradiction)


def unconfirmed(first: str, error: BucketsumError) -> SourceInterrupted:
    """The error of a verification whose first reading had *first*, and whose second failed."""
    return SourceInterrupted(f"a reading has {first}, the next one failed: {error}")


def verified(
    table: DigestsTable, read: ReadObject, settings: Settings, read_again: Callable[[], ReadObject]
) -> HashResult:
    """Compare *read* with the recorded row; only if they differ, read the object again.

    Raises:
        SourceInterrupted: Two readings differ from the row, and from each other; or the second
            failed.
        NotHashed: The object is gone or superseded.
        ClientError: DynamoDB refused.
    """
    recorded = read.job.recorded
    assert recorded  # noqa: S101 - for the type checker
    row = hashed_row(read, settings)
    differing = difference(recorded, row)
    if first := differing:
        try:
            read = read_again()
        except UNREAD as error:
            raise unconfirmed(first, error) from error
        row = hashed_row(read, settings)
        differing = difference(recorded, row)
        if differing not in (None, first):
            raise SourceInterrupted(f"two readings have {first} and {differing}")
    outcome = mark(table, recorded, row, differing)
    reason = f"{differing} was read twice; the row has another" if differing else None
    return replace(read.result, outcome=outcome, reason=reason)


def mark(
    table: DigestsTable,
    recorded: Row,
    row: Row,
    differing: str | None = None,
    at: str | None = None,
) -> Outcome:
    """Mark *recorded* as verified by the reading of *row*, or note what two readings found.

    The reading was *at* a time, by default now.

    Returns:
        VERIFIED or DIFFERS; SUPERSEDED if a newer version has the recorded digest; GONE or
        SUPERSEDED if the row has changed since it was looked up.

    Raises:
        ClientError: DynamoDB refused.
    """
    outcome = Outcome.DIFFERS if differing else Outcome.VERIFIED
    outcome = _updated(table, mark_parameters(table, recorded, row, differing, at), outcome)
    if outcome is Outcome.DIFFERS:
        versions = table.versions_of(recorded.bucket, recorded.key)
        return Outcome.SUPERSEDED if is_repaired(recorded, versions) else outcome
    return outcome


def mark_refused(table: DigestsTable, recorded: Row, error: BucketsumError) -> Outcome:
    """Note in *recorded* since when and why it cannot be read, unless it is only archived.

    Returns:
        UNREADABLE or ARCHIVED; GONE or SUPERSEDED if the row has changed since it was looked up.

    Raises:
        ClientError: DynamoDB refused.
    """
    if isinstance(error, ObjectArchived):
        return Outcome.ARCHIVED
    since = recorded.failed_reading.at if recorded.failed_reading else now()
    changes = encoded(FailedReading(since, str(error)), "")
    return _updated(table, _update(table, recorded, changes), Outcome.UNREADABLE)


def mark_parameters(
    table: DigestsTable,
    recorded: Row,
    row: Row,
    differing: str | None = None,
    at: str | None = None,
) -> dict[str, Any]:
    """The parameters of the UpdateItem of `mark`."""
    if differing:
        changes = encoded(Difference(differing, at or now()), "")
    else:
        count = recorded.verified.count if recorded.verified else 0
        changes = encoded(Verified(at or now(), count + 1), "") | _added(recorded, row)
    removed = {*names_of(FailedReading)}
    if row.compared:
        changes |= encoded(row.compared, "")
        removed |= {*names_of(Compared)} - changes.keys()
    return _update(table, recorded, changes, sorted(removed))


def _updated(table: DigestsTable, update: dict[str, Any], outcome: Outcome) -> Outcome:
    try:
        table.dynamodb.update_item(**update)
    except table.dynamodb.exceptions.ConditionalCheckFailedException as error:
        is_deleted = "deletion_sequencer" in item_found(error)
        return Outcome.GONE if is_deleted else Outcome.SUPERSEDED
    return outcome


def _update(
    table: DigestsTable, recorded: Row, changes: Mapping[str, Any], removed: Iterable[str] = ()
) -> dict[str, Any]:
    """The parameters of an UpdateItem of *recorded*, if its row is the same and exists."""
    gone = [f"#{name}" for name in removed]
    same = compared("sha1", "=", recorded.sha1 or "") & absent("deletion_sequencer")
    same &= compared("sequencer", "=", comparable_sequencer(recorded.sequencer))
    return {
        "TableName": table.name,
        "Key": key_of(RowKey(recorded.bucket, recorded.key, recorded.entry)),
        "UpdateExpression": "SET "
        + ", ".join(f"#{name} = :new_{name}" for name in changes)
        + (f" REMOVE {', '.join(gone)}" if gone else ""),
        **same.parameters(
            names={f"#{name}": name for name in changes} | {name: name[1:] for name in gone},
            values={f":new_{name}": value for name, value in changes.items()},
        ),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _added(recorded: Row, row: Row) -> dict[str, Any]:
    """Digests, and the summary of an archive, that *row* has and *recorded* lacks."""
    present, names = item_of(recorded), {*names_of(ArchiveRecord), "remarks"}
    return {
        name: value
        for name, value in item_of(row).items()
        if name not in present and (name.startswith(DIGEST_PREFIX) or name in names)
    }

"""A verification: digests of a row, compared with another reading; imported at the first one.

A row that was verified keeps its digests: only attributes that it lacks are written, and only if
its digest and its event are still those that were compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bucketsum.algorithms import ALGORITHMS, SHA1
from bucketsum.clock import now
from bucketsum.hashing.ending import End, Purpose, require_agreement
from bucketsum.table.checksum_values import Compared
from bucketsum.table.codec import encoded
from bucketsum.table.condition import absent, compared
from bucketsum.table.digests_table import DigestsTable, item_found
from bucketsum.table.items import DIGEST_PREFIX, item_of, key_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import ArchiveRecord, Difference, FailedReading, Verified
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import comparable_sequencer
from bucketsum.table.state import is_repaired
from bucketsum.table.stored_fields import names_of


@dataclass(frozen=True, slots=True)
class Verification:
    """The `Ending` that compares a reading with a recorded row, and never replaces that.

    Attributes:
        expected: The recorded row.
        since: When the reading began, if a mark since then may be its own; None if none can be.
    """

    expected: Row
    since: str | None = None
    purpose = Purpose.VERIFY
    usual = Outcome.VERIFIED
    replaced = None

    @property
    def reads_members(self) -> bool:
        """See `Ending.reads_members`: those that have rows keep them."""
        return self.expected.archive is None

    def algorithms(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """See `Ending.algorithms`: those that the row has are compared too, if they are known."""
        known = (name for name in self.expected.digests if name in ALGORITHMS)
        return tuple(dict.fromkeys((*extra, *known)))

    def write(self, table: DigestsTable, row: Row) -> Mapping[str, Any] | None:
        """See `Ending.write` for the contract."""
        row = row.compared_as(self.expected.compared)
        is_equal = difference(self.expected, row) is None
        return _mark_parameters(table, self.expected, row) if is_equal else None

    def finish(self, table: DigestsTable, row: Row, before: str | None = None) -> End:
        """See `Ending.finish`; until a comparison is equal, S3's checksum differs as recorded."""
        row = row.compared_as(self.expected.compared)
        differing = difference(self.expected, row)
        require_agreement(row, differing, before)
        verified = self.expected.verified
        if not differing and self.since and verified and verified.at >= self.since:
            return End(Outcome.VERIFIED)  # the reading comes again
        outcome = mark(table, self.expected, row, differing)
        return End(outcome, differing and f"{differing} was read twice; the row has another")

    def refused(self, table: DigestsTable, row: Row) -> End:
        """See `Ending.refused`; notes since when and why, unless the object is only archived."""
        if row.status is Status.ARCHIVED:
            return End(Outcome.ARCHIVED, row.reason)
        failed = self.expected.failed_reading
        reading = FailedReading(failed.at if failed else now(), row.reason or "")
        update = _update(table, self.expected, encoded(reading, ""))
        return End(_updated(table, update, Outcome.UNREADABLE), row.reason)


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
    outcome = _updated(table, _mark_parameters(table, recorded, row, differing, at), outcome)
    if outcome is Outcome.DIFFERS:
        versions = table.versions_of(recorded.bucket, recorded.key)
        return Outcome.SUPERSEDED if is_repaired(recorded, versions) else outcome
    return outcome


def _mark_parameters(
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
    if (sequencer := comparable_sequencer(row.sequencer)) > recorded.sequencer:
        changes["sequencer"] = {"S": sequencer}  # of the version's event, which came late
    removed = dict.fromkeys(names_of(FailedReading))
    if row.compared:
        removed |= dict.fromkeys(names_of(Compared))
        changes |= encoded(row.compared, "")
    return _update(table, recorded, removed | changes)


def _updated(table: DigestsTable, update: dict[str, Any], outcome: Outcome) -> Outcome:
    try:
        table.dynamodb.update_item(**update)
    except table.dynamodb.exceptions.ConditionalCheckFailedException as error:
        is_deleted = "deletion_sequencer" in item_found(error)
        return Outcome.GONE if is_deleted else Outcome.SUPERSEDED
    return outcome


def _update(table: DigestsTable, recorded: Row, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an UpdateItem of *recorded*, if its row is the same and exists."""
    same = compared("sha1", "=", recorded.sha1 or "") & absent("deletion_sequencer")
    same &= compared("sequencer", "=", comparable_sequencer(recorded.sequencer))
    return {
        "TableName": table.name,
        "Key": key_of(RowKey(recorded.bucket, recorded.key, recorded.entry)),
        **same.update(changes),
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

"""A recording: the row of a reading is written, unless the table has this event or a newer one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bucketsum.errors import ObjectGone, ObjectSuperseded, Unordered
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import End, Ending, Purpose, require_agreement, verification_of
from bucketsum.hashing.object_rows import is_newer
from bucketsum.s3.source import Source
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.event_order import MISSED_ROW
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, RowKey, row_key_of
from bucketsum.table.sequencer import comparable_sequencer


@dataclass(frozen=True, slots=True)
class Recording:
    """The `Ending` that writes the row of a reading.

    Attributes:
        expected: What the table must still hold, see `DigestsTable.replace`; None if nothing was
            looked up. That S3 still has the object shows that it is newer than that.
    """

    expected: Row | Deletion | None = None
    purpose = Purpose.RECORD
    usual = Outcome.HASHED
    reads_members = True

    @property
    def replaced(self) -> Row | None:
        """See `Ending.replaced` for the contract."""
        return self.expected if isinstance(self.expected, Row) else None

    def algorithms(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """See `Ending.algorithms` for the contract."""
        return extra

    def write(self, table: DigestsTable, row: Row) -> Mapping[str, Any] | None:
        """See `Ending.write` for the contract."""
        return None if row.contradiction or self.expected else table.put_parameters(row)

    def finish(self, table: DigestsTable, row: Row, before: str | None = None) -> End:
        """See `Ending.finish`; a recorded digest of the version is verified, never replaced."""
        require_agreement(row, row.contradiction, before)
        outcome = self.record(table, row)
        if outcome is Outcome.SUPERSEDED and self.expected and row.version.is_null:
            raise Unordered(MISSED_ROW)
        if outcome is Outcome.UNCHANGED and (recorded := _recorded_before(table, row)):
            return verification_of(recorded).finish(table, row, before)
        is_row = outcome is Outcome.HASHED
        if is_row and row.compared and row.contradiction:
            reason = f"S3's checksum is {row.compared.checksum}; two readings: {row.contradiction}"
            return End(Outcome.DIFFERS, reason, is_row)
        return End(outcome, is_row=is_row)

    def refused(self, table: DigestsTable, row: Row) -> End | None:
        """See `Ending.refused`; without S3's word, only its times say which object is newer."""
        if not is_newer(row, self.expected):
            return None
        outcome = self.record(table, row)  # an earlier digest of it is kept
        return End(outcome, row.reason, outcome in (Outcome.UNREADABLE, Outcome.ARCHIVED))

    def record(self, table: DigestsTable, row: Row) -> Outcome:
        """Write *row*, in place of the expected one if there is one.

        Raises:
            Unordered: No event orders a listed object, and a row of another one is there.
            ClientError: DynamoDB refused.
        """
        seen = self.replaced
        if seen and (outcome := table.replace(row, seen)) is not Outcome.UNCHANGED:
            return outcome  # else it was replaced before, perhaps by a reason
        outcome = table.record(row)
        if outcome is Outcome.SUPERSEDED and not (row.sequencer or self.expected):
            raise Unordered(MISSED_ROW)
        return outcome


def finished(
    ending: Ending,
    table: DigestsTable,
    source: Source,
    created: ObjectCreated,
    row: Row,
    before: str | None,
) -> End:
    """Finish the reading of *row*; *source* says whether *created* is newer than an unordered row.

    Raises:
        BucketsumError: As `Ending.finish` and `Source.open`.
        ClientError: DynamoDB refused.
    """
    try:
        return ending.finish(table, row, before)
    except Unordered:
        seen = table.row_at(row_key_of(created), consistent=True)
        if seen is None or not row.version.is_null:
            raise  # another look-up finds out
        try:
            source.open(created).chunks.close()
        except (ObjectGone, ObjectSuperseded):
            return End(Outcome.SUPERSEDED)
        if seen.has_digest_of(row.etag):
            return End(Outcome.SUPERSEDED)
        own, last = comparable_sequencer(row.sequencer), seen.deletion or seen
        sequencer = max(own, comparable_sequencer(last.sequencer))
        if row.archive and row.archive.members and sequencer != own:
            raise  # its members have the sequencer of their reading
        return Recording(seen).finish(table, replace(row, sequencer=sequencer), before)


def _recorded_before(table: DigestsTable, row: Row) -> Row | None:
    """The row of the version of *row*, if another event or a listing has recorded a digest."""
    if row.version.is_null:
        return None
    recorded = table.row_at(RowKey(row.bucket, row.key, row.entry), consistent=True)
    if recorded is None or not recorded.has_digest_of(row.etag):
        return None
    return recorded if recorded.sequencer < comparable_sequencer(row.sequencer) else None

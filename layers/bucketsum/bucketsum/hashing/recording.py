"""A recording: the row of a reading is written, unless the table has this event or a newer one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bucketsum.errors import ListedSince, ObjectGone, ObjectSuperseded, RowContended
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import End, Ending, Purpose, require_agreement, verification_of
from bucketsum.hashing.object_rows import is_newer
from bucketsum.s3.source import Source
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Deletion
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.sequencer import comparable_sequencer

MISSED_ROW: Final = "the look-up missed a row of another object of this key"


@dataclass(frozen=True, slots=True)
class Recording:
    """The `Ending` that writes the row of a reading.

    Attributes:
        expected: What the table must still hold, see `DigestsTable.replace`; None if nothing was
            looked up. That S3 still has the object shows that it is newer than that.
        older: The entity tag of a listed object that is older, as S3 has shown likewise.
    """

    expected: Row | Deletion | None = None
    older: str | None = None
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
            RowContended: No event orders a listed object, and a row of another one is there:
                another look-up decides whether it replaces that.
            ListedSince: See `DigestsTable.record`.
            ClientError: DynamoDB refused.
        """
        outcome = table.replace(row, self.replaced) if self.replaced else Outcome.UNCHANGED
        if outcome is Outcome.UNCHANGED:  # it was replaced before, perhaps by a reason
            outcome = table.record(row, self.older)
        if outcome is Outcome.SUPERSEDED and (self.expected or not row.sequencer):
            raise RowContended(MISSED_ROW)
        return outcome


def finished(
    ending: Ending,
    table: DigestsTable,
    source: Source,
    created: ObjectCreated,
    row: Row,
    before: str | None,
) -> End:
    """Finish the reading of *row*; *source* says whether *created* is newer than a listed object.

    Raises:
        BucketsumError: As `Ending.finish` and `Source.open`.
        ClientError: DynamoDB refused.
    """
    try:
        return ending.finish(table, row, before)
    except ListedSince as error:
        try:
            source.open(created).chunks.close()
        except (ObjectGone, ObjectSuperseded):
            return End(Outcome.SUPERSEDED)
        return Recording(older=error.etag).finish(table, row, before)


def _recorded_before(table: DigestsTable, row: Row) -> Row | None:
    """The row of the version of *row*, if another event or a listing has recorded a digest."""
    if row.version.is_null:
        return None
    recorded = table.row_at(RowKey(row.bucket, row.key, row.entry), consistent=True)
    if recorded is None or not recorded.has_digest_of(row.etag):
        return None
    return recorded if recorded.sequencer < comparable_sequencer(row.sequencer) else None

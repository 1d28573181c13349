"""A backfill or a verification of one key of a self-test, and its report.

The records of both stay: each run has its report in the chain, which would break.
"""

from __future__ import annotations

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.progress import RecordedProgress
from bucketsum_cli.backfill.purpose_words import BACKFILL, VERIFICATION, PurposeWords
from bucketsum_cli.backfill.reports import ReadReport, Reports
from bucketsum_cli.selftest.scratch import Scratch
from bucketsum_cli.terminal.errors import CannotDoError


def run_of(
    row_key: RowKey, scratch: Scratch, kind: PurposeWords = BACKFILL
) -> RecordedProgress | None:
    """Run a backfill or a verification of the key; None if it does not end in time."""
    backfills = Backfills(scratch.stack, kind)
    started = Backfill(
        backfill_id=new_execution_name(),
        bucket=row_key.bucket,
        status=BackfillStatus.RUNNING,
        started_at=now(),
        prefix=row_key.key,
        purpose=kind.purpose,
    )
    backfills.start(started)

    def look() -> RecordedProgress | None:
        progress = backfills.progress(started.backfill_id)
        return progress if progress.is_over else None

    return scratch.until(look)


def report_of(run_id: str, scratch: Scratch) -> ReadReport | None:
    """Wait for the report of a verification; None if it does not come in time."""

    def look() -> ReadReport | None:
        try:
            return Reports(scratch.stack, VERIFICATION).read(run_id)
        except CannotDoError:
            return None

    return scratch.until(look)

"""A backfill of one key of a self-test."""

from __future__ import annotations

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.clock import now
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.backfill.backfills import Backfills, RecordedProgress
from bucketsum_cli.selftest.scratch import Scratch


def backfill_of(row_key: RowKey, scratch: Scratch) -> RecordedProgress | None:
    """Run a backfill of the key, and wait for its end; None if it does not end in time."""
    backfills = Backfills(scratch.stack)
    started = Backfill(
        backfill_id=new_execution_name(),
        bucket=row_key.bucket,
        status=BackfillStatus.RUNNING,
        started_at=now(),
        prefix=row_key.key,
    )
    scratch.expect_backfill(started.backfill_id)
    backfills.start(started)

    def look() -> RecordedProgress | None:
        progress = backfills.progress(started.backfill_id)
        return progress if progress.is_over else None

    return scratch.until(look)

"""The end of a run that a command waits for: its last object, and its report."""

from __future__ import annotations

import time
from typing import Final

from bucketsum_cli.backfill.backfills import Backfills
from bucketsum_cli.backfill.progress import RecordedProgress
from bucketsum_cli.backfill.report_views import print_findings
from bucketsum_cli.backfill.reports import Reports
from bucketsum_cli.backfill.views import print_progress
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, end_if
from bucketsum_cli.terminal.live_progress import progress
from bucketsum_cli.terminal.output import note

_POLL_SECONDS: Final = 2.0


def awaited(backfills: Backfills, name: str) -> RecordedProgress:
    """Show a bar until nothing more happens; after Ctrl-C, say that only the bar ended."""
    reports = Reports(backfills.stack, backfills.words)
    try:
        with progress("{task.completed:,.0f} of {task.total:,.0f} objects") as bar:
            task = bar.add_task("reading", total=0)
            while True:
                current = backfills.progress(name)
                done = current.tally.objects
                step = "waiting for the report" if current.is_at_rest else "reading"
                total = done + (current.left or 0)
                bar.update(task, description=step, completed=done, total=total)
                is_reported = not current.is_at_rest or reports.has(current.backfill.run_id)
                if current.is_over and (is_reported or not backfills.is_running(current.backfill)):
                    return backfills.progress(name)  # its rows may say that it is done
                time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        note(f"{name} continues; `{backfills.words.line('stop', name)}` stops it")
        raise


def show_end(backfills: Backfills, ended: RecordedProgress, *, as_json: bool) -> None:
    """Show how a run *ended*, unless that was printed *as_json*; exit with 1 if not well."""
    reports = Reports(backfills.stack, backfills.words)
    if not as_json:
        print_progress(ended)
        print_findings(reports, ended.backfill)
    if not (ended.tally.objects or ended.backfill.older_than):
        note("no object was read: their storage class, version or sample leaves all of them out")
        raise SystemExit(ANSWER_IS_NO)
    problems = reports.problems_of(ended.backfill.run_id)
    end_if(ended.has_failed or not ended.is_done or problems)

"""Tables and JSON of backfills and their estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.errors import DamagedItem
from bucketsum.hashing.ending import Purpose
from bucketsum_cli.backfill.progress import RecordedProgress
from bucketsum_cli.backfill.purpose_words import PurposeWords
from bucketsum_cli.backfill.work import Work
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.documents import document_of
from bucketsum_cli.terminal.formatting import (
    MISSING,
    count_text,
    hours_text,
    moment_text,
    size_text,
    tally_text,
)
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import say
from bucketsum_cli.terminal.tables import print_table

_LIST: Final = (
    Column("bucket", shrinks=True),
    Column("by", shrinks=True),
    Column("state"),
    Column("queued", right=True),
    Column("done", right=True),
    Column("time", right=True),
    Column("USD", right=True),
    Column("report", shrinks=True),
)


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """A backfill; all but the first three fields are null if another program damaged it."""

    backfill: Annotated[str, "ID of the backfill; null with --dry-run."]
    state: Annotated[
        str, "`running`, `stopped`, `queued`, `done`, `incomplete`, `failed` or `damaged`."
    ]
    failure: Annotated[str | None, "Status of the failed execution, or the damage."]
    cause: Annotated[str | None, "Error and cause of the failed execution."] = None
    record: Annotated[Backfill | None, "What was started, and when."] = None
    run: Annotated[str | None, "The run that it belongs to, perhaps with other buckets."] = None
    queued: Annotated[Work | None, "Objects that were queued."] = None
    tally: Annotated[Tally | None, "Objects that are done, by outcome."] = None
    archived: Annotated[int | None, "Archived objects: recorded, not read."] = None
    parts: Annotated[int | None, "Ranges of keys, or files of the inventory."] = None
    parts_done: Annotated[int | None, "Parts of which all objects are queued."] = None
    failed_parts: Annotated[Sequence[Part] | None, "Parts with a failure."] = None
    left: Annotated[int | None, "Objects not processed yet; null if not known."] = None
    objects_per_second: Annotated[float | None, "Mean rate."] = None
    usd: Annotated[float | None, "Estimated US dollars so far."] = None
    seconds: Annotated[float | None, "Time since it was started, or that it took."] = None
    report: Annotated[str | None, "URL of its report's folder; `table` if only there."] = None


def print_list(
    listed: Iterable[RecordedProgress | DamagedItem], words: PurposeWords, places: Mapping[str, str]
) -> None:
    """Show a line for each backfill, or for each verification; *places* are those of reports."""
    print_table((Column(words.name), *_LIST), (_cells(progress, places) for progress in listed))


def _cells(progress: RecordedProgress | DamagedItem, places: Mapping[str, str]) -> list[str | Cell]:
    if isinstance(progress, DamagedItem):
        return [progress.name, MISSING, MISSING, Cell("damaged", "red"), *[MISSING] * 5]
    differing = tally_text({"differs": progress.tally.differs})
    return [
        progress.backfill.backfill_id,
        f"{progress.backfill.bucket}/{progress.backfill.prefix or ''}",
        (progress.backfill.started_by or MISSING).rpartition("/")[2],
        Cell(f"{progress.state}, {differing}", "red") if differing else progress.state,
        f"{progress.queued.object_count:,}",
        f"{progress.tally.objects:,}",
        hours_text(progress.seconds / 3600),
        f"{progress.usd:,.2f}",
        places.get(progress.backfill.run_id, MISSING),
    ]


def print_progress(progress: RecordedProgress) -> None:
    """Show everything about one backfill."""
    backfill, tally, queued = progress.backfill, progress.tally, progress.queued
    say(f"{backfill.backfill_id}: {progress.state}, s3://{backfill.bucket}/{backfill.prefix or ''}")
    if progress.failure:
        say(progress.failure)
    if progress.failed and progress.failed.cause:
        say(f"cause    {progress.failed.cause}")
    for part in progress.parts:
        if part.failure:
            say(f"part {part.number:<3} {part.failure}")
    say(f"started  {moment_text(backfill.started_at)} UTC, execution {backfill.executions}")
    say(f"queued   {count_text(queued.object_count, 'object')}, {size_text(queued.size_bytes)}; "
        f"{progress.parts_done} of {count_text(len(progress.parts), 'part')}")  # fmt: skip
    verifies = backfill.purpose is Purpose.VERIFY
    if progress.archived:
        say(f"archived {progress.archived:,}: not read; restored, they are hashed")
    if verifies:
        say(f"verified {tally.verified:,} ({size_text(tally.verified_bytes)}), "
            f"differs {tally.differs:,}")  # fmt: skip
    say(f"done     {tally.objects:,}: hashed {tally.hashed:,} ({size_text(tally.hashed_bytes)}), "
        f"skipped {tally.skipped:,}, superseded {tally.superseded:,}, gone {tally.gone:,}, "
        f"unreadable {tally.unreadable:,}, in slices {tally.long:,}, failed "
        f"{tally.failed:,}")  # fmt: skip
    say(f"left     {_left_text(progress)}")
    say(f"rate     {progress.objects_per_second:,.1f} objects per second")
    say(f"cost     {progress.usd:,.4f} USD so far")
    _say_next_steps(tally, backfill.bucket)


def _say_next_steps(tally: Tally, bucket: str) -> None:
    if tally.differs:
        repair = command_line("repair", "KEY", "--bucket", bucket)
        say("differs: S3 now returns other bytes than were recorded. The report names the objects, "
            f"and `{repair}` restores one")  # fmt: skip
    if tally.unreadable:
        say(f"unreadable: `{command_line('coverage', bucket)}` shows the reasons")


def _left_text(progress: RecordedProgress) -> str:
    if progress.is_incomplete:
        twice = "not known: some were counted twice, so others may be missing"
        left = f"{progress.left:,} not counted" if progress.left else twice
        return f"{left}: see `{command_line('failures')}`, or repeat it"
    if progress.left is None:
        waiting = max(0, progress.queued.object_count - progress.tally.objects)
        if progress.backfill.status is BackfillStatus.QUEUED:
            return "not known: some were counted twice; it ends 5 min after the queue is empty"
        return f"{waiting:,} of the queued objects; the total is not known"
    if progress.left and progress.left == progress.tally.long:
        return f"{progress.left:,} in slices; `{command_line('status')}` shows them"
    if progress.left and progress.objects_per_second:
        hours = progress.left / progress.objects_per_second / 3600
        return f"{progress.left:,}, {hours_text(hours)} at this rate"
    return f"{progress.left:,}"


def progress_document(
    progress: RecordedProgress | DamagedItem, places: Mapping[str, str] | None = None
) -> BackfillProgress:
    """Return a backfill as a document."""
    if isinstance(progress, DamagedItem):
        return BackfillProgress(progress.name, "damaged", str(progress))
    return document_of(
        BackfillProgress,
        progress,
        backfill=progress.backfill.backfill_id,
        cause=progress.failed.cause or None if progress.failed else None,
        record=progress.backfill,
        run=progress.backfill.run_id,
        parts=len(progress.parts),
        failed_parts=[part for part in progress.parts if part.failure],
        report=(places or {}).get(progress.backfill.run_id),
    )

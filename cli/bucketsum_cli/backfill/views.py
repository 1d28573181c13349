"""Tables and JSON of backfills and their estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from bucketsum.backfill.backfill_records import BackfillStatus
from bucketsum.errors import DamagedItem
from bucketsum.hashing.ending import Purpose
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

if TYPE_CHECKING:
    from bucketsum.backfill.backfill_records import Tally
    from bucketsum_cli.backfill.backfills import PurposeWords, RecordedProgress
    from bucketsum_cli.terminal.documents import Moment

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
_OUTCOMES: Final = (
    "hashed", "verified", "skipped", "superseded", "gone", "unreadable", "failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartFailure:
    """The last failure of a part, which is one of a backfill's ranges of keys."""

    part: Annotated[int, "Number of the part."]
    reason: str


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """A backfill; all but the first three fields are null if another program damaged it."""

    backfill: Annotated[str, "ID of the backfill; null with --dry-run."]
    state: Annotated[
        str, "`running`, `stopped`, `queued`, `done`, `incomplete`, `failed` or `damaged`."
    ]
    failure: Annotated[str | None, "Status of the failed execution, or the damage."]
    bucket: str | None = None
    prefix: Annotated[str | None, "Beginning of the keys; empty for all."] = None
    all_versions: Annotated[bool | None, "Whether overwritten versions are hashed."] = None
    inventory: Annotated[str | None, "URL of the inventory's manifest."] = None
    limit: Annotated[int | None, "Maximum number of objects to queue."] = None
    cause: Annotated[str | None, "Error and cause of the failed execution."] = None
    part_failures: Annotated[Sequence[PartFailure] | None, "Last failure of each part."] = None
    started_at: Moment | None = None
    ended_at: Annotated[Moment | None, "When its listing ended."] = None
    executions: Annotated[int | None, "Executions of the state machine; `resume` adds one."] = None
    queued_objects: Annotated[int | None, "Objects that were queued."] = None
    queued_bytes: Annotated[int | None, "Their size."] = None
    archived_objects: Annotated[int | None, "Archived objects: recorded, not read."] = None
    purpose: Annotated[str | None, "`record`, or `verify` for a verification."] = None
    older_than: Annotated[Moment | None, "Only objects recorded and verified before."] = None
    missing: Annotated[str | None, "Only rows that lack this digest, or `members`."] = None
    sample: Annotated[float | None, "Share of the keys."] = None
    storage_classes: Annotated[Sequence[str] | None, "Only objects of these."] = None
    parts: Annotated[int | None, "Ranges of keys, or files of the inventory."] = None
    parts_done: Annotated[int | None, "Parts of which all objects are queued."] = None
    hashed_objects: Annotated[int | None, "Objects that were read and recorded."] = None
    verified_objects: Annotated[int | None, "Read again, with the recorded digests."] = None
    verified_bytes: Annotated[int | None, "Their size."] = None
    differing_objects: Annotated[int | None, "Read twice again, with another digest."] = None
    skipped_objects: Annotated[int | None, "Objects that had been recorded before."] = None
    superseded_objects: Annotated[int | None, "Overwritten, or with a newer row."] = None
    gone_objects: Annotated[int | None, "Objects that were deleted since they were listed."] = None
    unreadable_objects: Annotated[int | None, "Objects with a reason, and no digest."] = None
    sliced_objects: Annotated[int | None, "Long objects, which are hashed in slices."] = None
    failed_objects: Annotated[int | None, "Objects in the dead-letter queue."] = None
    hashed_bytes: Annotated[int | None, "Total size of the hashed objects."] = None
    left_objects: Annotated[int | None, "Objects not processed yet; null if not known."] = None
    objects_per_second: Annotated[float | None, "Mean rate."] = None
    usd: Annotated[float | None, "Estimated US dollars so far."] = None
    run: Annotated[str | None, "The run that it belongs to, perhaps with other buckets."] = None
    started_by: Annotated[str | None, "ARN of the caller, or `schedule`."] = None
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
        say(f"checked  {tally.verified + tally.differs:,}: verified {tally.verified:,} "
            f"({size_text(tally.verified_bytes)}), differs {tally.differs:,}")  # fmt: skip
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
    backfill, tally, queued = progress.backfill, progress.tally, progress.queued
    outcomes = {f"{name}_objects": getattr(tally, name) for name in _OUTCOMES}
    return document_of(
        BackfillProgress,
        progress,
        backfill,
        tally,
        backfill=backfill.backfill_id,
        prefix=backfill.prefix or "",
        cause=progress.failed.cause or None if progress.failed else None,
        part_failures=[
            PartFailure(part.number, part.failure) for part in progress.parts if part.failure
        ],
        queued_objects=queued.object_count,
        queued_bytes=queued.size_bytes,
        archived_objects=progress.archived,
        parts=len(progress.parts),
        differing_objects=tally.differs,
        sliced_objects=tally.long,
        left_objects=progress.left,
        run=backfill.run_id,
        report=(places or {}).get(backfill.run_id),
        **outcomes,
    )

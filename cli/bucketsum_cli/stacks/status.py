"""The state of a stack: messages, speed, errors, cost and running sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, is_complete
from bucketsum.backfill.overdue import overdue
from bucketsum.backfill.rest import MESSAGE_DAYS, days_ago
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now as now_text
from bucketsum.errors import DamagedItem
from bucketsum.hashing.ending import Purpose
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.reports import open_findings
from bucketsum_cli.buckets.served_buckets import attached_to
from bucketsum_cli.objects.long_objects import DAMAGED, LongObject, long_object
from bucketsum_cli.stacks.activity import Activity, absent_metrics, activity_of, estimated_usd
from bucketsum_cli.stacks.event_sources import EventSource, event_sources_of, quota_problem
from bucketsum_cli.terminal.documents import INLINE, Moment

_NOUNS: Final = {Purpose.RECORD: "backfill", Purpose.VERIFY: "verification"}
_WAITING: Final = "ApproximateNumberOfMessages"
_IN_FLIGHT: Final = "ApproximateNumberOfMessagesNotVisible"


@dataclass(frozen=True, slots=True)
class BucketProblems:
    """Missing parts on the path of a bucket's events."""

    bucket: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StackStatus:
    """The state of a stack; a field is null if the credentials do not allow reading it."""

    stack: str
    region: Annotated[str, "AWS Region of the stack."]
    checked_at: Annotated[Moment, "When the state was read."]
    waiting_messages: Annotated[int | None, "Messages in the arrivals queue, roughly."]
    in_flight_messages: Annotated[int | None, "Messages that the hasher has received, roughly."]
    dead_letter_messages: Annotated[int | None, "Failed messages, roughly."]
    activity: Activity = field(metadata=INLINE)
    estimated_usd_this_month: Annotated[
        float | None, "Estimated price of the hasher's Lambda use in this month (UTC)."
    ]
    running_sweeps: Annotated[tuple[str, ...] | None, "Names of sweeps."]
    damaged_sweeps: Annotated[tuple[str, ...], "Names of sweeps that another program changed."]
    long_objects: Annotated[tuple[LongObject, ...] | None, "Objects that are hashed in slices."]
    bucket_problems: Annotated[
        tuple[BucketProblems, ...] | None, "Buckets of the stack, as `buckets` shows them."
    ]
    running_backfills: Annotated[
        tuple[str, ...] | None, "Names of backfills and verifications, the newest first."
    ]
    damaged_backfills: Annotated[tuple[str, ...], "Backfills that another program changed."]
    overdue_verifications: Annotated[
        Mapping[str, str] | None, "Buckets whose scheduled verification is overdue → why."
    ]
    open_findings: Annotated[
        Mapping[str, str] | None, "Buckets with objects that differ or are lost → how many."
    ]
    event_sources: Annotated[tuple[EventSource, ...] | None, "The event source mappings."]
    notes: Annotated[tuple[str, ...], "Reasons why fields are null; remarks on prices."]

    @property
    def needs_attention(self) -> bool:
        """Whether messages failed, objects are not hashed or differ, or an item is damaged."""
        return (
            bool(self.dead_letter_messages or self.activity.differing_last_day)
            or not all(source.enabled for source in self.event_sources or ())
            or bool(self.damaged_sweeps or self.damaged_backfills)
            or bool(self.overdue_verifications or self.open_findings)
            or any(item.slices_status == DAMAGED for item in self.long_objects or ())
            or any(bucket.problems for bucket in self.bucket_problems or ())
        )


def stack_status(
    stack: Stack,
    reads: Reads,
    running_sweeps: tuple[str | DamagedItem, ...] | None = (),
    bucket_problems: tuple[BucketProblems, ...] | None = None,
) -> StackStatus:
    """Read the state of *stack*; the last two arguments were read through *reads* as well.

    Its denials are of values on which `StackStatus.needs_attention` stands.
    """
    now, further = datetime.now(UTC), Reads()
    nothing: Mapping[str, int] = {}
    arrivals = reads(lambda: _attributes(stack, stack.arrivals_queue_url)) or nothing
    dead = reads(lambda: _attributes(stack, stack.dead_letter_queue_url)) or nothing
    activity = reads(lambda: activity_of(stack, now))
    usd, price_note = further(lambda: estimated_usd(stack, now)) or (None, None)
    in_slices = reads(lambda: tuple(map(long_object, stack.progress_table().in_progress())))
    sources = reads(lambda: event_sources_of(stack))
    table = stack.runs_table()
    recorded = reads(lambda: tuple(table.backfills()))
    backfills = [item for item in recorded or () if isinstance(item, DamagedItem)]
    running = further(lambda: tuple(_running(table, recorded or ())))
    late = reads(lambda: _overdue(stack, recorded or ()))
    findings = reads(lambda: open_findings(stack, recorded or ()))
    quota_note = further(lambda: quota_problem(stack, sources) if sources else None)
    own_notes = (absent_metrics(stack, activity), price_note, quota_note)
    denials = dict.fromkeys((*reads.denials, *further.denials))
    damaged = [run for run in running_sweeps or () if isinstance(run, DamagedItem)]
    texts = (str(item) for item in (*damaged, *backfills))
    names = (run for run in running_sweeps or () if isinstance(run, str))
    sweeps = None if running_sweeps is None else tuple(names)
    return StackStatus(
        stack=stack.name,
        region=stack.connection.region,
        checked_at=now,
        waiting_messages=arrivals.get(_WAITING),
        in_flight_messages=arrivals.get(_IN_FLIGHT),
        dead_letter_messages=sum(dead.values()) if dead else None,
        activity=activity or Activity(),
        estimated_usd_this_month=usd,
        running_sweeps=sweeps,
        damaged_sweeps=tuple(run.name for run in damaged),
        long_objects=in_slices,
        bucket_problems=bucket_problems,
        running_backfills=None if recorded is None else running,
        damaged_backfills=tuple(item.name for item in backfills),
        overdue_verifications=late,
        open_findings=findings,
        event_sources=sources,
        notes=(*filter(None, own_notes), *texts, *denials),
    )


def _running(table: BackfillsTable, recorded: Iterable[Backfill | DamagedItem]) -> Iterator[str]:
    """Names of the runs that are not over; those of before a message's longest life are."""
    for run in recorded:
        if isinstance(run, DamagedItem) or run.started_at < days_ago(MESSAGE_DAYS):
            continue
        name = f"{run.backfill_id} ({_NOUNS[run.purpose]} of {run.bucket})"
        if run.status is BackfillStatus.RUNNING:
            yield name
        elif run.status is BackfillStatus.QUEUED and not run.rested_at:
            tally, _ = table.tally(run.backfill_id)
            if not is_complete(table.parts(run.backfill_id), tally):
                yield name


def _overdue(stack: Stack, recorded: Iterable[Backfill | DamagedItem]) -> dict[str, str]:
    """The buckets that `VerifySchedule` promises to verify, and has not verified in time."""
    if not (schedule := stack.parameters.get("VerifySchedule", "")):
        return {}
    runs = [run for run in recorded if not isinstance(run, DamagedItem)]
    days = int(stack.parameters["VerifyOlderThanDays"])
    seen = stack.evidence_table().watched()
    buckets = (stack.bucket, *attached_to(stack))
    return overdue(buckets, runs, schedule, days, {b: seen.get(b, now_text()) for b in buckets})


def _attributes(stack: Stack, queue_url: str) -> Mapping[str, int]:
    attributes = stack.queue_attributes(queue_url)
    return {name: int(attributes[name]) for name in (_WAITING, _IN_FLIGHT)}

"""The state of a stack: messages, speed, errors, cost and running sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, is_complete
from bucketsum.backfill.overdue import overdue
from bucketsum.backfill.plan import enqueuers_for
from bucketsum.backfill.rest import MESSAGE_DAYS, days_ago
from bucketsum.clock import now as now_text
from bucketsum.errors import DamagedItem
from bucketsum.hashing import metric
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import FREE_STORAGE_MB, prices_in
from bucketsum.queue.dead_letters import Fate
from bucketsum.table.outcome import Outcome
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.metrics import (
    MetricStatistic,
    Values,
    lambda_metric,
    metric_values,
    own_metric,
)
from bucketsum_cli.aws.stack import Stack, queue_name
from bucketsum_cli.backfill.reports import open_findings
from bucketsum_cli.buckets.served_buckets import attached_to
from bucketsum_cli.objects.long_objects import DAMAGED, LongObject, long_object
from bucketsum_cli.terminal.documents import INLINE, Moment

if TYPE_CHECKING:
    from bucketsum.backfill.table import BackfillsTable

MAPPING_IS_MISSING: Final = "missing"

MAXIMA: Final = {
    "MaximumConcurrency": "ArrivalsQueueUrl",
    "BackfillConcurrency": "BackfillQueueUrl",
    "LongObjectConcurrency": "LongObjectsQueueUrl",
}
"""Parameter with a mapping's maximum concurrency → output with its queue."""

_NOUNS: Final = {Purpose.RECORD: "backfill", Purpose.VERIFY: "verification"}
_ON: Final = frozenset({"Creating", "Enabling", "Enabled", "Updating"})
_WAITING: Final = "ApproximateNumberOfMessages"
_IN_FLIGHT: Final = "ApproximateNumberOfMessagesNotVisible"


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source mapping: it invokes a function with the messages of a queue."""

    queue: Annotated[str, "The queue: `Arrivals`, `Backfill` or `LongObjects`."]
    state: Annotated[str, "The mapping's state in Lambda, or `missing`."]
    enabled: Annotated[bool, "Whether it invokes the function."] = False
    maximum_concurrency: Annotated[int | None, "Its maximum of concurrent invocations."] = None


@dataclass(frozen=True, slots=True)
class Activity:
    """Work of the hasher, from CloudWatch; None where there is no such metric."""

    hashed_last_hour: Annotated[int | None, "Number of hashed objects."] = None
    hashed_last_day: Annotated[int | None, "Number of hashed objects."] = None
    bytes_last_hour: Annotated[int | None, "Their total size."] = None
    bytes_last_day: Annotated[int | None, "Their total size."] = None
    mb_per_s: float | None = None
    unreadable_last_day: Annotated[int | None, "Unreadable objects."] = None
    differing_last_day: Annotated[int | None, "Objects with other bytes than recorded."] = None
    dead_lettered_last_day: Annotated[int | None, "Failed messages."] = None
    errors_last_day: Annotated[int | None, "Invocations that died or did not start."] = None
    oldest_waiting_seconds: Annotated[float | None, "Age of the oldest waiting message."] = None


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
    activity = reads(lambda: _activity(stack, now))
    usd, price_note = further(lambda: _estimated_usd(stack, now)) or (None, None)
    in_slices = reads(lambda: tuple(map(long_object, stack.progress_table().in_progress())))
    sources = reads(lambda: tuple(event_source_of(stack, queue) for queue in MAXIMA.values()))
    table = stack.runs_table()
    recorded = reads(lambda: tuple(table.backfills()))
    backfills = [item for item in recorded or () if isinstance(item, DamagedItem)]
    running = further(lambda: tuple(_running(table, recorded or ())))
    late = reads(lambda: _overdue(stack, recorded or ()))
    findings = reads(lambda: open_findings(stack, recorded or ()))
    quota_note = further(lambda: quota_problem(stack))
    own_notes = (_absent_metrics(stack, activity), price_note, quota_note)
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


def quota_problem(stack: Stack) -> str | None:
    """A sentence if the account allows fewer executions than the mappings may use, else None."""
    if stack.connection.is_local:
        return None
    sources = {name: event_source_of(stack, queue) for name, queue in MAXIMA.items()}
    maxima = {name: source.maximum_concurrency or 0 for name, source in sources.items()}
    wanted = executions_of(maxima)
    limits = stack.client("lambda").get_account_settings()["AccountLimit"]
    quota = limits["UnreservedConcurrentExecutions"]
    if quota >= wanted:
        return None
    first = max(2, quota - 2 * (len(MAXIMA) - 1) - enqueuers_for(2))
    lowered = [f"{name}={first if number == 0 else 2}" for number, name in enumerate(MAXIMA)]
    return (
        f"the account has {quota} concurrent executions, the functions may use {wanted}: throttled "
        "batches wait for 90 minutes, and end in the dead-letter queue. Request more with `aws "
        "service-quotas request-service-quota-increase --service-code lambda --quota-code "
        "L-B99A9384 --desired-value 1000`, or until then `sam deploy "
        f"--parameter-overrides {' '.join(lowered)}`"
    )


def executions_of(maxima: Mapping[str, int]) -> int:
    """Return how many executions the functions may use at once, by the parameters in `MAXIMA`."""
    return sum(maxima.values()) + enqueuers_for(maxima["BackfillConcurrency"])


def event_source_of(stack: Stack, queue: str) -> EventSource:
    """The event source mapping of a queue, which is an output of the stack."""
    is_long = queue == MAXIMA["LongObjectConcurrency"]
    function = stack.outputs["SlicerFunctionName"] if is_long else stack.function
    listed = stack.client("lambda").list_event_source_mappings(FunctionName=function)
    name = f":{queue_name(stack.outputs[queue])}"
    for mapping in listed["EventSourceMappings"]:
        if not mapping["EventSourceArn"].endswith(name):
            continue
        maximum = mapping.get("ScalingConfig", {}).get("MaximumConcurrency")
        state = mapping["State"]
        return EventSource(queue.removesuffix("QueueUrl"), state, state in _ON, maximum)
    return EventSource(queue.removesuffix("QueueUrl"), MAPPING_IS_MISSING)


def _attributes(stack: Stack, queue_url: str) -> Mapping[str, int]:
    attributes = stack.queue_attributes(queue_url)
    return {name: int(attributes[name]) for name in (_WAITING, _IN_FLIGHT)}


def _activity(stack: Stack, now: datetime) -> Activity:
    queue = {"QueueName": queue_name(stack.arrivals_queue_url)}
    metrics = {
        "hashed": own_metric(stack, metric.OUTCOMES[Outcome.HASHED]),
        "hashed_bytes": own_metric(stack, metric.BYTES),
        "speeds": own_metric(stack, metric.SPEED),
        "measured": own_metric(stack, metric.SPEED, "SampleCount"),
        "unreadable": own_metric(stack, metric.OUTCOMES[Outcome.UNREADABLE]),
        "differing": own_metric(stack, metric.OUTCOMES[Outcome.DIFFERS]),
        "dead_lettered": own_metric(stack, metric.FATES[Fate.DEAD_LETTERED]),
        "errors": lambda_metric(stack, "Errors"),
        "oldest": MetricStatistic("AWS/SQS", "ApproximateAgeOfOldestMessage", queue, "Maximum"),
    }
    hour = now - timedelta(hours=1)
    values = metric_values(stack.connection, metrics, now - timedelta(days=1), now)
    # AWS has no value for a time without objects; the emulator has none of this namespace at all.
    nothing = None if stack.connection.is_local else 0

    def count(name: str, since: datetime | None = None) -> int | None:
        total = values[name].total(since)
        return nothing if total is None else round(total)

    return Activity(
        hashed_last_hour=count("hashed", hour),
        hashed_last_day=count("hashed"),
        bytes_last_hour=count("hashed_bytes", hour),
        bytes_last_day=count("hashed_bytes"),
        mb_per_s=_mean(values["speeds"], values["measured"], hour),
        unreadable_last_day=count("unreadable"),
        differing_last_day=count("differing"),
        dead_lettered_last_day=count("dead_lettered"),
        errors_last_day=count("errors"),
        oldest_waiting_seconds=values["oldest"].newest(),
    )


def _mean(sums: Values, counts: Values, since: datetime) -> float | None:
    total, count = sums.total(since), counts.total(since)
    return round(total / count, 3) if total is not None and count else None


def _absent_metrics(stack: Stack, activity: Activity | None) -> str | None:
    if stack.connection.is_local and activity and activity.hashed_last_day is None:
        return "the local emulator has no metrics of SQS and of the hasher"
    return None


def _estimated_usd(stack: Stack, now: datetime) -> tuple[float | None, str | None]:
    """Lambda's estimated cost this month, and a note on it; no cost on the local emulator."""
    if stack.connection.is_local:
        return None, "the local emulator costs nothing"
    function = stack.function_configuration()
    prices = prices_in(stack.connection.region, function["Architectures"][0])
    note = f"the prices are those of {prices.priced_as}" if prices.priced_as else None
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    metrics = {name: lambda_metric(stack, name.title()) for name in ("duration", "invocations")}
    values = metric_values(stack.connection, metrics, month, now)
    duration_ms, invocations = values["duration"].total(), values["invocations"].total()
    if duration_ms is None or invocations is None:
        return 0.0, note
    storage_mb = function.get("EphemeralStorage", {}).get("Size", FREE_STORAGE_MB)
    first = prices.invocation_usd(duration_ms, function["MemorySize"], storage_mb)
    return first + (invocations - 1) * prices.request, note

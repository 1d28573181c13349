"""The state of a stack: messages, speed, errors, cost and running sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from bucketsum.errors import DamagedItem
from bucketsum.prices import FREE_STORAGE_MB, prices_in
from bucketsum_cli.aws.stack import Stack, queue_name
from bucketsum_cli.stacks.metrics import (
    Values,
    arrivals_metric,
    lambda_metric,
    metric_values,
    own_metric,
)
from bucketsum_cli.terminal.output import iso_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bucketsum.long_objects.progress import Progress

MAPPING_IS_MISSING: Final = "missing"

MAXIMA: Final = {
    "MaximumConcurrency": "ArrivalsQueueUrl",
    "BackfillConcurrency": "BackfillQueueUrl",
    "LongObjectConcurrency": "LongObjectsQueueUrl",
}
"""Parameter with a mapping's maximum concurrency → output with its queue."""

_ON: Final = frozenset({"Creating", "Enabling", "Enabled", "Updating"})
_WAITING: Final = "ApproximateNumberOfMessages"
_IN_FLIGHT: Final = "ApproximateNumberOfMessagesNotVisible"


@dataclass(frozen=True, slots=True)
class EventSource:
    """The event source mapping: it invokes the hasher with the messages of the arrivals queue."""

    state: str
    """Lambda's word, for example Enabled or Disabled; `MAPPING_IS_MISSING` if there is none."""
    maximum_concurrency: int | None = None

    @property
    def enabled(self) -> bool:
        """Whether messages reach the hasher."""
        return self.state in _ON


@dataclass(frozen=True, slots=True)
class Activity:
    """Work of the hasher, from CloudWatch; None where there is no such metric."""

    hashed_last_hour: int | None
    hashed_last_day: int | None
    bytes_last_hour: int | None
    bytes_last_day: int | None
    mb_per_s: float | None
    """Mean speed of an object in the last hour."""
    unreadable_last_day: int | None
    dead_lettered_last_day: int | None
    errors_last_day: int | None
    """Invocations that died or did not start."""
    oldest_waiting_seconds: float | None
    """Age of the oldest message in the arrivals queue."""


@dataclass(frozen=True, slots=True)
class StackStatus:
    """The state of a stack at a time."""

    stack: str
    region: str
    checked_at: str
    """ISO 8601 UTC."""
    waiting_messages: int
    """Messages in the arrivals queue, roughly, as all three."""
    in_flight_messages: int
    """Messages that the hasher has received and not finished."""
    dead_letter_messages: int
    activity: Activity
    estimated_usd_this_month: float | None
    """Lambda's price of the hasher since the month began, in UTC; None on the emulator."""
    running_sweeps: tuple[str, ...]
    long_objects: tuple[Progress | DamagedItem, ...]
    """Objects that are hashed in slices, or were stopped."""
    event_source: EventSource
    notes: tuple[str, ...]
    """Reasons for the values that are None, and for prices of another Region."""

    @property
    def needs_attention(self) -> bool:
        """Whether there are dead letters, nothing is hashed, or a long object is damaged."""
        is_damaged = any(isinstance(each, DamagedItem) for each in self.long_objects)
        return bool(self.dead_letter_messages) or not self.event_source.enabled or is_damaged


def stack_status(stack: Stack, running_sweeps: Iterable[str] = ()) -> StackStatus:
    """Read the state of *stack* now; the lab knows its *running_sweeps*.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    now = datetime.now(UTC)
    arrivals = _attributes(stack, stack.arrivals_queue_url)
    dead = _attributes(stack, stack.dead_letter_queue_url)
    usd, price_note = _estimated_usd(stack, now)
    activity = _activity(stack, now)
    return StackStatus(
        stack=stack.name,
        region=stack.connection.region,
        checked_at=iso_text(now),
        waiting_messages=arrivals[_WAITING],
        in_flight_messages=arrivals[_IN_FLIGHT],
        dead_letter_messages=dead[_WAITING] + dead[_IN_FLIGHT],
        activity=activity,
        estimated_usd_this_month=usd,
        running_sweeps=tuple(running_sweeps),
        long_objects=tuple(stack.progress_table().in_progress()),
        event_source=event_source_of(stack),
        notes=tuple(
            filter(None, [_absent_metrics(stack, activity), price_note, quota_problem(stack)])
        ),
    )


def quota_problem(stack: Stack) -> str | None:
    """The sentence for an account that allows fewer executions than the mappings; None if it does.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    if stack.connection.is_local:
        return None
    sources = {name: event_source_of(stack, queue) for name, queue in MAXIMA.items()}
    wanted = sum(source.maximum_concurrency or 0 for source in sources.values())
    limits = stack.client("lambda").get_account_settings()["AccountLimit"]
    quota = limits["UnreservedConcurrentExecutions"]
    if quota >= wanted:
        return None
    first = max(2, quota - 2 * (len(MAXIMA) - 1))
    lowered = [f"{name}={first if number == 0 else 2}" for number, name in enumerate(MAXIMA)]
    return (
        f"the account has {quota} concurrent executions, the functions may use {wanted}: throttled "
        "batches wait for 90 minutes, and end in the dead-letter queue. Request more with `aws "
        "service-quotas request-service-quota-increase --service-code lambda --quota-code "
        "L-B99A9384 --desired-value 1000`, or until then `sam deploy --config-file deploy.toml "
        f"--parameter-overrides {' '.join(lowered)}`"
    )


def event_source_of(stack: Stack, queue: str = "ArrivalsQueueUrl") -> EventSource:
    """The event source mapping of a queue, which is an output of the stack.

    Raises:
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    is_long = queue == MAXIMA["LongObjectConcurrency"]
    function = stack.outputs["SlicerFunctionName"] if is_long else stack.function
    listed = stack.client("lambda").list_event_source_mappings(FunctionName=function)
    name = f":{queue_name(stack.outputs[queue])}"
    for mapping in listed["EventSourceMappings"]:
        if not mapping["EventSourceArn"].endswith(name):
            continue
        maximum = mapping.get("ScalingConfig", {}).get("MaximumConcurrency")
        return EventSource(mapping["State"], maximum)
    return EventSource(MAPPING_IS_MISSING)


def _attributes(stack: Stack, queue_url: str) -> Mapping[str, int]:
    answer = stack.client("sqs").get_queue_attributes(
        QueueUrl=queue_url, AttributeNames=[_WAITING, _IN_FLIGHT]
    )
    return {name: int(value) for name, value in answer["Attributes"].items()}


def _activity(stack: Stack, now: datetime) -> Activity:
    metrics = {
        "hashed": own_metric(stack, "ObjectsHashed"),
        "hashed_bytes": own_metric(stack, "BytesHashed"),
        "speeds": own_metric(stack, "Speed"),
        "measured": own_metric(stack, "Speed", "SampleCount"),
        "unreadable": own_metric(stack, "ObjectsUnreadable"),
        "dead_lettered": own_metric(stack, "MessagesDeadLettered"),
        "errors": lambda_metric(stack, "Errors"),
        "oldest": arrivals_metric(stack, "ApproximateAgeOfOldestMessage"),
    }
    hour = now - timedelta(hours=1)
    values = metric_values(stack, metrics, now - timedelta(days=1), now)
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
        dead_lettered_last_day=count("dead_lettered"),
        errors_last_day=count("errors"),
        oldest_waiting_seconds=values["oldest"].newest(),
    )


def _mean(sums: Values, counts: Values, since: datetime) -> float | None:
    total, count = sums.total(since), counts.total(since)
    return round(total / count, 3) if total is not None and count else None


def _absent_metrics(stack: Stack, activity: Activity) -> str | None:
    if stack.connection.is_local and activity.hashed_last_day is None:
        return "the local emulator has no metrics of SQS and of the hasher"
    return None


def _estimated_usd(stack: Stack, now: datetime) -> tuple[float | None, str | None]:
    """Lambda's price of this month, and a note on it; None if there is no price."""
    if stack.connection.is_local:
        return None, "the local emulator costs nothing"
    function = stack.function_configuration()
    prices = prices_in(stack.connection.region, function["Architectures"][0])
    note = f"the prices are those of {prices.priced_as}" if prices.priced_as else None
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    metrics = {name: lambda_metric(stack, name.title()) for name in ("duration", "invocations")}
    values = metric_values(stack, metrics, month, now)
    duration_ms, invocations = values["duration"].total(), values["invocations"].total()
    if duration_ms is None or invocations is None:
        return 0.0, note
    storage_mb = function.get("EphemeralStorage", {}).get("Size", FREE_STORAGE_MB)
    first = prices.invocation_usd(duration_ms, function["MemorySize"], storage_mb)
    return first + (invocations - 1) * prices.request, note

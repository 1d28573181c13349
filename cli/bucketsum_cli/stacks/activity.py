"""Work of the hasher as CloudWatch has it, and its estimated price."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from bucketsum.hashing import metric
from bucketsum.prices import FREE_STORAGE_MB, prices_in
from bucketsum.queue.dead_letters import Fate
from bucketsum.table.outcome import Outcome
from bucketsum_cli.aws.metrics import (
    MetricStatistic,
    Values,
    lambda_metric,
    metric_values,
    own_metric,
)
from bucketsum_cli.aws.stack import Stack, queue_name


@dataclass(frozen=True, slots=True)
class Activity:
    """Work of the hasher, from CloudWatch; None where there is no such metric."""

    hashed_last_hour: Annotated[int | None, "Number of hashed objects."] = None
    hashed_last_day: Annotated[int | None, "Number of hashed objects."] = None
    bytes_last_hour: Annotated[int | None, "Their total size."] = None
    bytes_last_day: Annotated[int | None, "Their total size."] = None
    mb_per_s: float | None = None
    unreadable_last_day: Annotated[int | None, "Unreadable objects."] = None
    differing_last_day: Annotated[
        int | None, "Objects with other bytes than recorded, or than S3's own checksum is of."
    ] = None
    dead_lettered_last_day: Annotated[int | None, "Failed messages."] = None
    errors_last_day: Annotated[int | None, "Invocations that died or did not start."] = None
    oldest_waiting_seconds: Annotated[float | None, "Age of the oldest waiting message."] = None


def activity_of(stack: Stack, now: datetime) -> Activity:
    """The work of the hasher until *now*."""
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


def absent_metrics(stack: Stack, activity: Activity | None) -> str | None:
    """A sentence if the local emulator has no metrics, else None."""
    if stack.connection.is_local and activity and activity.hashed_last_day is None:
        return "the local emulator has no metrics of SQS and of the hasher"
    return None


def estimated_usd(stack: Stack, now: datetime) -> tuple[float | None, str | None]:
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

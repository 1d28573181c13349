"""Event source mappings of a stack, and the concurrent executions that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from bucketsum.backfill.plan import enqueuers_for
from bucketsum_cli.aws.stack import Stack, queue_name

if TYPE_CHECKING:
    from mypy_boto3_lambda.type_defs import EventSourceMappingConfigurationTypeDef

MAPPING_IS_MISSING: Final = "missing"

MAXIMA: Final = {
    "MaximumConcurrency": "ArrivalsQueueUrl",
    "BackfillConcurrency": "BackfillQueueUrl",
    "LongObjectConcurrency": "LongObjectsQueueUrl",
}
"""Parameter with a mapping's maximum concurrency → output with its queue."""

_ON: Final = frozenset({"Creating", "Enabling", "Enabled", "Updating"})


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source mapping: it invokes a function with the messages of a queue."""

    queue: Annotated[str, "The queue: `Arrivals`, `Backfill` or `LongObjects`."]
    state: Annotated[str, "The mapping's state in Lambda, or `missing`."]
    enabled: Annotated[bool, "Whether it invokes the function."] = False
    maximum_concurrency: Annotated[int | None, "Its maximum of concurrent invocations."] = None


def quota_problem(stack: Stack, sources: Iterable[EventSource]) -> str | None:
    """A sentence if the account allows fewer executions than *sources* may use, else None."""
    if stack.connection.is_local:
        return None
    maxima = (source.maximum_concurrency or 0 for source in sources)
    wanted = executions_of(dict(zip(MAXIMA, maxima, strict=True)))
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


def event_sources_of(stack: Stack) -> tuple[EventSource, ...]:
    """The event source mappings of a stack, in the order of `MAXIMA`."""
    client = stack.client("lambda")
    hasher, slicer = stack.function, stack.outputs["SlicerFunctionName"]
    mappings = {
        name: client.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        for name in (hasher, slicer)
    }
    long_objects = MAXIMA["LongObjectConcurrency"]
    return tuple(
        _source_of(stack, queue, mappings[slicer if queue == long_objects else hasher])
        for queue in MAXIMA.values()
    )


def _source_of(
    stack: Stack, queue: str, mappings: Iterable[EventSourceMappingConfigurationTypeDef]
) -> EventSource:
    """The one of *mappings* whose queue is the output *queue*."""
    name = f":{queue_name(stack.outputs[queue])}"
    for mapping in mappings:
        if not mapping["EventSourceArn"].endswith(name):
            continue
        maximum = mapping.get("ScalingConfig", {}).get("MaximumConcurrency")
        state = mapping["State"]
        return EventSource(queue.removesuffix("QueueUrl"), state, state in _ON, maximum)
    return EventSource(queue.removesuffix("QueueUrl"), MAPPING_IS_MISSING)

"""Event source mappings of a stack, and the concurrent executions that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from bucketsum.backfill.plan import enqueuers_for
from bucketsum_cli.aws.stack import Stack, queue_name

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

"""A burst of uploads through an SQS event source mapping: when is which object hashed?

Simulated event by event, in whole microseconds, so that nothing is rounded twice and the same
numbers always give the same answer. What the model leaves out is in docs/scaling.md.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

US_PER_SECOND: Final = 1_000_000
US_PER_MINUTE: Final = 60 * US_PER_SECOND

SCALE_UP: Final = "scale-up"
"""What binds while the mapping has fewer invocations at a time than it may have."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Objects that arrive at one moment, and how they are handled.

    Attributes:
        objects: How many.
        seconds_per_object: From the GET to the row.
        batch_size: Messages per invocation, at most.
        at_once: Objects of a batch that an invocation reads at the same time.
        seconds_per_invocation: What each invocation takes besides.
    """

    objects: int
    seconds_per_object: float
    batch_size: int = 1
    at_once: int = 1
    seconds_per_invocation: float = 0.0

    def invocation_us(self, messages: int) -> int:
        """How long an invocation with *messages* lasts, in microseconds; at least one."""
        seconds = self.seconds_per_invocation
        seconds += ceil(messages / self.at_once) * self.seconds_per_object
        return max(1, round(seconds * US_PER_SECOND))

    @property
    def objects_per_second(self) -> float:
        """What one invocation after the other does with full batches."""
        return self.batch_size * US_PER_SECOND / self.invocation_us(self.batch_size)


@dataclass(frozen=True, slots=True)
class Ramp:
    """How a mapping adds concurrent invocations while messages wait.

    Attributes:
        start: Concurrent invocations at once.
        per_minute: How many are added every minute.
        step_seconds: How often a share of them is added. 60 is all of them when the minute is
            over, the slowest that "per minute" can mean; 1 is evenly.
        per_10_seconds: How many execution environments may be added in 10 seconds at all.
    """

    start: int
    per_minute: int
    step_seconds: int = 60
    per_10_seconds: int = 1000

    def openings_us(self, most: int) -> Iterator[int]:
        """When each further invocation may run beside those before it, up to *most*, in order."""
        for number in range(most):
            if number >= self.start and not self.per_minute:
                return
            environment = number // self.per_10_seconds * 10
            yield max(self._added_after_seconds(number), environment) * US_PER_SECOND

    def _added_after_seconds(self, number: int) -> int:
        if number < self.start:
            return 0
        added = number - self.start + 1
        steps = -(-added * 60 // (self.per_minute * self.step_seconds))
        return steps * self.step_seconds


@dataclass(frozen=True, slots=True)
class Limit:
    """Something of which there is no more than so much.

    Attributes:
        name: What people call it.
        most: How much of it there is.
        change: What to do where it is too little.
    """

    name: str
    most: float
    change: str


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute after the uploads.

    Attributes:
        finished: Objects whose invocation ended in it, or just at its end.
        concurrency: Invocations that may run at the same time before it ends.
        bound_by: The limit that kept more from being started, for most of them; empty where
            nothing was started.
    """

    finished: int
    concurrency: int
    bound_by: str


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation.

    Attributes:
        start_us: When it starts, in microseconds after the uploads.
        end_us: When it ends.
        messages: Its batch, an object each.
        held_back: Whether it would have started earlier but for the limit of objects per second.
    """

    start_us: int
    end_us: int
    messages: int
    held_back: bool


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a burst.

    Attributes:
        minutes: Each minute until the last object is finished.
        seconds: When that is.
    """

    minutes: tuple[Minute, ...]
    seconds: float


def invocations(
    burst: Burst, ramp: Ramp, concurrency: Limit, rate: Limit | None = None
) -> Iterator[Invocation]:
    """Every invocation in the order of their starts: whoever is free first takes the next batch.

    A rate lets a second's worth of objects (and one more) start at once after a rest, and then
    as many per second.

    Args:
        burst: What arrives.
        ramp: How the mapping scales.
        concurrency: The tightest limit of concurrent invocations.
        rate: The tightest limit of objects per second, if there is one.

    Raises:
        ValueError: There is nothing to start with.
    """
    free_us = list(ramp.openings_us(int(concurrency.most)))  # in order, so a heap as it is
    if not free_us:
        raise ValueError("no invocation is allowed, so nothing is ever hashed")
    gap_us = US_PER_SECOND / rate.most if rate else 0.0
    left, paid_until_us = burst.objects, 0.0
    while left:
        messages = min(burst.batch_size, left)
        start = max(free_us[0], ceil(paid_until_us) - US_PER_SECOND)
        end = start + burst.invocation_us(messages)
        yield Invocation(start, end, messages, held_back=start > free_us[0])
        heapq.heapreplace(free_us, end)
        paid_until_us = max(paid_until_us, start) + messages * gap_us
        left -= messages


def simulate(burst: Burst, ramp: Ramp, concurrency: Limit, rate: Limit | None = None) -> Run:
    """Hash *burst* as fast as *ramp* and the limits let; the arguments are `invocations`'."""
    finished: Counter[int] = Counter()
    started: Counter[int] = Counter()
    held_back: Counter[int] = Counter()
    last_end = 0
    for one in invocations(burst, ramp, concurrency, rate):
        started[one.start_us // US_PER_MINUTE] += 1
        held_back[one.start_us // US_PER_MINUTE] += one.held_back
        finished[minute_of_end(one.end_us)] += one.messages
        last_end = max(last_end, one.end_us)

    openings = list(ramp.openings_us(int(concurrency.most)))

    def minute(number: int) -> Minute:
        allowed = bisect_left(openings, (number + 1) * US_PER_MINUTE)
        bound_by = concurrency.name if allowed == len(openings) else SCALE_UP
        if rate and 2 * held_back[number] > started[number]:
            bound_by = rate.name
        return Minute(finished[number], allowed, bound_by if started[number] else "")

    return Run(
        tuple(minute(number) for number in range(minute_of_end(last_end) + 1)),
        last_end / US_PER_SECOND,
    )


def minute_of_end(end_us: int) -> int:
    """The number, from 0, of the minute in which something ends; its last moment is in it."""
    return -(-end_us // US_PER_MINUTE) - 1

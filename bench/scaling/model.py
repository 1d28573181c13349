"""Estimate of a burst of uploads, second by second; `DOCUMENT` lists what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import floor
from typing import TYPE_CHECKING, Final

from bench.scaling.limits import (
    IN_FLIGHT,
    MORE_PREFIXES,
    PUTS_PER_SECOND,
    RATE_LIMIT,
    RATE_LIMITS,
    Limit,
)

if TYPE_CHECKING:
    from bench.scaling.limits import Setting

SCALE_UP: Final = "scale-up"
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Burst:
    """Objects uploaded at the same moment; each takes some seconds from the GET to the row."""

    objects: int
    seconds_per_object: float


@dataclass(frozen=True, slots=True)
class Minute:
    """Objects finished in a minute, concurrency allowed at its end, the limit that was reached."""

    finished: int
    concurrency: int
    limit: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """Each minute of a burst, and the second in which its last object is finished."""

    minutes: tuple[Minute, ...]
    seconds: int


def estimate(burst: Burst, setting: Setting) -> Estimate:
    """Hash *burst* as fast as the scale-up and the lowest limits of *setting* allow.

    Every free invocation takes the next object at once. Completions above the rate limit
    wait: later ones cannot overtake them, so the rate is used in full until the end.
    """
    finished, waiting = 0.0, 0.0
    minutes: list[Minute] = []
    for second, completed in enumerate(_completions(burst, setting), 1):
        waiting += completed
        passed = min(waiting, RATE_LIMIT.most, burst.objects - finished)
        waiting, finished = waiting - passed, finished + passed
        if second % 60 == 0 or finished >= burst.objects:
            number = len(minutes)
            before = sum(minute.finished for minute in minutes)
            concurrency = setting.concurrency_at(60 * number + 59)
            limit = _limit(setting, number, limited=waiting > RATE_LIMIT.most)
            minutes.append(Minute(round(finished) - before, concurrency, limit))
        if finished >= burst.objects:
            return Estimate(tuple(minutes), second)
    raise AssertionError("completions never end")


def _completions(burst: Burst, setting: Setting) -> Iterator[int]:
    """Objects completed in each second if only concurrency were limited."""
    duration = burst.seconds_per_object
    most = setting.concurrency_limit().most
    opened: list[tuple[int, int]] = []
    concurrency = total = 0
    for second in count():
        if concurrency < most:
            before, concurrency = concurrency, setting.concurrency_at(second)
            if concurrency > before:
                opened.append((second, concurrency - before))
        rounds = sum(
            number * floor((second + 1 - begin) / duration + _ROUNDING) for begin, number in opened
        )
        yield rounds - total
        total = rounds


def _limit(setting: Setting, minute: int, *, limited: bool) -> str:
    if limited:
        return RATE_LIMIT.name
    cap = setting.concurrency_limit()
    return cap.name if setting.concurrency_at(60 * minute) >= cap.most else SCALE_UP


def uses(
    objects_per_second: float, burst: Burst, setting: Setting
) -> tuple[tuple[float, Limit], ...]:
    """Used share of every limit under a constant load of the objects of *burst*, highest first.

    A share of more than 1 does not fit. Little's law: concurrency = objects per second × seconds
    per object.
    """
    concurrency = objects_per_second * burst.seconds_per_object
    needs = (
        (objects_per_second, Limit("uploads to S3", PUTS_PER_SECOND, MORE_PREFIXES)),
        *((concurrency, limit) for limit in setting.concurrency_limits()),
        *((objects_per_second, limit) for limit in RATE_LIMITS),
        (concurrency, Limit("messages in flight", IN_FLIGHT, "a second queue")),
    )
    shares = ((used / limit.most, limit) for used, limit in needs)
    return tuple(sorted(shares, key=lambda share: -share[0]))

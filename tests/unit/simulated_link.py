"""A network link, simulated: connections share it, and every request waits for its first byte."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from bucketsum.s3.read_plan import ReadPlan
from bucketsum.s3.stream_count import GET_GB_SECONDS, StreamCount

_STEP_SECONDS: Final = 0.004
_HANDSHAKE_SECONDS: Final = 0.06


@dataclass(frozen=True, slots=True)
class Link:
    """Limits in bytes per second.

    Attributes:
        sustained: Of the network, after the burst.
        burst_bytes: Bytes that come at the speed of the connections before that.
        connection: Of one connection.
        cpu: Of hashing and decrypting.
        first_byte_seconds: Time from a request to its first byte.
    """

    sustained: float
    burst_bytes: float = 0.0
    connection: float = 90e6
    cpu: float = 900e6
    first_byte_seconds: float = 0.03

    def with_cpu(self, cpu: float) -> Link:
        """The same link for another function."""
        return replace(self, cpu=cpu)


@dataclass(frozen=True, slots=True)
class Reading:
    """Duration, GETs, and the number of streams at each change."""

    seconds: float
    gets: int
    streams: tuple[int, ...]

    def gb_seconds(self, memory_mb: int) -> float:
        """Cost of the time and of the requests, in GB-seconds."""
        return self.seconds * memory_mb / 1024 + self.gets * GET_GB_SECONDS


@dataclass(slots=True)
class _Request:
    left: float
    wait_seconds: float
    total: float = field(init=False)

    def __post_init__(self) -> None:
        self.total = self.left


class Simulation:
    """One object that is read over a link, by the requests of `OrderedRanges`."""

    def __init__(self, link: Link, plan: ReadPlan, size_bytes: int) -> None:
        self._link, self._plan, self._left = link, plan, float(size_bytes)
        self._now = self._received = 0.0
        self._burst_left = link.burst_bytes
        self._requests: list[_Request] = []
        self._gets = 0
        self._count = StreamCount(plan.streams, plan.part_bytes, plan.rule, lambda: self._now)
        self._count.first_byte_seconds = link.first_byte_seconds

    def run(self) -> Reading:
        """Read the whole object."""
        streams = [self._count.streams]
        cold = _HANDSHAKE_SECONDS
        while self._left > 0 or self._requests:
            self._fill(cold)
            cold = 0.0
            self._transfer()
            if self._left > 0 and self._count.is_due:
                waiting = sum(request.left == request.total for request in self._requests)
                self._count.look(int(self._received), running=self._running(), waiting=waiting)
            if self._count.streams != streams[-1]:
                streams.append(self._count.streams)
        return Reading(self._now, self._gets, tuple(streams))

    def _fill(self, cold_seconds: float) -> None:
        while self._left > 0 and self._running() < self._count.streams:
            whole = self._plan.streams == 1 or self._count.takes_rest
            size = self._left if whole else min(self._left, self._count.part_bytes)
            held = sum(request.left for request in self._requests)
            if held + (0 if whole else size) > (0 if whole else self._plan.held_bytes):
                return
            self._requests.append(_Request(size, cold_seconds + self._link.first_byte_seconds))
            self._left -= size
            self._gets += 1

    def _running(self) -> int:
        return sum(request.left > self._count.lead_bytes for request in self._requests)

    def _transfer(self) -> None:
        self._now += _STEP_SECONDS
        active = [request for request in self._requests if request.wait_seconds <= 0]
        for request in self._requests:
            request.wait_seconds -= _STEP_SECONDS
        limit = (
            self._link.cpu if self._burst_left > 0 else min(self._link.sustained, self._link.cpu)
        )
        if active:
            step_bytes = min(self._link.connection, limit / len(active)) * _STEP_SECONDS
            for request in active:
                brought = min(step_bytes, request.left)
                request.left -= brought
                self._received += brought
                self._burst_left -= brought
        self._requests = [request for request in self._requests if request.left > 0]


def read(link: Link, plan: ReadPlan, size_bytes: int) -> Reading:
    """The reading of an object of *size_bytes* by *plan*."""
    return Simulation(link, plan, size_bytes).run()


def without_rule(plan: ReadPlan) -> ReadPlan:
    """The same plan with a constant number of streams."""
    return replace(plan, rule=None)

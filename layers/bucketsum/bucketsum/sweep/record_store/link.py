"""Measured latency and bandwidth of S3."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from bucketsum.sweep.record_store.concurrent_gets import Get
from bucketsum.sweep.record_store.index import Span

if TYPE_CHECKING:
    from bucketsum.sweep.record_store.concurrent_gets import ConcurrentGets

_LATENCY_GETS: Final = 7
_BANDWIDTH_BYTES: Final = 8 * 1024 * 1024
_SHORTEST_SECONDS: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Link:
    """A connection to S3."""

    latency_seconds: float
    """Median time of a GET of one byte on an open connection."""
    bytes_per_second: float
    """Of one connection."""

    def break_even_gap(self, connections: int) -> int:
        """Bytes that are read in the time in which *connections* make a further request.

        With several connections the latencies overlap, but all share the bandwidth.
        """
        return round(self.latency_seconds * self.bytes_per_second / connections)


def measured_link(gets: ConcurrentGets, url: str, size_bytes: int) -> Link:
    """Measure with GETs of single bytes, and one of at most 8 MiB, of the object at *url*."""
    singles = [
        Get(url, Span(place, place + 1), size_bytes)
        for place in (number * size_bytes // (_LATENCY_GETS + 1) for number in range(_LATENCY_GETS))
    ]
    first, *others = [received.seconds for received in gets.responses(singles, 1)]
    latency = median(others or [first])  # the first may have connected
    length = min(size_bytes, _BANDWIDTH_BYTES)
    (received,) = gets.responses([Get(url, Span(0, length), size_bytes)], 1)
    return Link(latency, length / max(received.seconds - latency, _SHORTEST_SECONDS))

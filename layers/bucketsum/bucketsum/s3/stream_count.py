"""Number of streams that read one object, chosen by measured throughput."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, inf
from typing import Final

CONNECTION_BYTES_PER_S: Final = 90e6
"""[A] S3 serves one connection at 85 to 90 MB/s. A first guess: its consequence is measured."""

GET_GB_SECONDS: Final = 0.03
"""GB-seconds of a function that cost as much as a GET, on arm64 in us-east-1."""

LOOK_SECONDS: Final = 0.02
"""Time between two looks at the received bytes."""

_ENOUGH: Final = 0.9
"""Share of the best throughput that counts as the same; windows differ by some percent."""

_SPARE: Final = 1.2
"""Capacity of the connections ÷ throughput, since some of them wait for their first byte."""

_WORTH: Final = 0.75
"""Share of the present streams that a guess must not exceed to be worth measuring."""

_FAILED: Final = 0.7
_QUICK_SECONDS: Final = 0.09
"""A guess with less than this share of the best throughput after this time is given up."""

_TRIALS_MAX: Final = 3
"""How often one stream is tried, since a slow moment would cost the requests of a whole object."""

_CHANGED: Final = 0.25
"""Change of throughput, with the same number of streams, that tells of another limit."""

_LEAD: Final = 1 / 8
"""Share of a part that is left when the next is requested, so that the link is not idle until that
one's first byte."""

_MIB: Final = 1024 * 1024
_LARGEST_PART_BYTES: Final = 16 * _MIB


@dataclass(frozen=True, slots=True)
class StreamRule:
    """Chooses the number of streams for the next parts, and their size.

    Attributes:
        memory_mb: The function's memory, in MiB; its price is what time costs.
        streams: Streams at an object's beginning, the most that there may be.
        part_bytes: Bytes of a part at its beginning; each part costs a GET.
    """

    memory_mb: int
    streams: int
    part_bytes: int

    def part_bytes_for(self, streams: int) -> int:
        """Bytes of a part: larger with fewer streams; memory always has room for one more part."""
        if streams == 1:  # it shows if one is enough: then one request brings the rest
            return self.part_bytes
        fitting = (self.streams + 1) * self.part_bytes // (streams + 1)
        return max(self.part_bytes, min(fitting, _LARGEST_PART_BYTES) // _MIB * _MIB)

    def streams_for(self, rates: Mapping[int, float], first_byte_seconds: float) -> int:
        """The fewest streams that are as fast as any, or one stream if more do not pay.

        Args:
            rates: Streams → the bytes per second that they brought; not empty.
            first_byte_seconds: Time from a request to its first byte.

        A number that is not in *rates* is a guess, to be measured next. It is greater than each
        number that was too slow, and below the least that was fast enough.
        """
        best = max(rates.values())
        alone = rates.get(1, min(best, CONNECTION_BYTES_PER_S))
        if not self._pays(alone, best):
            return 1
        enough = min(streams for streams, rate in rates.items() if rate >= _ENOUGH * best)
        too_few = max((streams for streams in rates if streams < enough), default=0)
        if too_few:
            per_stream = rates[too_few] / too_few
        else:
            transfer_seconds = self.part_bytes / CONNECTION_BYTES_PER_S
            per_stream = self.part_bytes / (first_byte_seconds + transfer_seconds)
        guess = ceil(_SPARE * best / per_stream)
        return guess if guess <= _WORTH * enough else enough

    def _pays(self, alone: float, several: float) -> bool:
        """Whether the time that several streams save costs more than their requests."""
        saved_seconds = self.part_bytes / alone - self.part_bytes / several
        saved_gb_seconds = saved_seconds * self.memory_mb / 1024
        return alone < _ENOUGH * several and saved_gb_seconds > GET_GB_SECONDS


@dataclass(frozen=True, slots=True)
class _Window:
    """A time in which throughput is measured; *seen_bytes* had come at the last look."""

    started: float
    from_bytes: int
    seen_bytes: int


class StreamCount:
    """Number of streams of one object, and size of their parts: constant, or changed by a rule.

    A window ends when a part has come for each stream; the first, and that of a single stream, when
    half of that has. The link counts as changed if the same number of streams brings a quarter more
    or less than before: then all is measured again.
    Nothing is learned from a window in which a request failed, or nothing came between two looks.

    Attributes:
        streams: Requests at a time.
        part_bytes: Bytes of the next part.
        first_byte_seconds: Time from a request to its first byte.
    """

    def __init__(
        self,
        streams: int,
        part_bytes: int,
        rule: StreamRule | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.streams, self.part_bytes = streams, part_bytes
        self.first_byte_seconds = 0.0
        self._rule = rule
        self._clock = clock
        self._rates: dict[int, float] = {}
        self._window: _Window | None = None
        self._was_steady = False
        self._trials = 0
        self._next_look = clock() if rule else inf

    @property
    def takes_rest(self) -> bool:
        """Whether one stream is known to be enough: one request then brings the rest."""
        return self.streams == 1 and 1 in self._rates

    @property
    def lead_bytes(self) -> int:
        """Bytes that are left of a part when the next is requested."""
        return int(self.part_bytes * _LEAD) if self._rule and self.streams > 1 else 0

    @property
    def is_due(self) -> bool:
        """Whether it is time for `look`."""
        return self._clock() >= self._next_look

    def forget_window(self) -> None:
        """Learn nothing from the present window, because a request failed."""
        self._window = None

    def look(self, received_bytes: int, *, running: int, waiting: int) -> None:
        """Measure, and change the number of streams at the end of a window.

        Args:
            received_bytes: Bytes of the object that have come.
            running: Requests that are not almost complete; for one stream, all parts that are held,
                since hashing them takes CPU time from receiving.
            waiting: How many of them have no response yet. A window begins only if these are few,
                and the first a look later: bytes that came during the handshakes come quickly. A
                window of one stream has none.
        """
        now, window = self._clock(), self._window
        self._next_look = now + LOOK_SECONDS
        silent = window is not None and received_bytes == window.seen_bytes
        if window is None or silent or (self.streams == 1 and waiting):
            steady = running <= self.streams and waiting * 4 <= self.streams
            begins = steady and (self._was_steady or bool(self._rates))
            self._window = _Window(now, received_bytes, received_bytes) if begins else None
            self._was_steady = steady
            return
        self._window = _Window(window.started, window.from_bytes, received_bytes)
        seconds, brought = now - window.started, received_bytes - window.from_bytes
        is_guess = self.streams not in self._rates
        needed = max(self._rates.values(), default=0.0) if is_guess else 0.0
        failed = seconds >= _QUICK_SECONDS and brought < _FAILED * needed * seconds
        if self._rule and (failed or brought >= self._window_bytes):
            self._window = None
            self._learn(self._rule, brought / seconds)

    @property
    def _window_bytes(self) -> float:
        """Bytes that end a window."""
        soon = not self._rates or self.streams == 1
        return self.streams * self.part_bytes / (2 if soon else 1)

    def _learn(self, rule: StreamRule, rate: float) -> None:
        known = self._rates.get(self.streams, rate)
        if abs(rate - known) > _CHANGED * known:
            self._rates.clear()  # this window may have had a part of both: measure the next
            return
        self._rates[self.streams] = rate
        if self.streams == 1:
            self._trials += 1
        elif self._trials < _TRIALS_MAX:
            self._rates.pop(1, None)
        self.streams = rule.streams_for(self._rates, self.first_byte_seconds)
        self.part_bytes = rule.part_bytes_for(self.streams)

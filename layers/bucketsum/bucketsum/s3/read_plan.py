"""How many connections read an object, and in parts of which size: the rule for ``auto``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STREAMS_MAX: Final = 16
"""Connections that may read one object."""

_MIB: Final = 1024 * 1024
_ALL: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How one object is read.

    Attributes:
        streams: Connections at a time. One reads it in one request.
        part_bytes: Bytes of each request, where there are several.
        split_bytes: How much of the object is read in parts; the rest comes in one request.
    """

    streams: int = 1
    part_bytes: int = 0
    split_bytes: int = _ALL

    def splits(self, size_bytes: int) -> bool:
        """Whether an object of this size is read in several requests."""
        return self.streams > 1 and size_bytes > self.part_bytes

    def requests(self, size_bytes: int) -> int:
        """How many GETs an object of this size takes, where nothing breaks."""
        if not self.splits(size_bytes):
            return 1
        in_parts = min(size_bytes, self.split_bytes)
        return -(-in_parts // self.part_bytes) + (size_bytes > in_parts)


@dataclass(frozen=True, slots=True)
class _Step:
    """What the rule says from a memory size on."""

    from_memory_mb: int
    plan: ReadPlan


_BURST_BYTES: Final = 256 * _MIB
_SPLIT_FROM_BYTES: Final = 16 * _MIB
_STEPS: Final = (
    _Step(2048, ReadPlan(12, 16 * _MIB)),
    _Step(1024, ReadPlan(12, 8 * _MIB, _BURST_BYTES)),
    _Step(512, ReadPlan(4, 8 * _MIB, _BURST_BYTES)),
)


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How a function reads its objects.

    Attributes:
        count: Connections, 1 to `STREAMS_MAX`; None leaves them to the rule.
        chunk_bytes: A part, where *count* is above 1; what botocore reads at a time.
        memory_mb: The function's memory, in MiB.

    The rule. S3 gives one connection some 90 MB/s; Lambda's link takes 78 MB/s, but the first
    300 MB or so faster, and from 2 GB of memory on AWS raises it where an account asks for it.
    Every request costs as much as 60 ms of a function of 512 MB. So:

    - below 512 MB one stream: further requests cost more than the time that they save;
    - below 2 GB several streams for the first 256 MiB, and one for the rest, where it is as fast;
    - from 2 GB on several streams, in parts of 16 MiB, which are half as many requests;
    - as many streams as the share of a processor can hash: 4, and 12 from 1 GB on, which is more
      than a link of 3,000 Mbit/s takes;
    - an object below 16 MiB in one request, whatever the memory.
    """

    count: int | None
    chunk_bytes: int
    memory_mb: int

    def plan_for(self, size_bytes: int) -> ReadPlan:
        """How to read an object of so many bytes."""
        if self.count is None and size_bytes < _SPLIT_FROM_BYTES:
            return ReadPlan()
        return self._widest

    @property
    def held_bytes(self) -> int:
        """How many bytes of an object are held in memory at the most.

        Parts in order: ``(streams + 1) × part_bytes``. botocore, which may have to go on at any
        byte, holds two chunks.
        """
        plan = self._widest
        return max(2 * self.chunk_bytes, (plan.streams + 1) * plan.part_bytes)

    @property
    def _widest(self) -> ReadPlan:
        if self.count is not None:
            return ReadPlan(self.count, self.chunk_bytes)
        return next(
            (one.plan for one in _STEPS if self.memory_mb >= one.from_memory_mb), ReadPlan()
        )

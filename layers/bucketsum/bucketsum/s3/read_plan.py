"""Read plans: connections and part size for each object; the rule for ``auto``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SPLIT_FROM_BYTES: Final = 16 * 1024 * 1024
"""Size in bytes from which transfer, not latency, takes most of an object's time.

Below it, waiting for S3's first byte dominates: one request reads an object, and small objects of
a batch are read in parallel. From it on, `auto` splits an object, and a table look-up costs less
than the chance of reading the object twice.
"""

STREAMS_MAX: Final = 16
"""Most connections that may read one object."""

_MIB: Final = 1024 * 1024
_ALL: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Number and size of the requests for one object.

    Attributes:
        streams: Connections at a time. A single one reads the object in one request.
        part_bytes: Bytes of each request if there are several.
        split_bytes: Bytes of the object that are read in parts; one request brings the rest.
    """

    streams: int = 1
    part_bytes: int = 0
    split_bytes: int = _ALL

    def splits(self, size_bytes: int) -> bool:
        """Whether an object of this size is read in several requests."""
        return self.streams > 1 and size_bytes > self.part_bytes

    def requests(self, size_bytes: int) -> int:
        """GETs for an object of this size if no connection breaks."""
        if not self.splits(size_bytes):
            return 1
        in_parts = min(size_bytes, self.split_bytes)
        return -(-in_parts // self.part_bytes) + (size_bytes > in_parts)


@dataclass(frozen=True, slots=True)
class _Step:
    """Read plan from a memory size on."""

    from_memory_mb: int
    plan: ReadPlan


_BURST_BYTES: Final = 256 * _MIB
_STEPS: Final = (
    _Step(2048, ReadPlan(12, 16 * _MIB)),
    _Step(1024, ReadPlan(12, 8 * _MIB, _BURST_BYTES)),
    _Step(512, ReadPlan(4, 8 * _MIB, _BURST_BYTES)),
)


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """Chooses the read plan of each object for one function.

    Attributes:
        count: Connections, 1 to `STREAMS_MAX`; None applies the rule.
        chunk_bytes: Bytes of a part if *count* is above 1; bytes that botocore reads at a time.
        memory_mb: The function's memory, in MiB.

    The rule for None. S3 serves one connection at about 90 MB/s. The function's network bandwidth
    is 78 MB/s, but more for about the first 300 MB, and from 2 GB of memory on AWS raises it on
    request. A request costs as much as 60 ms of a function of 512 MB. So:

    - below 512 MB one stream: further requests cost more than the time that they save;
    - below 2 GB several streams for the first 256 MiB, then one, which is as fast there;
    - from 2 GB on several streams, in parts of 16 MiB, which halves the number of requests;
    - as many streams as the CPU share can hash: 4, and 12 from 1 GB on, which is more than
      3,000 Mbit/s;
    - an object below 16 MiB in one request, with any memory.
    """

    count: int | None
    chunk_bytes: int
    memory_mb: int

    def plan_for(self, size_bytes: int) -> ReadPlan:
        """The plan for an object of *size_bytes*."""
        if self.count is None and size_bytes < SPLIT_FROM_BYTES:
            return ReadPlan()
        return self._widest

    @property
    def held_bytes(self) -> int:
        """Most bytes of an object held in memory.

        Ordered ranges hold ``(streams + 1) × part_bytes``. botocore, the fallback at any byte,
        holds two chunks.
        """
        plan = self._widest
        return max(2 * self.chunk_bytes, (plan.streams + 1) * plan.part_bytes)

    @property
    def _widest(self) -> ReadPlan:
        if self.count is not None:
            return ReadPlan(self.count, self.chunk_bytes)
        return next(
            (step.plan for step in _STEPS if self.memory_mb >= step.from_memory_mb), ReadPlan()
        )

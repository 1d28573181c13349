"""Read plans: connections and part size for each object; the rule for ``auto``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.s3.stream_count import StreamCount, StreamRule

SPLIT_FROM_BYTES: Final = 16 * 1024 * 1024
"""Size in bytes from which transfer, not latency, takes most of an object's time.

Below it, waiting for S3's first byte dominates: one request reads an object, and small objects of
a batch are read in parallel. From it on, `auto` splits an object, and a table look-up costs less
than the chance of reading the object twice.
"""

AUTO_STREAMS: Final = "auto"
"""The value of `STREAMS` that applies the rule of `ReadPolicy`."""

STREAMS_MAX: Final = 16
"""Most connections that may read one object."""

_SEVERAL_FROM_MB: Final = 512
_MANY_FROM_MB: Final = 1024
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Number and size of the requests for one object.

    Attributes:
        streams: Most connections at a time. A single one reads the object in one request.
        part_bytes: Bytes of each request if there are several.
        rule: Lowers the number of connections to those that pay; None keeps it.
    """

    streams: int = 1
    part_bytes: int = 0
    rule: StreamRule | None = None

    def splits(self, size_bytes: int) -> bool:
        """Whether an object of this size is read in several requests."""
        return self.streams > 1 and size_bytes > self.part_bytes

    @property
    def held_bytes(self) -> int:
        """Maximum total size of requested parts, in bytes."""
        return (self.streams + 1) * self.part_bytes

    def requests(self, size_bytes: int) -> int:
        """GETs for an object of this size, without broken connections; ``auto`` may need fewer."""
        return -(-size_bytes // self.part_bytes) if self.splits(size_bytes) else 1

    def stream_count(self) -> StreamCount:
        """The number of streams while one object is read."""
        return StreamCount(self.streams, self.part_bytes, self.rule)


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
    - an object below 16 MiB in one request, with any memory;
    - any other object begins with as many streams as the CPU share can hash: 4, and 12 from 1 GB
      on, which is more than 3,000 Mbit/s. `StreamRule` lowers their number to those that pay.
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
        """Maximum number of bytes of an object in memory.

        botocore, the fallback at any byte, holds two chunks.
        """
        return max(2 * self.chunk_bytes, self._widest.held_bytes)

    @property
    def _widest(self) -> ReadPlan:
        if self.count is not None:
            return ReadPlan(self.count, self.chunk_bytes)
        if self.memory_mb < _SEVERAL_FROM_MB:
            return ReadPlan()
        streams, part_bytes = (12, 8 * _MIB) if self.memory_mb >= _MANY_FROM_MB else (4, 12 * _MIB)
        return ReadPlan(streams, part_bytes, StreamRule(self.memory_mb, streams, part_bytes))

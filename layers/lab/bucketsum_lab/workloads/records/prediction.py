"""Predicted time of a layout: arithmetic from latency, bandwidth and CPU time per request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final

from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum_lab.protocol.parameters import Value
from bucketsum_lab.protocol.workload import NETWORK_BYTES_PER_S
from bucketsum_lab.workloads.records.data_set import RECORD_BYTES, DataSet
from bucketsum_lab.workloads.records.index import ENTRY_BYTES
from bucketsum_lab.workloads.records.layouts import (
    IN_PARTITIONS,
    KIB,
    MEASURED_GAP,
    SAMPLED_OBJECTS,
    WITH_INDEX,
    RecordLayout,
)
from bucketsum_lab.workloads.records.partition import Sampled

_GETS_PER_SECOND_MAX: Final = 5_500
"""[A] For each prefix."""
_GET_CPU_SECONDS: Final = 0.20e-3
"""Of one vCPU: libcurl and the signature (docs/decisions/0009-libcurl.md)."""
_DISK_CPU_SECONDS: Final = {
    RecordLayout.TMP_BLOCK: (2e-6, 4e-6),
    RecordLayout.SQLITE_TMP: (3e-6, 12e-6),
    RecordLayout.MONGODB: (110e-6, 126e-6),
}
"""To store a record, and to read and verify one; for MongoDB, of Fernandez and Turner (2023)."""
_BATCH_SECONDS: Final = 7.5e-3
"""[T] A BatchGetItem of 100 items: 5 to 10 ms."""
_BATCH: Final = 100


_TYPICAL_LATENCY_SECONDS: Final = 0.03
_CALIBRATION_SECONDS: Final = 0.5


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


@dataclass(frozen=True, slots=True)
class Model:
    """The function and the data set that a time is predicted for."""

    link: Link
    connections: int
    memory_mb: int
    size_bytes: int
    records: int
    objects: int

    def seconds(self, layout: RecordLayout, reads: int, block_bytes: int, gap_bytes: int) -> float:
        """Time to build the layout, to load the index and to read *reads* records."""
        if layout in _DISK_CPU_SECONDS:
            build, read = _DISK_CPU_SECONDS[layout]
            return self._gets(1, self.size_bytes) + self._cpu(self.records * build + reads * read)
        if layout == RecordLayout.DYNAMODB:
            return -(-reads // _BATCH // self.connections) * _BATCH_SECONDS
        index = self._gets(1, self.records * ENTRY_BYTES) if layout in WITH_INDEX else 0.0
        return index + self._gets(*self._requests(layout, reads, block_bytes, gap_bytes))

    def _requests(
        self, layout: RecordLayout, reads: int, block_bytes: int, gap_bytes: int
    ) -> tuple[float, float]:
        """Expected requests and bytes of a layout in S3."""
        match layout:
            case RecordLayout.RANGE:
                blocks = self._touched(reads, block_bytes)
                return blocks, blocks * block_bytes
            case RecordLayout.COALESCED:
                return self._merged(reads, gap_bytes)
            case RecordLayout.WHOLE:
                return 1, self.size_bytes
            case RecordLayout.PARTITIONED:
                object_bytes = self.size_bytes / self.objects
                touched = self._touched(reads, object_bytes)
                return touched, touched * object_bytes
        return reads, reads * RECORD_BYTES

    def _gets(self, requests: float, size_bytes: float) -> float:
        """The slowest of latency, CPU, S3's limit and bandwidth."""
        latency = requests * self.link.latency_seconds
        return max(
            latency / min(self.connections, max(requests, 1)),
            self._cpu(requests * _GET_CPU_SECONDS),
            requests / _GETS_PER_SECOND_MAX,
            self.link.latency_seconds + size_bytes / self.link.bytes_per_second,
        )

    def _cpu(self, seconds: float) -> float:
        return seconds / min(1.0, self.memory_mb / MEMORY_MB_PER_CPU)

    def _touched(self, reads: int, block_bytes: float) -> float:
        """Expected number of different blocks."""
        blocks = max(1.0, self.size_bytes / block_bytes)
        return blocks * (1 - (1 - 1 / blocks) ** reads) if blocks > 1 else 1.0

    def _merged(self, reads: int, gap_bytes: int) -> tuple[float, float]:
        """Expected requests and bytes: gaps between random records are exponential."""
        mean_gap = self.size_bytes / reads
        skipped = exp(-gap_bytes / mean_gap)
        in_gaps = self.size_bytes * (1 - skipped * (1 + gap_bytes / mean_gap))
        return max(1.0, reads * skipped), min(in_gaps + reads * RECORD_BYTES, self.size_bytes)


def probe_seconds(own: Mapping[str, Value], size_bytes: int, memory_mb: int) -> float:
    """The time of one probe of the setting *own*, with AWS's usual latency and bandwidth."""
    layout, reads = RecordLayout(str(own["layout"])), int(own["reads"])
    data_set, objects = DataSet(size_bytes), int(own.get("objects", 1))
    sampled = Sampled.of(layout, data_set, objects, reads)
    link = Link(_TYPICAL_LATENCY_SECONDS, NETWORK_BYTES_PER_S)
    connections = int(own.get("connections", 1))
    if layout in IN_PARTITIONS:  # a smaller data set, of the objects that exist
        objects = min(objects, SAMPLED_OBJECTS)
        size_bytes = size_bytes * sampled.records // data_set.records
    gap = own.get("gap_bytes", MEASURED_GAP)
    gap_bytes = link.break_even_gap(connections) if gap == MEASURED_GAP else int(gap)
    model = Model(link, connections, memory_mb, size_bytes, data_set.records, objects)
    seconds = model.seconds(layout, sampled.reads, int(own.get("block_bytes", KIB)), gap_bytes)
    return seconds + _CALIBRATION_SECONDS

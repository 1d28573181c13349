"""Workload ``hash``: SHA-1 of whole objects."""

from __future__ import annotations

from typing import Final

from bucketsum.digest import digest_of
from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum_lab.protocol.measuring import Meter
from bucketsum_lab.protocol.objects import Generated, content
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.probe import (
    ProbeAnswer,
    ProbeContext,
    ProbeEvent,
    answer_of,
    created_object,
)
from bucketsum_lab.protocol.workload import Workload, read_seconds

OBJECT_BYTES_MAX: Final = 20_000_000_000
"""The planner has to generate it twice and to send it in 900 s: by calculation some 660 s."""

_MB_PER_VCPU_SECOND: Final = 300
"""From the baseline's rows of 128 and 256 MB; today's readers need less CPU."""


class HashWorkload(Workload):
    """Read an object and compute its SHA-1, as the hasher does."""

    name = "hash"
    task = "hashing objects"
    object_bytes = range(1, OBJECT_BYTES_MAX + 1)
    object_name = "objects/{size_bytes}.bin"

    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """The slower of network and CPU."""
        vcpus = setting.memory_mb / MEMORY_MB_PER_CPU
        return read_seconds(size_bytes, _MB_PER_VCPU_SECOND * vcpus)

    def generate(self, size_bytes: int) -> Generated:
        """Random bytes as the content."""
        return Generated(lambda: content(size_bytes))

    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Read and hash the object."""
        meter = Meter()
        chunks = context.source.open(created_object(event)).chunks
        digest = digest_of(chunks, context.extra_algorithms)
        return answer_of(event, digest, meter)

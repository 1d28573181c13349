"""The limit of the network: Lambda's, which is published, or a machine's, which is measured.

Lambda's is a token bucket: a burst of about 300 MB, refilled at 625 Mbit/s. Within the burst, a
connection still has at most about 90 MB/s.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, TypeAlias

from bucketsum.s3.stream_count import CONNECTION_BYTES_PER_S
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.use import Use
from bucketsum_lab.protocol.workload import NETWORK_BYTES_PER_S

AT_LIMIT: Final = 0.9
"""Share of a limit from which on it is reached."""

IN_FORCE: Final = 1.15
"""A rate above this multiple shows that the limit is not in force, as in an emulator without it."""

BURST_BYTES: Final = 300_000_000

_EMPTY_BYTES: Final = (1 - AT_LIMIT) * BURST_BYTES
"""So much of the burst may be an error of this model."""

SampleKey: TypeAlias = "tuple[str, int, int]"


def is_at_lambdas_limit(connections: int, use: Use, burst_bytes: float) -> bool:
    """Whether *use* reaches the limit of *connections*; *burst_bytes* are left at its start."""
    of_connections = CONNECTION_BYTES_PER_S * connections * use.seconds
    sustained = NETWORK_BYTES_PER_S * use.seconds
    left = {burst_bytes, 0.0} if burst_bytes <= _EMPTY_BYTES else {burst_bytes}
    limits = (min(of_connections, sustained + burst) for burst in left)
    return any(AT_LIMIT <= (use.network_bytes or 0) / limit <= IN_FORCE for limit in limits)


def is_at_measured_limit(bytes_per_s: float | None, use: Use, _burst_bytes: float) -> bool:
    """Whether *use* reaches a machine's limit, which has no burst; None if it was not reached."""
    rate = (use.network_bytes or 0) / use.seconds
    return bytes_per_s is not None and rate >= AT_LIMIT * bytes_per_s


def burst_after(use: Use, burst_bytes: float) -> float:
    """The bytes of the burst that are left after *use*; before it, *burst_bytes* were left.

    At about the sustained rate, nothing is refilled: the rate may be a little lower than published.
    """
    change = NETWORK_BYTES_PER_S * use.seconds - (use.network_bytes or 0)
    if 0 < change <= (1 - AT_LIMIT) * NETWORK_BYTES_PER_S * use.seconds:
        return burst_bytes
    return min(max(burst_bytes + change, 0.0), BURST_BYTES)


def key_of(sample: Sample) -> SampleKey:
    """Cell, repetition and invocation."""
    return sample.cell_id, sample.repetition, sample.invocation


def bursts(samples: Iterable[Sample]) -> dict[SampleKey, float]:
    """The bytes of the burst that are left at the start of each of *samples*.

    Samples of one execution environment share its burst, which is refilled between them.
    """
    left, ends = {}, dict[tuple[object, ...], tuple[float, float]]()
    for sample in sorted(samples, key=lambda sample: sample.at):
        if sample.use is None:
            continue
        process = sample.process
        environment = (process and process.memory_mb, process and process.log_stream)
        end = datetime.fromisoformat(sample.at).timestamp()
        begin = end - sum(use.seconds for use in sample.use.uses)
        ended, burst_bytes = ends.get(environment, (begin, BURST_BYTES))
        burst_bytes += max(begin - ended, 0.0) * NETWORK_BYTES_PER_S
        left[key_of(sample)] = burst_bytes = min(burst_bytes, BURST_BYTES)
        for use in sample.use.uses:
            burst_bytes = burst_after(use, burst_bytes)
        ends[environment] = end, burst_bytes
    return left

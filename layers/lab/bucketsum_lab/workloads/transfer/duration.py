"""Estimated duration of a trial, for the planner."""

from __future__ import annotations

from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum_lab.protocol.estimate import PROBE_SECONDS_MAX, read_seconds
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.workloads.transfer.model import (
    DRAIN_BYTES,
    ClientName,
    Destination,
    NetworkState,
    Pattern,
    PatternName,
    files_in,
)
from bucketsum_lab.workloads.transfer.schedule import span_seconds, threads_of

_LATENCY_SECONDS: Final = 0.035
"""Time to the first byte of a small object; facts differ between 15 and 50 ms."""

_CPU_SECONDS_PER_FILE: Final = {
    ClientName.LIBCURL: 0.0005,
    ClientName.BOTO3: 0.002,
    ClientName.BOTO3_PER_FILE: 0.05,
    ClientName.S3TRANSFER: 0.004,
    ClientName.AWS_CLI: 0.5,
    ClientName.S5CMD: 0.05,
    ClientName.RCLONE: 0.1,
    ClientName.JAVA_TRANSFER_MANAGER: 0.05,
}
"""Cautious estimates: a new client loads a model, a program starts, the AWS CLI with Python."""

_MB_PER_VCPU_SECOND: Final = 300
"""Of the slowest clients, with a destination that hashes."""

_CHECKED_MB_PER_VCPU_SECOND: Final = 500


def trial_seconds(setting: Setting, size_bytes: int) -> float:
    """The slower of network and CPU, plus the waits, plus the reads that are not measured."""
    own, vcpus = setting.own, setting.memory_mb / MEMORY_MB_PER_CPU
    pattern, files = Pattern.of(str(own["pattern"])), files_in(size_bytes)
    waits = _LATENCY_SECONDS * files / threads_of(pattern, files, max(1, round(vcpus)))
    cpu = files * _CPU_SECONDS_PER_FILE[ClientName(str(own["client"]))] / vcpus
    measured = read_seconds(size_bytes, _MB_PER_VCPU_SECOND * vcpus) + waits + cpu
    if pattern.name == PatternName.STACCATO:
        measured = max(measured, span_seconds(pattern, files))
    return min(measured + _unmeasured_seconds(setting, size_bytes, vcpus), PROBE_SECONDS_MAX)


def _unmeasured_seconds(setting: Setting, size_bytes: int, vcpus: float) -> float:
    """Seconds of a sample before and after its clock."""
    own, megabytes = setting.own, size_bytes / BYTES_PER_MB
    seconds = megabytes / (_CHECKED_MB_PER_VCPU_SECOND * vcpus)
    if own["destination"] == Destination.NULL:
        seconds = read_seconds(size_bytes, _MB_PER_VCPU_SECOND * vcpus)
    if own["network"] == NetworkState.SUSTAINED:
        seconds += read_seconds(DRAIN_BYTES + size_bytes, _MB_PER_VCPU_SECOND * vcpus)
    return seconds

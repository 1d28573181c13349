"""Workload ``transfer``: a data set of files from S3 to memory, /tmp or nowhere."""

# What only a probe or a data set needs is imported there.
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum.memory import BASE_MEMORY_BYTES, MEMORY_MB_PER_CPU
from bucketsum_lab.protocol.objects import DataFile, Generated, PlannedObject, disk_refusal
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import PROBE_SECONDS_MAX, DataSetWorkload, read_seconds
from bucketsum_lab.workloads.transfer.model import (
    CLIENT,
    DESTINATION,
    DRAIN_BYTES,
    NETWORK,
    PATTERN,
    PROCESS_PER_FILE,
    PROGRAMS,
    START,
    ClientName,
    Destination,
    NetworkState,
    Pattern,
    PatternName,
    Start,
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


def _unmeasured_seconds(setting: Setting, size_bytes: int, vcpus: float) -> float:
    """Seconds of a sample before and after its clock."""
    own, megabytes = setting.own, size_bytes / BYTES_PER_MB
    seconds = megabytes / (_CHECKED_MB_PER_VCPU_SECOND * vcpus)
    if own["destination"] == Destination.NULL:
        seconds = read_seconds(size_bytes, _MB_PER_VCPU_SECOND * vcpus)
    if own["network"] == NetworkState.SUSTAINED:
        seconds += read_seconds(DRAIN_BYTES + size_bytes, _MB_PER_VCPU_SECOND * vcpus)
    return seconds


FRACTOS_BYTES: Final = 156_204_800
"""The 100 files of fractos (2017)."""

SET_BYTES_MIN: Final = 1_000_000
SET_BYTES_MAX: Final = 1_562_048_000
"""1,000 files."""

FILES_AT_ONCE_MAX: Final = 256
"""[A] A function has 1,024 threads and as many file descriptors; a file needs up to three."""

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferStatistics(WorkloadStatistics):
    """Statistics of the times of all files in all samples."""

    files: int
    threads: int
    file_min_ms: float
    file_p50_ms: float
    file_p90_ms: float
    file_p99_ms: float | None = None
    """Only of many files."""
    file_max_ms: float
    file_mean_ms: float
    first_byte_p50_ms: float | None = None
    """None if the client does not report it."""


class TransferWorkload(DataSetWorkload):
    """Copy a data set of files; no setting of it can be deployed."""

    name = "transfer"
    task = "transferring files"
    parameters = (PATTERN, CLIENT, DESTINATION, START, NETWORK)
    chunk_bytes = 262_144
    object_bytes = range(SET_BYTES_MIN, SET_BYTES_MAX + 1)
    default_object_bytes = FRACTOS_BYTES
    object_name = "objects/transfer-{size_bytes}.jsonl"
    sample_names = ("files", "threads", "drained_bytes", "file_times")
    statistics_type = TransferStatistics
    folded_first = "warm"
    undeployable = "transfers are measured to compare, and no parameter deploys them"

    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """The slower of network and CPU, the waits between, and the reads that are not measured."""
        own, vcpus = setting.own, setting.memory_mb / MEMORY_MB_PER_CPU
        pattern, files = Pattern.of(str(own["pattern"])), files_in(size_bytes)
        waits = _LATENCY_SECONDS * files / threads_of(pattern, files, max(1, round(vcpus)))
        cpu = files * _CPU_SECONDS_PER_FILE[ClientName(str(own["client"]))] / vcpus
        measured = read_seconds(size_bytes, _MB_PER_VCPU_SECOND * vcpus) + waits + cpu
        if pattern.name == PatternName.STACCATO:
            measured = max(measured, span_seconds(pattern, files))
        return min(measured + _unmeasured_seconds(setting, size_bytes, vcpus), PROBE_SECONDS_MAX)

    def uses_disk(self, setting: Setting) -> bool:
        """Whether the destination is the disk."""
        return setting.own["destination"] == Destination.TMP

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:
        """Files that do not fit, too many at once, and programs that are not here."""
        refusals = (
            _no_room(setting, planned.size_bytes, storage_mb),
            _too_many(setting, files_in(planned.size_bytes)),
            _no_program(setting),
        )
        return next(filter(None, refusals), None)

    def files(self, size_bytes: int) -> Iterable[DataFile]:
        """Files with the sizes of those of the article (fractos, 2017)."""
        from bucketsum_lab.workloads.transfer.data_set import data_files

        return data_files(size_bytes)

    def generate(self, size_bytes: int) -> Generated:
        """The list of the files, with their SHA-1."""
        from bucketsum_lab.workloads.transfer.data_set import listed, written

        content = written(listed(size_bytes))
        return Generated(lambda: iter([content]))

    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Transfer the files, and check each."""
        from bucketsum_lab.workloads.transfer.answer import answer_to

        return answer_to(event, context)

    def statistics(self, samples: Sequence[Sample]) -> TransferStatistics | None:
        """Statistics of the times of all files in all good samples."""
        from bucketsum_lab.workloads.transfer.file_times import file_statistics, read

        own = [sample.own for sample in samples if "file_times" in sample.own]
        if not own:
            return None
        times = [time for values in own for time in read(str(values["file_times"]))]
        return TransferStatistics.of_values({**own[0], **file_statistics(times)})


def _no_room(setting: Setting, size_bytes: int, storage_mb: int) -> str | None:
    destination = setting.own["destination"]
    if destination == Destination.TMP:
        reason = f"destination is tmp; a data set of {size_bytes} bytes"
        return disk_refusal(reason, size_bytes, storage_mb)
    room = setting.memory_mb * _MIB - BASE_MEMORY_BYTES
    if destination == Destination.MEMORY and size_bytes > room:
        return (
            f"destination is memory; a data set of {size_bytes} bytes does not fit into the {room} "
            f"bytes that {setting.memory_mb} MB leave: raise memory_mb"
        )
    return None


def _too_many(setting: Setting, files: int) -> str | None:
    name = Pattern.of(str(setting.own["pattern"])).name
    all_at_once = name in (PatternName.PARALLEL, PatternName.SATURATED, PatternName.STACCATO)
    if not all_at_once or files <= FILES_AT_ONCE_MAX:
        return None
    return (
        f"pattern is {name}; {files} files may be open at once, and a function has threads and "
        f"file descriptors for {FILES_AT_ONCE_MAX}: take a smaller data set, or limited:N"
    )


def _no_program(setting: Setting) -> str | None:
    own = setting.own
    if own["client"] not in PROGRAMS:
        return None
    if own["destination"] != Destination.TMP:
        return f"client is {own['client']}, which writes files: destination must be tmp"
    if own["warm"] == Start.WARM and own["client"] in PROCESS_PER_FILE:
        return f"client is {own['client']}, a process for each file: none of them can be warm"
    from bucketsum_lab.workloads.transfer.clients import CLIENTS

    if ClientName(str(own["client"])) not in CLIENTS:
        return f"client is {own['client']}, a program that is not installed here; Lambda has none"
    return None

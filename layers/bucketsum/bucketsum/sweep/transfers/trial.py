"""One trial: a data set is transferred once, and then every file is checked."""

from __future__ import annotations

import hashlib
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bucketsum.archives.workspace import workspace
from bucketsum.digest import Digest
from bucketsum.errors import BadSettings
from bucketsum.measure import Meter
from bucketsum.sweep.generated_objects import file_key
from bucketsum.sweep.parameters import read_policy
from bucketsum.sweep.probe import ProbeAnswer, checked_answer, failed
from bucketsum.sweep.transfers import data_set, file_times
from bucketsum.sweep.transfers.clients import Access, new_client, object_at
from bucketsum.sweep.transfers.data_set import SetFile
from bucketsum.sweep.transfers.file_times import FileTime
from bucketsum.sweep.transfers.model import (
    DRAIN_BYTES,
    PROGRAMS,
    ClientName,
    Destination,
    Network,
    Pattern,
    Start,
)
from bucketsum.sweep.transfers.schedule import run_all, threads_of, vcpus_of
from bucketsum.sweep.transfers.sinks import Sink, new_sink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from bucketsum.measure import Measurement
    from bucketsum.sweep.parameters import Value
    from bucketsum.sweep.probe import ProbeContext, ProbeEvent
    from bucketsum.sweep.transfers.clients import Client

_THREADS: Final = 4
"""Threads of the reads that are not measured."""

_MS: Final = 1000
_KIB: Final = 1024
_WRONG_SHOWN: Final = 3


class TransferAnswer(ProbeAnswer, total=False):
    """An answer with the times of the files."""

    files: int
    threads: int
    drained_bytes: int
    file_times: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A cell's event and the prober around it, with the files to transfer."""

    event: ProbeEvent
    context: ProbeContext
    files: tuple[SetFile, ...]
    folder: Path
    """Where files are written."""

    @property
    def variant(self) -> Mapping[str, Value]:
        """The cell's own values by name."""
        return self.event["variant"]

    @property
    def destination(self) -> Destination:
        """Where the bytes go."""
        return Destination(str(self.variant["destination"]))

    @property
    def client_name(self) -> ClientName:
        """The client that is measured."""
        return ClientName(str(self.variant["client"]))

    @property
    def pattern(self) -> Pattern:
        """The pattern in which files start."""
        return Pattern.of(str(self.variant["pattern"]))

    @property
    def threads(self) -> int:
        """Most files at a time."""
        return threads_of(self.pattern, len(self.files), vcpus_of(self.context.memory_mb))

    def new_client(self) -> Client:
        """A client without connections."""
        event = self.event
        policy = read_policy(event["streams"], event["chunk_bytes"], self.context.memory_mb)
        region = self.context.s3.meta.region_name
        return new_client(self.client_name, Access(event["bucket"], region, policy, self.threads))

    def key_of(self, name: str) -> str:
        """The key of a file of the data set."""
        return file_key(self.event["key"], name)

    def chunks(self, file: SetFile) -> Iterable[bytes]:
        """The bytes of a file by the hasher's reader, outside the measured time."""
        created = object_at(self.event["bucket"], self.key_of(file.name), file.size_bytes)
        return self.context.source.open(created).chunks


def answer_to(event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
    """Transfer the data set of *event* once.

    Raises:
        BadSweep: The data set's list cannot be read.
        BucketsumError: A file could not be read; so do the errors of the clients.
    """
    started = time.perf_counter()
    body = context.s3.get_object(Bucket=event["bucket"], Key=event["key"])["Body"].read()
    if hashlib.sha1(body, usedforsecurity=False).hexdigest() != event["sha1"]:
        return failed("WrongDigest", f"the list {event['key']} is not the known one")
    files = data_set.read(body, event["key"])
    try:
        with workspace() as folder:
            answer = _measured(Trial(event, context, files, folder))
    except BadSettings as error:  # this machine has no such client; the next cell can run
        return failed("NotTransferred", str(error))
    passed_ms = (time.perf_counter() - started) * _MS
    answer["excluded_ms"] = int(passed_ms - answer["seconds"] * _MS)
    return answer


def _measured(trial: Trial) -> ProbeAnswer:
    drained = _drained_bytes(trial)
    is_warm = trial.variant["warm"] == Start.WARM
    client = _warmed(trial) if is_warm else None
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    meter = Meter()
    began = time.perf_counter()
    with closing(client or trial.new_client()) as used:
        run = partial(_received, trial, used, began)
        received = run_all(trial.pattern, trial.threads, len(trial.files), run)
        measurement = meter.stop(sum(each.sink.size_bytes for each in received))
    if trial.client_name in PROGRAMS:
        measurement = _with_children(measurement, children)
    arrived = _arrived(trial, received)
    answer: TransferAnswer = {
        **checked_answer(trial.event, _digest_of(arrived), measurement, meter),
        "files": len(received),
        "threads": trial.threads,
        "drained_bytes": drained,
        "file_times": file_times.written(each.time for each in received),
    }
    wrong = [file.name for file, other in zip(trial.files, arrived, strict=True) if file != other]
    if wrong:
        names = ", ".join(wrong[:_WRONG_SHOWN])
        answer["cause"] = f"{len(wrong)} of {len(arrived)} files have other bytes: {names}"
    return answer


@dataclass(frozen=True, slots=True)
class _Received:
    time: FileTime
    sink: Sink


def _received(
    trial: Trial, client: Client, began: float, job: int, intended: float | None
) -> _Received:
    """Transfer one file; its times count from *began*."""
    file = trial.files[job]
    started = time.perf_counter()
    sink = new_sink(trial.destination, trial.folder / str(job))
    with closing(sink):
        client.fetch(trial.key_of(file.name), file.size_bytes, sink)
    first_byte = None if sink.first_byte is None else sink.first_byte - began
    ended = time.perf_counter() - began
    times = FileTime(
        sink.size_bytes, (intended or started) - began, started - began, first_byte, ended
    )
    return _Received(times, sink)


def _warmed(trial: Trial) -> Client:
    """A client that has read the object for this."""
    client = trial.new_client()
    with closing(new_sink(Destination.NULL, trial.folder)) as sink:
        client.fetch(trial.key_of(data_set.WARM_UP_NAME), len(data_set.WARM_UP_CONTENT), sink)
    return client


def _drained_bytes(trial: Trial) -> int:
    """Read and drop `DRAIN_BYTES` if the sustained network is asked for; the bytes read."""
    if trial.variant["network"] == Network.BURST:
        return 0
    drained = 0
    with ThreadPoolExecutor(_THREADS) as pool:
        while drained < DRAIN_BYTES:
            drained += sum(pool.map(lambda file: sum(map(len, trial.chunks(file))), trial.files))
    return drained


def _arrived(trial: Trial, received: Sequence[_Received]) -> list[SetFile]:
    """The files as they came, for the list that they are compared with."""

    def arrived(file: SetFile, sink: Sink) -> SetFile:
        sha1 = sink.sha1() or data_set.sha1_of(trial.chunks(file))
        return SetFile(file.name, sink.size_bytes, sha1)

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(arrived, trial.files, [each.sink for each in received]))


def _digest_of(arrived: Sequence[SetFile]) -> Digest:
    """The digest of the list, which is the known one if all files are."""
    listed = hashlib.sha1(data_set.written(arrived), usedforsecurity=False)
    return Digest(listed.hexdigest(), sum(file.size_bytes for file in arrived))


def _with_children(measurement: Measurement, before: resource.struct_rusage) -> Measurement:
    """*measurement* with the CPU time of processes since *before*, and the largest's memory."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return replace(
        measurement,
        cpu_seconds=(measurement.cpu_seconds or 0.0) + cpu,
        max_rss_bytes=max(measurement.max_rss_bytes or 0, after.ru_maxrss * _KIB),
    )

"""The answer to a probe: a data set is transferred once, and then every file is checked."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Final

from bucketsum.archives.workspace import workspace
from bucketsum.digest import Digest, digest_of
from bucketsum.errors import BadSettings
from bucketsum.measure import Measurement
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.protocol.measuring import Meter, children_cpu_seconds
from bucketsum_lab.protocol.probe import (
    ProbeAnswer,
    ProbeContext,
    ProbeEvent,
    checked_answer,
    failed,
)
from bucketsum_lab.workloads.transfer import data_set, file_times
from bucketsum_lab.workloads.transfer.clients import Fetch
from bucketsum_lab.workloads.transfer.data_set import SetFile
from bucketsum_lab.workloads.transfer.file_times import FileTime
from bucketsum_lab.workloads.transfer.model import Destination
from bucketsum_lab.workloads.transfer.schedule import run_all
from bucketsum_lab.workloads.transfer.sinks import Sink, new_sink
from bucketsum_lab.workloads.transfer.trial import UNMEASURED_THREADS, Trial

_MS: Final = 1000
_KIB: Final = 1024
_WRONG_SHOWN: Final = 3


def answer_to(event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
    """Transfer the data set of *event* once.

    Raises:
        BadSweep: The data set's list cannot be read, or has another total.
        BucketsumError: A file could not be read; so do the errors of the clients.
    """
    started = time.perf_counter()
    body = context.s3.get_object(Bucket=event["bucket"], Key=event["key"])["Body"].read()
    if digest_of([body]).sha1 != event["sha1"]:
        return failed("WrongDigest", f"the list {event['key']} is not the known one")
    files = data_set.read(body, event["key"])
    total = sum(file.size_bytes for file in files)
    if total != event["size_bytes"]:
        raise BadSweep(f"{event['key']} names {total} bytes of files, not {event['size_bytes']}")
    try:
        with workspace() as folder:
            answer = _measured(Trial(event, context, files, folder))
    except BadSettings as error:  # this machine has no such client; the next cell can run
        return failed("NotTransferred", str(error))
    passed_ms = (time.perf_counter() - started) * _MS
    answer["excluded_ms"] = int(passed_ms - answer["seconds"] * _MS)
    return answer


def _measured(trial: Trial) -> ProbeAnswer:
    drained = trial.drained_bytes()
    with ExitStack() as clients:
        warmed = trial.warmed_client(clients)
        children_cpu = children_cpu_seconds() if trial.runs_programs else 0.0
        meter = Meter()
        began = time.perf_counter()
        fetch = warmed or clients.enter_context(trial.new_client())
        run = partial(_received, trial, fetch, began)
        received = run_all(trial.pattern, trial.threads, len(trial.files), run)
        measurement = meter.stop(sum(sink.size_bytes for _, sink in received))
    if trial.runs_programs:
        measurement = _with_children(measurement, children_cpu)
    arrived = _arrived(trial, [sink for _, sink in received])
    answer = {
        **checked_answer(trial.event, _digest_of(trial, arrived), measurement, meter),
        "files": len(received),
        "threads": trial.threads,
        "drained_bytes": drained,
        "file_times": file_times.written(times for times, _ in received),
    }
    wrong = [file.name for file, other in zip(trial.files, arrived, strict=True) if file != other]
    if wrong:
        names = ", ".join(wrong[:_WRONG_SHOWN])
        answer["cause"] = f"{len(wrong)} of {len(arrived)} files have other bytes: {names}"
    return answer


def _received(
    trial: Trial, fetch: Fetch, began: float, job: int, intended: float | None
) -> tuple[FileTime, Sink]:
    """Transfer one file; its times count from *began*."""
    file = trial.files[job]
    started = time.perf_counter()
    destination = Destination(str(trial.event["variant"]["destination"]))
    sink = new_sink(destination, trial.folder / str(job))
    with closing(sink):
        fetch(trial.key_of(file.name), file.size_bytes, sink)
    first_byte = None if sink.first_byte is None else sink.first_byte - began
    ended = time.perf_counter() - began
    times = FileTime(
        sink.size_bytes, (intended or started) - began, started - began, first_byte, ended
    )
    return times, sink


def _arrived(trial: Trial, sinks: Sequence[Sink]) -> list[SetFile]:
    """Name, size and SHA-1 of each received file, as in the data set's list."""

    def arrived(file: SetFile, sink: Sink) -> SetFile:
        sha1 = sink.sha1() or digest_of(trial.chunks(file)).sha1
        return SetFile(file.name, sink.size_bytes, sha1)

    with ThreadPoolExecutor(UNMEASURED_THREADS) as pool:
        return list(pool.map(arrived, trial.files, sinks))


def _digest_of(trial: Trial, arrived: Sequence[SetFile]) -> Digest:
    """The digest of the list of received files; the known digest if all are correct."""
    size_bytes = sum(file.size_bytes for file in arrived)
    if tuple(arrived) == trial.files:
        return Digest(trial.event["sha1"], size_bytes)
    return Digest(digest_of([data_set.written(arrived)]).sha1, size_bytes)


def _with_children(measurement: Measurement, cpu_before: float) -> Measurement:
    """*measurement* with the CPU time of ended processes, and the largest's memory."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children_cpu_seconds() - cpu_before
    own_cpu, own_peak = measurement.cpu_seconds, measurement.max_rss_bytes
    return replace(
        measurement,
        cpu_seconds=None if own_cpu is None else own_cpu + cpu,
        max_rss_bytes=None if own_peak is None else max(own_peak, after.ru_maxrss * _KIB),
    )

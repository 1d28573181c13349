"""Prober of one process: a Lambda execution environment, or a process of another machine."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3

from bucketsum import __version__
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import Source
from bucketsum_lab.measure.disk import measure_disk
from bucketsum_lab.measure.use import UseMeter
from bucketsum_lab.protocol.parameters import read_policy
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent, values_of
from bucketsum_lab.protocol.samples import Billing, ProberProcess, SampleStatus
from bucketsum_lab.workloads import setting_of, workload_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_MS: Final = 1000


class Prober:
    """Probes with connections that stay open for the next probe; the first probe is cold."""

    def __init__(self, s3: S3Client, extra_algorithms: Sequence[str] = ()) -> None:
        """Read with *s3*, and hash as the hasher; the process has initialised once this returns."""
        self._s3 = s3
        self._extra_algorithms = extra_algorithms
        requests = SignedRequests.of_client(s3)
        self._source: Callable[[ReadPolicy], Source] = cache(  # the hasher's reader
            lambda policy: reader(s3, requests, policy, os.environ)
        )
        self._is_cold, self._is_disk_known = True, False
        self._init_ms = _process_age_ms()

    def probe(self, event: ProbeEvent, memory_mb: int) -> ProbeAnswer:
        """Probe once with *memory_mb* MiB, and describe the process.

        Raises:
            BucketsumError: The object could not be read.
        """
        with UseMeter(self._s3.meta.endpoint_url) as meter:
            answer = self._measured(event, memory_mb)
        disk = self._disk(event, memory_mb) if answer["status"] == SampleStatus.OK else {}
        return {**answer, "use": meter.curve.to_text(), **disk}

    def _disk(self, event: ProbeEvent, memory_mb: int) -> ProbeAnswer:
        """The speed of the disk, the first time that a probe has used it; never billed."""
        values = {**event, **event.get("variant", {}), "memory_mb": memory_mb}
        if self._is_disk_known or not workload_of(event["workload"]).uses_disk(setting_of(values)):
            return {}
        self._is_disk_known = True
        speed = measure_disk()
        return values_of(replace(speed, disk_folder=event.get("disk", speed.disk_folder)))

    def _measured(self, event: ProbeEvent, memory_mb: int) -> ProbeAnswer:
        started = time.perf_counter()
        cold, self._is_cold = self._is_cold, False
        policy = read_policy(event["streams"], event["chunk_bytes"], memory_mb)
        context = ProbeContext(self._s3, self._source(policy), policy, self._extra_algorithms)
        answer = workload_of(event["workload"]).probe(event, context)
        process = ProberProcess(
            memory_mb=memory_mb,
            boto3=boto3.__version__,
            layer=__version__,
            runtime=platform.python_version(),
            architecture=platform.machine(),
        )
        handler_ms = math.ceil((time.perf_counter() - started) * _MS)
        excluded_ms, init_ms = answer.get("excluded_ms"), self._init_ms if cold else None
        billed_ms = handler_ms - (excluded_ms or 0) + (init_ms or 0)
        billing = Billing(cold, billed_ms, excluded_ms, init_ms)
        return {**answer, **values_of(process), **values_of(billing)}


def _process_age_ms() -> int | None:
    """From the start of this process until now; None if the start is unknown."""
    try:
        stat = Path("/proc/self/stat").read_text()
    except OSError:
        return None
    ticks = int(stat.rpartition(")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return math.ceil(age * _MS)

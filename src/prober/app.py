"""Measures one cell's work on one object, as the hasher would do it. Changes nothing."""

from __future__ import annotations

import math
import os
import platform
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3

# The hasher imports both: cold starts and memory must be its own.
from aws_lambda_powertools import Logger, Metrics  # noqa: F401

from bucketsum import __version__
from bucketsum.s3.reader import reader
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.sweep.parameters import read_policy
from bucketsum.sweep.probe import ProbeContext
from bucketsum.sweep.workloads import workload_of

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from bucketsum.s3.read_plan import ReadPolicy
    from bucketsum.s3.source import Source
    from bucketsum.sweep.probe import ProbeAnswer, ProbeEvent

logger = Logger()

_S3: Final = boto3.client("s3", config=CLIENT_CONFIG)
_MS: Final = 1000


def _init_ms() -> int | None:
    """From the start of this process until now."""
    try:
        stat = Path("/proc/self/stat").read_text()
    except OSError:
        return None
    ticks = int(stat.rpartition(")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return math.ceil(age * _MS)


_INIT_MS: Final = _init_ms()
_environment: Final = {"is_new": True}


@cache
def _source(policy: ReadPolicy) -> Source:
    """The hasher's reader with this policy; its connections stay open for the next probe."""
    return reader(_S3, policy.chunk_bytes, policy.plan_for, os.environ)


@logger.inject_lambda_context
def lambda_handler(event: ProbeEvent, context: LambdaContext) -> ProbeAnswer:
    """Probe once, and describe the environment."""
    started = time.perf_counter()
    cold, _environment["is_new"] = _environment["is_new"], False
    memory_mb = int(context.memory_limit_in_mb)
    workload = workload_of(event["workload"])
    policy = read_policy(event["streams"], event["chunk_bytes"], memory_mb)
    answer = workload.probe(event, ProbeContext(_S3, _source(policy), memory_mb))
    answer["cold"] = cold
    answer["memory_mb"] = memory_mb
    answer["version"] = context.function_version
    answer["boto3"] = boto3.__version__
    answer["layer"] = __version__
    answer["runtime"] = platform.python_version()
    answer["architecture"] = platform.machine()
    answer["log_stream"] = context.log_stream_name
    answer["billed_ms"] = math.ceil((time.perf_counter() - started) * _MS)
    if cold and _INIT_MS is not None:
        answer["init_ms"] = _INIT_MS
        answer["billed_ms"] += _INIT_MS
    return answer

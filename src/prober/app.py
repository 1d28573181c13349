"""Reads one object as the hasher does; returns what that took. Changes nothing."""

from __future__ import annotations

import math
import os
import platform
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import boto3

# The hasher imports both: cold starts and memory are to be its own.
from aws_lambda_powertools import Logger, Metrics  # noqa: F401

from bucketsum import __version__
from bucketsum.s3.reader import reader
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum.sweep.probe import Prober

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from bucketsum.s3.read_plan import ReadPolicy
    from bucketsum.s3.source import Source

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
def _source(streams: ReadPolicy) -> Source:
    """The hasher's reader with these settings; its connections stay open for the next run."""
    return reader(_S3, streams.chunk_bytes, streams.plan_for, os.environ)


@logger.inject_lambda_context
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Probe once, and say where and on what."""
    started = time.perf_counter()
    cold, _environment["is_new"] = _environment["is_new"], False
    memory_mb = int(context.memory_limit_in_mb)
    answer = Prober(_S3, _source, memory_mb).probe(event) | {
        "cold": cold,
        "memory_mb": memory_mb,
        "version": context.function_version,
        "boto3": boto3.__version__,
        "layer": __version__,
        "runtime": platform.python_version(),
        "architecture": platform.machine(),
        "log_stream": context.log_stream_name,
    }
    init_ms = (_INIT_MS or 0) if cold else 0
    if cold and _INIT_MS is not None:
        answer["init_ms"] = _INIT_MS
    return answer | {"billed_ms": math.ceil((time.perf_counter() - started) * _MS) + init_ms}

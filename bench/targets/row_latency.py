"""Time from the start of a small PUT until its row is written, with a warm function."""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING, Final

from bench.targets.result import Result
from bucketsum.digests_table import RowKey

if TYPE_CHECKING:
    from bucketsum_cli.stack import Stack

PUTS: Final = 50
_WARM_UP_PUTS: Final = 10
_SIZE_BYTES: Final = 1000
_PAUSE_SECONDS: Final = 0.002


def measure(stack: Stack) -> Result:
    """Upload objects one after the other, each after the previous row."""
    s3, table = stack.client("s3"), stack.digests_table()
    times_ms = []
    for number in range(_WARM_UP_PUTS + PUTS):
        key = f"bench/latency/{number}"
        started = time.perf_counter()
        put = s3.put_object(Bucket=stack.bucket, Key=key, Body=os.urandom(_SIZE_BYTES))
        while table.row_at(RowKey(stack.bucket, key, put["VersionId"])) is None:
            time.sleep(_PAUSE_SECONDS)
        times_ms.append((time.perf_counter() - started) * 1000)
    warm = sorted(times_ms[_WARM_UP_PUTS:])
    return Result(
        name=f"row after a {_SIZE_BYTES // 1000} kB PUT, median of {PUTS}",
        value=statistics.median(warm),
        unit="ms",
        target=150,
        detail=f"min {warm[0]:.0f}, p90 {warm[int(PUTS * 0.9)]:.0f}, max {warm[-1]:.0f} ms",
    )

"""What is known of a sweep: the run, its samples, what its cells' samples say together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bucketsum.dynamodb_items import stored
from bucketsum.sweep.axes import Setting
from bucketsum.sweep.prices import FREE_STORAGE_MB

_TIMED_NAME: Final = re.compile(r"\d{8}T\d{6}-")


class RunStatus(StrEnum):
    """How a run stands, or ended."""

    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    PARTIAL = "PARTIAL"
    """It ended, but not every sample is there, or something is left behind."""
    FAILED = "FAILED"
    STOPPED = "STOPPED"
    """Somebody stopped its execution, or it timed out."""


@dataclass(frozen=True, slots=True)
class Run:
    """One sweep.

    Attributes:
        run_id: Sorts by the time it started.
        status: How it stands.
        started_at: ISO 8601 UTC.
        region: Where it ran.
        architecture: arm64 or x86_64.
        runtime: As ``python3.13``.
        label: ``aws``, or ``local`` for the embedded AWS, whose numbers are not AWS's.
        execution_arn: The Step Functions execution.
        input: What was asked for, as JSON text.
        runs: How often each cell is measured.
        weak: Whether that is too few to say much of the spread.
        cells: How many cells.
        samples: How many samples are planned, warm-ups included.
        estimated_seconds: The planner's estimate of wall time.
        estimated_usd: The planner's estimate of cost.
        price_date: Date of the price table that costs are computed with.
        ended_at: ISO 8601 UTC.
        samples_ok: Samples that succeeded, warm-ups included.
        samples_failed: Samples that failed or were refused.
        summary: What came out, with the recommendation, as JSON text.
        cause: Why it is not SUCCEEDED.
    """

    run_id: str
    status: RunStatus = field(metadata=stored(read=RunStatus))
    started_at: str
    region: str | None = None
    architecture: str | None = None
    runtime: str | None = None
    label: str | None = None
    execution_arn: str | None = None
    input: str | None = None
    runs: int | None = None
    weak: bool | None = None
    cells: int | None = None
    samples: int | None = None
    estimated_seconds: float | None = None
    estimated_usd: float | None = None
    price_date: str | None = None
    ended_at: str | None = None
    samples_ok: int | None = None
    samples_failed: int | None = None
    summary: str | None = None
    cause: str | None = None


class SampleStatus(StrEnum):
    """Whether there is a measurement."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Sample:
    """One invocation of the prober, or why there is none.

    Attributes:
        cell_id: The cell.
        run: 1 is the first; 0 is a warm-up, which counts for cold starts alone.
        invocation: 1 is the first of those that ran at once.
        status: Whether it succeeded.
        at: When it ended, ISO 8601 UTC.
        error: The error's name as Step Functions tells it, where it failed.
        cause: What went wrong, where it failed.
        size_bytes: Bytes read and hashed, of an archive its own.
        seconds: From the GET to the last byte hashed.
        mb_per_s: 10⁶ bytes per second of it.
        cpu_seconds: Processor time of the process in that time, all threads.
        max_rss_bytes: Most memory resident at once.
        rss_of: ``reading`` where the system could reset the peak before it, else ``process``:
            the peak since the execution environment started.
        cold: Whether it was the first invocation of its execution environment.
        billed_ms: The handler's whole time rounded up, and `init_ms` where cold.
        init_ms: Where cold: from the start of the process to the first invocation.
        digest_ok: Whether the digest was the known one.
        sha1: The digest.
        mode: How an archive was read.
        inflate: What inflated its members.
        members: How many files were in it.
        directories: How many folders these were in.
        member_bytes: What the files came to.
        memory_mb: Memory of the version that ran.
        version: The prober's version that ran.
        boto3: Version of boto3.
        layer: Version of the bucketsum library.
        runtime: Python's version.
        architecture: As the processor calls itself.
        log_stream: Names the execution environment: equal for invocations that shared one.
    """

    cell_id: str
    run: int
    invocation: int
    status: SampleStatus = field(metadata=stored(read=SampleStatus))
    at: str
    error: str | None = None
    cause: str | None = None
    size_bytes: int | None = None
    seconds: float | None = None
    mb_per_s: float | None = None
    cpu_seconds: float | None = None
    max_rss_bytes: int | None = None
    rss_of: str | None = None
    cold: bool | None = None
    billed_ms: int | None = None
    init_ms: int | None = None
    digest_ok: bool | None = None
    sha1: str | None = None
    mode: str | None = None
    inflate: str | None = None
    members: int | None = None
    directories: int | None = None
    member_bytes: int | None = None
    memory_mb: int | None = None
    version: str | None = None
    boto3: str | None = None
    layer: str | None = None
    runtime: str | None = None
    architecture: str | None = None
    log_stream: str | None = None


@dataclass(frozen=True, slots=True)
class CellRow:
    """What a cell's samples say together. Statistics are of warm samples that succeeded.

    Attributes:
        cell_id: See `bucketsum.sweep.cells.Cell`.
        memory_mb: The function's memory.
        chunk_bytes: Bytes of a part; see `Setting`.
        streams: Connections that read one object, or ``auto``.
        concurrency: Invocations at once.
        object_bytes: Size of the object.
        key: The object.
        mode: How an archive is read; None where none is.
        inflate: What inflates its members; None where there are none.
        storage_mb: The /tmp that is paid for, in MiB.
        members: How many files were in the archive.
        directories: How many folders these were in.
        member_bytes: What the files came to.
        n: Warm samples.
        failed: Samples that failed or were refused.
        n_cold: Cold samples that succeeded, warm-ups included.
        min_seconds: Least seconds of a warm sample.
        p50_seconds: Median.
        p90_seconds: 90th percentile, interpolated.
        max_seconds: Most.
        mean_seconds: Mean.
        stdev_seconds: Standard deviation of the sample (n - 1); absent below 2 samples.
        cold_p50_seconds: Median of the cold samples.
        cold_init_ms: Median of their init.
        mb_per_s: 10⁶ bytes / `p50_seconds`.
        cpu_seconds: Mean processor time.
        max_rss_bytes: Most memory of any sample.
        billed_ms: Median.
        usd_per_gb: Cost of an invocation of `billed_ms` / 10⁹ bytes of object.
        usd_per_tb: 1,000 × that.
        weak: Fewer than 5 warm samples.
        best: Fastest of its object and concurrency, by `p50_seconds`.
        p_value: Of the permutation test against the best; see `bucketsum.sweep.analysis`.
        indistinguishable_from_best: Whether that is at least 0.05.
        pareto: Whether no other setting is both faster and cheaper.
        cause: Why samples failed; the first one's.
    """

    cell_id: str
    memory_mb: int
    chunk_bytes: int
    streams: int | str
    concurrency: int
    object_bytes: int
    key: str
    mode: str | None = None
    inflate: str | None = None
    storage_mb: int = FREE_STORAGE_MB
    members: int | None = None
    directories: int | None = None
    member_bytes: int | None = None
    n: int = 0
    failed: int = 0
    n_cold: int = 0
    min_seconds: float | None = None
    p50_seconds: float | None = None
    p90_seconds: float | None = None
    max_seconds: float | None = None
    mean_seconds: float | None = None
    stdev_seconds: float | None = None
    cold_p50_seconds: float | None = None
    cold_init_ms: float | None = None
    mb_per_s: float | None = None
    cpu_seconds: float | None = None
    max_rss_bytes: int | None = None
    billed_ms: float | None = None
    usd_per_gb: float | None = None
    usd_per_tb: float | None = None
    weak: bool | None = None
    best: bool | None = None
    p_value: float | None = None
    indistinguishable_from_best: bool | None = None
    pareto: bool | None = None
    cause: str | None = None

    @property
    def setting(self) -> Setting:
        """What was measured."""
        return Setting(self.memory_mb, self.chunk_bytes, self.streams, self.mode, self.inflate)


def run_id_of(execution_name: str, started_at: str) -> str:
    """The run of an execution: its name where that begins with a time, else time and name.

    ``3f2a`` started at ``2026-11-21T04:15:00.123Z`` is the run ``20261121T041500-3f2a``. The
    state machine's first state computes the same.
    """
    if _TIMED_NAME.match(execution_name):
        return execution_name
    return f"{started_at[:19].replace('-', '').replace(':', '')}-{execution_name}"

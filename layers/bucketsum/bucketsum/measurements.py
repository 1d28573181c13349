"""Runs, cells and samples ↔ DynamoDB items. The only file that knows MeasurementsTable."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

BY_TIME_INDEX: Final = "by-time"
RUN_KIND: Final = "run"
"""The partition of `BY_TIME_INDEX`; only items of runs have the attribute."""

_RUN_ITEM: Final = "run"
_CELL: Final = "cell#"
_SAMPLE: Final = "sample#"
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
    status: RunStatus
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
        size_bytes: Bytes read and hashed.
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
    status: SampleStatus
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
        cell_id: See `bucketsum.plan.Cell`.
        memory_mb: The function's memory.
        chunk_bytes: Bytes read and hashed at a time.
        streams: Connections that read one object.
        concurrency: Invocations at once.
        object_bytes: Size of the object.
        key: The object.
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
        p_value: Of the permutation test against the best; see `bucketsum.analysis`.
        indistinguishable_from_best: Whether that is at least 0.05.
        pareto: Whether no other setting is both faster and cheaper.
        cause: Why samples failed; the first one's.
    """

    cell_id: str
    memory_mb: int
    chunk_bytes: int
    streams: int
    concurrency: int
    object_bytes: int
    key: str
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


def run_id_of(execution_name: str, started_at: str) -> str:
    """The run of an execution: its name where that begins with a time, else time and name.

    ``3f2a`` started at ``2026-11-21T04:15:00.123Z`` is the run ``20261121T041500-3f2a``. The
    state machine's first state computes the same.
    """
    if _TIMED_NAME.match(execution_name):
        return execution_name
    return f"{started_at[:19].replace('-', '').replace(':', '')}-{execution_name}"


_STATUSES: Final[Mapping[type, type[StrEnum]]] = {Run: RunStatus, Sample: SampleStatus}

T = TypeVar("T", Run, Sample, CellRow)


class Measurements:
    """The measurements table."""

    def __init__(self, dynamodb: DynamoDBClient, table: str) -> None:
        self._dynamodb = dynamodb
        self._table = table

    def runs(self) -> Iterator[Run]:
        """Every run, the newest first."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            IndexName=BY_TIME_INDEX,
            KeyConditionExpression="kind = :run",
            ExpressionAttributeValues={":run": {"S": RUN_KIND}},
            ScanIndexForward=False,
        )
        for page in pages:
            yield from (_value_of(Run, item) for item in page["Items"])

    def run(self, run_id: str) -> Run | None:
        """The run, or None; consistent."""
        key = {"run_id": {"S": run_id}, "item": {"S": _RUN_ITEM}}
        answer = self._dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return _value_of(Run, answer["Item"]) if "Item" in answer else None

    def cells(self, run_id: str) -> list[CellRow]:
        """The cells of a run, ordered by id; consistent."""
        return [_value_of(CellRow, item) for item in self._items(run_id, _CELL)]

    def samples(self, run_id: str) -> list[Sample]:
        """The samples of a run, ordered by cell, run and invocation; consistent."""
        return [sample_of(item) for item in self._items(run_id, _SAMPLE)]

    def start(self, run: Run) -> None:
        """Write a run that begins. Repeating it changes nothing."""
        self._put(run.run_id, _RUN_ITEM, run, {"kind": {"S": RUN_KIND}})

    def record_sample(self, run_id: str, sample: Sample) -> None:
        """Write one sample."""
        self._put(run_id, sample_item(sample.cell_id, sample.run, sample.invocation), sample)

    def record_cell(self, run_id: str, cell: CellRow) -> None:
        """Write one cell."""
        self._put(run_id, f"{_CELL}{cell.cell_id}", cell)

    def refuse_cells(self, run_id: str, memory_mb: int, cause: str) -> None:
        """Write *cause* to the cells of one memory size."""
        for cell in self.cells(run_id):
            if cell.memory_mb == memory_mb and cell.cause is None:
                self.record_cell(run_id, replace(cell, cause=cause))

    def end(self, run: Run) -> None:
        """Write how a run ended."""
        self._put(run.run_id, _RUN_ITEM, run, {"kind": {"S": RUN_KIND}})

    def _put(
        self,
        run_id: str,
        item: str,
        value: Run | Sample | CellRow,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        key = {"run_id": {"S": run_id}, "item": {"S": item}}
        self._dynamodb.put_item(
            TableName=self._table, Item={**_attributes_of(value), **(more or {}), **key}
        )

    def _items(self, run_id: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="run_id = :run AND begins_with(#item, :prefix)",
            ExpressionAttributeNames={"#item": "item"},
            ExpressionAttributeValues={":run": {"S": run_id}, ":prefix": {"S": prefix}},
            ConsistentRead=True,
        )
        for page in pages:
            yield from page["Items"]


def sample_item(cell_id: str, run: int, invocation: int) -> str:
    """The range key of a sample. The state machine composes the same."""
    return f"{_SAMPLE}{cell_id}#{run:04d}#{invocation:04d}"


def sample_of(item: Mapping[str, Any]) -> Sample:
    """A sample as the state machine wrote it."""
    return _value_of(Sample, item)


def _attributes_of(value: Run | Sample | CellRow) -> dict[str, Any]:
    present = ((one.name, getattr(value, one.name)) for one in fields(value))
    return {name: _attribute(one) for name, one in present if one is not None}


def _attribute(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": str(value)}
    return {"N": f"{value:.9g}" if isinstance(value, float) else str(value)}


def _value_of(kind: type[T], item: Mapping[str, Any]) -> T:
    known = {one.name for one in fields(kind)}
    values = {name: _plain(one) for name, one in item.items() if name in known}
    if kind in _STATUSES:
        values["status"] = _STATUSES[kind](values["status"])
    return kind(**values)


def _plain(attribute: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of DynamoDB's types
    if "N" not in attribute:
        return attribute.get("S", attribute.get("BOOL"))
    text: str = attribute["N"]
    return int(text) if text.lstrip("-").isdigit() else float(text)

"""Records of a sweep: the run, and the statistics of its cells."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Self

from bucketsum.prices import FREE_STORAGE_MB
from bucketsum.table.codec import from_values
from bucketsum.table.stored_fields import NOT_STORED, names_of, nested, stored
from bucketsum_lab.protocol.parameters import Setting

_DOCUMENT: Final = stored(read=json.loads, write=json.dumps)
RUNTIME: Final = f"python{sys.version_info.major}.{sys.version_info.minor}"
"""Of this process, as Lambda names it."""

_TIMED_NAME: Final = re.compile(r"\d{8}T\d{6}-")


class RunStatus(StrEnum):
    """State of a run."""

    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    PARTIAL = "PARTIAL"
    """It ended, but samples are missing, or something is left behind."""
    FAILED = "FAILED"
    STOPPED = "STOPPED"
    """Somebody stopped its execution, or it timed out."""


class RunLabel(StrEnum):
    """Place where a run was measured."""

    AWS = "aws"
    LOCAL = "local"
    """The local emulator, whose numbers are not AWS's."""
    HERE = "here"
    """A machine without Lambda; see `Run.machine`."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a sweep."""

    run_id: str
    """Sorts by the time it started."""
    status: RunStatus = field(metadata=stored(read=RunStatus))
    started_at: str
    """ISO 8601 UTC."""
    region: str | None = None
    architecture: str | None = None
    """arm64 or x86_64."""
    runtime: str | None = None
    """As ``python3.13``."""
    label: str | None = None
    """A `RunLabel`."""
    machine: Mapping[str, Any] | None = field(default=None, metadata=_DOCUMENT)
    """The machine that measured it, if that was not Lambda."""
    execution_arn: str | None = None
    input: Any = field(default=None, metadata=_DOCUMENT)
    """The sweep's input as its sender wrote it: any JSON."""
    deployed: Mapping[str, Any] | None = field(default=None, metadata=_DOCUMENT)
    """The values of the cells that have the setting of the stack's hasher."""
    repetitions: int | None = field(default=None, metadata=stored("runs"))
    """How often each cell is measured."""
    few_samples: bool | None = field(default=None, metadata=stored("weak"))
    """Whether that is too few to say much about the spread."""
    cells: int | None = None
    samples: int | None = None
    """How many samples are planned, warm-ups included."""
    estimated_seconds: float | None = None
    estimated_usd: float | None = None
    price_date: str | None = None
    """Date of the prices that costs are computed with."""
    priced_as: str | None = None
    """The Region whose prices they are, if those of `region` are not known."""
    ended_at: str | None = None
    """ISO 8601 UTC."""
    samples_ok: int | None = None
    """Samples that succeeded, warm-ups included."""
    samples_failed: int | None = None
    """Samples that failed or were refused."""
    summary: Mapping[str, Any] | None = field(default=None, metadata=_DOCUMENT)
    """Numbers and recommendation; see `bucketsum_lab.results.summary`."""
    cause: str | None = None
    """The reason why it is not SUCCEEDED."""


@dataclass(frozen=True, slots=True)
class ColdStatistics:
    """Statistics of a cell's cold samples that succeeded, warm-ups included."""

    n_cold: int
    cold_p50_seconds: float
    cold_init_ms: float | None = None
    """Median of their init."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStatistics:
    """Statistics of a cell's warm samples that succeeded."""

    n: int
    min_seconds: float
    p50_seconds: float
    p90_seconds: float
    """90th percentile, interpolated."""
    max_seconds: float
    mean_seconds: float
    stdev_seconds: float | None = None
    """Standard deviation of the sample (n - 1); None for a single sample."""
    mb_per_s: float
    """10⁶ bytes / `p50_seconds`."""
    cpu_seconds: float | None = None
    """Mean CPU time."""
    billed_ms: float
    """Median."""
    usd_per_gb: float | None = None
    """Cost of an invocation of `billed_ms` / 10⁹ bytes of object; None if the price of the
    machine is not known."""
    usd_per_tb: float | None = None
    few_samples: bool = field(metadata=stored("weak"))
    """Fewer than 5 samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStatistics(WarmStatistics):
    """Warm statistics of a cell, compared with other cells of its object and concurrency."""

    best: bool
    """Fastest by `p50_seconds`."""
    p_value: float
    """Of the rank-sum test against the best; see `bucketsum_lab.results.analysis`."""
    indistinguishable_from_best: bool
    """Whether that is at least 0.05, and the median at most 10 % slower."""
    pareto: bool
    """Whether no other setting is both faster and cheaper."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The limit of a cell; see `bucketsum_lab.results.bottleneck`."""

    bottleneck: str
    """Names of `Limit`, joined by a comma: more than one if they are equal."""
    bottleneck_share: float
    """Share of the warm samples' time in which the cell was at this limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadStatistics:
    """A workload's own statistics of a cell: a number or a text in each field."""

    @classmethod
    def of(cls, cell: CellRow) -> Self | None:
        """Those of *cell*; None without a good sample, and for another workload."""
        return cell.own if isinstance(cell.own, cls) else None

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Those among *values* by name; None if there are none.

        Raises:
            ValueError: Some are missing, or are of another type.
        """
        return None if values.keys().isdisjoint(names_of(cls)) else from_values(cls, values)


@dataclass(frozen=True, slots=True)
class CellRow:
    """A planned cell, with statistics once the run has ended."""

    cell_id: str
    """See `bucketsum_lab.plan.cells.PlannedCell`."""
    setting: Setting = field(metadata=NOT_STORED)
    concurrency: int
    object_bytes: int
    key: str
    workload: str = "hash"
    """A `WorkloadName`."""
    storage_mb: int = FREE_STORAGE_MB
    """The /tmp that is paid for, in MiB."""
    failed: int = 0
    """Samples that failed or were refused."""
    cause: str | None = None
    """The reason why samples failed; the first one's."""
    max_rss_bytes: int | None = None
    """Peak memory of all samples that succeeded."""
    own: WorkloadStatistics | None = field(default=None, metadata=NOT_STORED)
    """The workload's own statistics; None without a good sample."""
    cold: ColdStatistics | None = field(default=None, metadata=nested(ColdStatistics))
    """None without a cold sample that succeeded."""
    limit: Bottleneck | None = field(default=None, metadata=nested(Bottleneck))
    """None if no warm sample has a curve of its use."""
    stats: CellStatistics | None = field(default=None, metadata=nested(CellStatistics))
    """None without a warm sample that succeeded."""


def run_id_of(execution_name: str, started_at: str) -> str:
    """The run of an execution: its name if that begins with a time, else time and name.

    ``3f2a`` started at ``2026-11-21T04:15:00.123Z`` is the run ``20261121T041500-3f2a``. The
    state machine's first state computes the same.
    """
    if _TIMED_NAME.match(execution_name):
        return execution_name
    return f"{started_at[:19].replace('-', '').replace(':', '')}-{execution_name}"


def run_id_of_detail(detail: Mapping[str, Any]) -> str:
    """The run of an EventBridge event's *detail* about an execution."""
    started_at = datetime.fromtimestamp(detail["startDate"] / 1000, UTC).isoformat()
    return run_id_of(detail["name"], started_at)

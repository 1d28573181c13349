"""The table of a run, laid out as in Bryson (2021): groups of settings, rows of objects."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from bucketsum.sweep.samples import SampleStatus
from bucketsum_cli.tune.formatting import (
    MISSING,
    count_text,
    seconds_text,
    speed_text,
    usd_text,
    used_text,
)
from bucketsum_cli.tune.results import speed_at
from bucketsum_cli.tune.workloads import OWN_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bucketsum.sweep.records import CellRow
    from bucketsum.sweep.samples import Sample
    from bucketsum_cli.tune.results import Results

COLD: Final = "*"
"""Follows the seconds of a cold sample, which no statistic counts."""

FAILED: Final = "failed"

ALIKE: Final = "≈ fastest"
"""Not significantly different from the fastest cell of its object; see docs/tuning.md."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table, on the terminal and in the report.

    Attributes:
        title: Its heading.
        field: The field of `TableRow` that it shows, or the name of a workload's own column.
        is_number: Whether it is aligned to the right.
        in_report: Whether only the report has room for it.
    """

    title: str
    field: str
    is_number: bool = True
    in_report: bool = False


RUNS: Final = TableColumn("every run (s)", "runs", is_number=False)

_OBJECT: Final = TableColumn("object", "object", is_number=False)
_COLUMNS: Final = (
    TableColumn("memory used", "memory_used"),
    RUNS,
    TableColumn("average MB/s", "average"),
    TableColumn("MB/s", "median"),
    TableColumn("median s", "median_seconds", in_report=True),
    TableColumn("± s", "spread"),
    TableColumn("USD per GB", "usd_per_gb"),
    TableColumn("remarks", "remarks", is_number=False),
)


@dataclass(frozen=True, slots=True)
class TableRow:
    """The texts of a cell, equal in the table and in the plots.

    Attributes:
        object: Size of the object, and its key if the sweep's input names it.
        own: Texts of the workload's own columns by name.
        memory_used: The highest of all samples.
        runs: Seconds of every run; those of concurrent invocations joined by ``/``.
        average: MB/s at the mean of the seconds, as in the baseline.
        median: MB/s at their median, which plots and recommendation use.
        median_seconds: That median.
        spread: Standard deviation of the seconds.
        usd_per_gb: Cost.
        remarks: Marks, and the cause of a failure.
        recommended: Whether the cell has the recommended setting.
        failed: Whether a sample failed, or the cell could not run.
    """

    object: str
    own: Mapping[str, str]
    memory_used: str
    runs: str
    average: str
    median: str
    median_seconds: str
    spread: str
    usd_per_gb: str
    remarks: str
    recommended: bool
    failed: bool

    def texts(self, columns: Sequence[TableColumn]) -> list[str]:
        """The row's texts in the order of *columns*."""
        return [self.own.get(column.field) or getattr(self, column.field) for column in columns]


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Rows under a heading such as ``128 MB Memory / 1 MB Chunk Size``."""

    heading: str
    rows: tuple[TableRow, ...]


def columns_of(results: Results, *, in_report: bool) -> tuple[TableColumn, ...]:
    """The columns that *results* need, on the terminal or in the report."""
    own = (OWN_COLUMNS[name] for name in results.workload.columns)
    of_workload = (
        TableColumn(column.title, column.name, column.is_number, column.in_report) for column in own
    )
    return tuple(
        column for column in (_OBJECT, *of_workload, *_COLUMNS) if in_report or not column.in_report
    )


def groups_of(results: Results) -> tuple[TableGroup, ...]:
    """The cells of *results* in the baseline's order."""
    labels, sizes = results.labels, results.size_texts
    grouped = groupby(results.cells, key=lambda cell: cell.setting)
    return tuple(
        TableGroup(labels.heading(setting), tuple(_row(results, cell, sizes) for cell in cells))
        for setting, cells in grouped
    )


def _row(results: Results, cell: CellRow, sizes: Mapping[int, str]) -> TableRow:
    stats = cell.stats
    return TableRow(
        object=results.object_text(cell, sizes),
        own={name: OWN_COLUMNS[name].text(cell) for name in results.workload.columns},
        memory_used=used_text(cell.max_rss_bytes),
        runs=_runs_text(results.samples.get(cell.cell_id, ())),
        average=speed_text(speed_at(cell, stats.mean_seconds) if stats else None),
        median=speed_text(stats.mb_per_s if stats else None),
        median_seconds=seconds_text(stats.p50_seconds if stats else None),
        spread=seconds_text(stats.stdev_seconds if stats else None),
        usd_per_gb=usd_text(stats.usd_per_gb if stats else None),
        remarks="; ".join(_remarks(results, cell)),
        recommended=results.is_recommended(cell),
        failed=bool(cell.failed or cell.cause),
    )


def _runs_text(samples: Sequence[Sample]) -> str:
    runs = groupby(samples, key=lambda sample: sample.repetition)
    texts = ("/".join(map(_sample_text, run_samples)) for _, run_samples in runs)
    return " ".join(texts) or MISSING


def _sample_text(sample: Sample) -> str:
    if sample.status != SampleStatus.OK or sample.reading is None:
        return FAILED
    return seconds_text(sample.reading.seconds) + (COLD if sample.is_cold else "")


def _remarks(results: Results, cell: CellRow) -> list[str]:
    remarks = []
    if results.is_recommended(cell):
        remarks.append("recommended")
    stats = cell.stats
    if stats and stats.indistinguishable_from_best:
        remarks.append("fastest" if stats.best else ALIKE)
    if stats and stats.few_samples:
        remarks.append(f"weak: {count_text(stats.n, 'warm run')}")
    if cell.failed:
        remarks.append(f"{cell.failed} failed")
    if cell.cause:
        remarks.append(cell.cause)
    return remarks

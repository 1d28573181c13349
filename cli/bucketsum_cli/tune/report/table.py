"""The table of a run, laid out as in Bryson (2021): groups of settings, rows of objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from bucketsum.measure import mb_per_s
from bucketsum_cli.terminal.formatting import MISSING, count_text, speed_text, usd_text
from bucketsum_cli.tune.formatting import seconds_text, used_text
from bucketsum_cli.tune.results import Results, bottleneck_text, statistic_of
from bucketsum_cli.tune.workload_view import TableColumn
from bucketsum_cli.tune.workloads import view_of
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample, SampleStatus

COLD: Final = "*"
"""Follows the seconds of a cold sample, which no statistic counts."""

FAILED: Final = "failed"

ALIKE: Final = "≈ fastest"
"""Not notably slower than the fastest cell of its object; see docs/reference/sweeps.md."""

_HOUR_SECONDS: Final = 3600

RUNS: Final = "runs"
"""Name of the column with the seconds of every run; those of concurrent invocations are joined."""


def columns_of(results: Results, *, in_report: bool) -> list[TableColumn]:
    """The columns that *results* need, on the terminal or in the report.

    Average MB/s are at the mean of the seconds, as in the baseline; MB/s are at their median, which
    plots and recommendation use.
    """
    sizes = results.size_texts
    columns = (
        TableColumn(
            "object", "object", lambda cell: results.object_text(cell, sizes), is_number=False
        ),
        *view_of(results.workload_name).columns,
        TableColumn("memory_used", "memory used", lambda cell: used_text(cell.max_rss_bytes)),
        TableColumn(
            RUNS,
            "every run (s)",
            lambda cell: _runs_text(results.samples.get(cell.cell_id, ())),
            is_number=False,
        ),
        TableColumn("average", "average MB/s", _average_text, is_minor=True),
        TableColumn("median", "MB/s", lambda cell: speed_text(statistic_of(cell, "mb_per_s"))),
        TableColumn(
            "median_seconds",
            "median s",
            lambda cell: seconds_text(statistic_of(cell, "p50_seconds")),
            in_report=True,
        ),
        TableColumn("objects_per_hour", "objects/h", _objects_text, is_minor=True),
        TableColumn(
            "spread", "± s", lambda cell: seconds_text(statistic_of(cell, "stdev_seconds"))
        ),
        TableColumn(
            "usd_per_tb", "USD per TB", lambda cell: usd_text(statistic_of(cell, "usd_per_tb"))
        ),
        TableColumn("bottleneck", "bottleneck", bottleneck_text, is_number=False),
        TableColumn(
            "remarks", "remarks", lambda cell: "; ".join(_remarks(results, cell)), is_number=False
        ),
    )
    has_limits = any(cell.limit for cell in results.cells)
    return [
        column
        for column in columns
        if (in_report or not column.in_report) and (has_limits or column.name != "bottleneck")
    ]


def groups_of(results: Results) -> Iterator[tuple[str, list[CellRow]]]:
    """Yield a heading such as ``128 MB Memory / 1 MB Chunk Size``, and its cells."""
    for setting, cells in groupby(results.cells, key=lambda cell: cell.setting):
        yield results.labels.heading(setting), [*cells]


def _average_text(cell: CellRow) -> str:
    seconds = statistic_of(cell, "mean_seconds")
    return speed_text(None if seconds is None else mb_per_s(cell.object_bytes, seconds))


def _objects_text(cell: CellRow) -> str:
    seconds = statistic_of(cell, "p50_seconds")
    return f"{_HOUR_SECONDS / seconds:,.0f}" if seconds else MISSING


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
    if results.is_deployed(cell):
        remarks.append("deployed")
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

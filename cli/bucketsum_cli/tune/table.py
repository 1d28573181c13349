"""The article's table: a group for each setting, a row for each object."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from bucketsum.sweep.measurements_table import SampleStatus
from bucketsum_cli.output import size_text
from bucketsum_cli.tune.formatting import MISSING, seconds_text, speed_text, usd_text, used_text
from bucketsum_cli.tune.results import speed_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bucketsum.sweep.measurements_table import CellRow, Sample
    from bucketsum_cli.tune.results import Results

COLD: Final = "*"
"""Follows the seconds of a cold sample, which no statistic counts."""

FAILED: Final = "failed"

ALIKE: Final = "≈ fastest"
"""Cannot be told apart from the fastest of its object; docs/tuning.md says how."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A cell as the table shows it; every text is the one that the plots show too.

    Attributes:
        object: Size of the object, and its key where the sweep was asked for it by name.
        members: Files in the archive, and folders that these are in; empty of other objects.
        memory_used: The most that any sample needed.
        runs: Seconds of every run; those of several at once joined by ``/``.
        average: MB/s at the mean of the seconds, as the article has it.
        median: MB/s at their median, which everything else here goes by.
        median_seconds: That median.
        spread: Standard deviation of the seconds.
        usd_per_gb: Cost.
        remarks: What else is to be known of it.
        recommended: Whether it was measured with what is recommended.
        failed: Whether a sample failed, or all were refused.
    """

    object: str
    members: str
    memory_used: str
    runs: tuple[str, ...]
    average: str
    median: str
    median_seconds: str
    spread: str
    usd_per_gb: str
    remarks: tuple[str, ...]
    recommended: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Rows under one heading, as ``128 MB Memory / 1 MB Chunk Size``."""

    heading: str
    rows: tuple[TableRow, ...]


def groups_of(results: Results) -> tuple[TableGroup, ...]:
    """The cells of *results* in the article's order."""
    naming = results.naming
    grouped = groupby(results.cells, key=lambda cell: cell.setting)
    return tuple(
        TableGroup(naming.heading(setting), tuple(_row(results, cell) for cell in cells))
        for setting, cells in grouped
    )


def _row(results: Results, cell: CellRow) -> TableRow:
    return TableRow(
        object=_object_text(results, cell),
        members=_members_text(cell),
        memory_used=used_text(cell.max_rss_bytes),
        runs=_runs(results.samples.get(cell.cell_id, ())),
        average=speed_text(speed_at(cell, cell.mean_seconds)),
        median=speed_text(cell.mb_per_s),
        median_seconds=seconds_text(cell.p50_seconds),
        spread=seconds_text(cell.stdev_seconds),
        usd_per_gb=usd_text(cell.usd_per_gb),
        remarks=tuple(_remarks(results, cell)),
        recommended=results.is_recommended(cell),
        failed=bool(cell.failed or cell.cause),
    )


def _object_text(results: Results, cell: CellRow) -> str:
    parts = [size_text(cell.object_bytes)]
    if "keys" in results.asked:
        parts.append(cell.key)
    if cell.concurrency > 1:
        parts.append(f"{cell.concurrency} at once")
    return ", ".join(parts)


def _members_text(cell: CellRow) -> str:
    if cell.members is None:
        return MISSING if cell.mode else ""
    return f"{cell.members:,} in {cell.directories:,}"


def _runs(samples: Sequence[Sample]) -> tuple[str, ...]:
    runs = groupby(samples, key=lambda sample: sample.run)
    return tuple("/".join(map(_sample_text, some)) for _, some in runs)


def _sample_text(sample: Sample) -> str:
    if sample.status != SampleStatus.OK:
        return FAILED
    return seconds_text(sample.seconds) + (COLD if sample.cold else "")


def _remarks(results: Results, cell: CellRow) -> list[str]:
    remarks = []
    if results.is_recommended(cell):
        remarks.append("recommended")
    if cell.best:
        remarks.append("fastest")
    elif cell.indistinguishable_from_best:
        remarks.append(ALIKE)
    if cell.weak:
        remarks.append(f"weak: {cell.n} warm {'run' if cell.n == 1 else 'runs'}")
    if cell.failed:
        remarks.append(f"{cell.failed} failed")
    if cell.cause:
        remarks.append(cell.cause)
    return remarks

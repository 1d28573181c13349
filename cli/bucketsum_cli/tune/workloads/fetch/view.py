"""View of the workload ``fetch``."""

from __future__ import annotations

from functools import partial
from typing import Final

from bucketsum.measure import BYTES_PER_MB
from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView, text_of
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.workloads.fetch.workload import FetchStatistics

_MS: Final = 1000

_of: Final = partial(text_of, FetchStatistics)


def _pair(first: float | None, second: float | None, unit: float, form: str) -> str | None:
    """Two numbers in *unit*, joined by `` / ``; None if there is none."""
    if first is None or second is None:
        return None
    return f"{first / unit:{form}} / {second / unit:{form}}"


def _disk_peak(own: FetchStatistics) -> str | None:
    return f"{own.disk_peak_bytes / BYTES_PER_MB:,.0f} MB" if own.disk_peak_bytes else None


def _cached(cell: CellRow) -> str:
    own = FetchStatistics.of(cell)
    if own is None or own.cached_bytes is None:
        return MISSING
    return f"{own.cached_bytes / cell.object_bytes:.0%}"


FETCH: Final = WorkloadView(
    (
        TableColumn("fetch", "fetching / idle s",
                    _of(lambda own: _pair(own.fetch_ms, own.fetch_idle_ms, _MS, ".2f")),
                    meaning="Median time in which archives were downloaded to the disk, and the "
                            "rest of the wall time."),
        TableColumn("work", "working / idle s",
                    _of(lambda own: _pair(own.work_ms, own.work_idle_ms, _MS, ".2f")),
                    meaning="Median time in which a worker was busy, and the rest of the wall "
                            "time; workers of the schedule stream are idle while they wait for "
                            "bytes."),
        TableColumn("model", "D + P / max s",
                    _of(lambda own: _pair(own.sum_ms, own.max_ms, _MS, ".2f")), in_report=True,
                    meaning="The models of both extremes, with D fetching and P working: one "
                            "side after the other, or only the slower side."),
        TableColumn("cached", "in page cache", _cached,
                    meaning="Share of the data that was in the page cache when the work on its "
                            "archive began; the rest was read from the disk again."),
        TableColumn("disk_peak", "most on disk", _of(_disk_peak), in_report=True),
        TableColumn("disk_transfer", "disk written / read MB",
                    _of(lambda own: _pair(own.disk_written_bytes, own.disk_read_bytes,
                                          BYTES_PER_MB, ",.0f")),
                    in_report=True,
                    meaning="Bytes between the page cache and the disk. An archive that is "
                            "removed before its pages are written is never on the disk itself."),
    ),
    plots="bucketsum_cli.tune.workloads.fetch.plots",
    programs="bucketsum_cli.tune.workloads.fetch.shell:add",
)  # fmt: skip

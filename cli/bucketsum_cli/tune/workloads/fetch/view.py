"""View of the workload ``fetch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.formatting import MISSING
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum_lab.protocol.run_records import CellRow


def _seconds_of(*names: str) -> Callable[[CellRow], str]:
    """Statistics in milliseconds as seconds, joined by `` / ``."""

    def text(cell: CellRow) -> str:
        if not set(names) <= set(cell.own):
            return MISSING
        return " / ".join(f"{float(cell.own[name]) / 1000:.2f}" for name in names)

    return text


def _cached_text(cell: CellRow) -> str:
    if "cached_bytes" not in cell.own:
        return MISSING
    return f"{float(cell.own['cached_bytes']) / cell.object_bytes:.0%}"


def _disk_text(cell: CellRow) -> str:
    if not cell.own.get("disk_peak_bytes"):
        return MISSING
    return f"{float(cell.own['disk_peak_bytes']) / 1e6:,.0f} MB"


def _transfer_text(cell: CellRow) -> str:
    names = ("disk_written_bytes", "disk_read_bytes")
    if not set(names) <= set(cell.own):
        return MISSING
    return " / ".join(f"{float(cell.own[name]) / 1e6:,.0f}" for name in names)


FETCH: Final = WorkloadView(
    (
        TableColumn("fetch", "fetching / idle s", _seconds_of("fetch_ms", "fetch_idle_ms"),
                    meaning="Median time in which archives were downloaded to the disk, and the "
                            "rest of the wall time."),
        TableColumn("work", "working / idle s", _seconds_of("work_ms", "work_idle_ms"),
                    meaning="Median time in which a worker was busy, and the rest of the wall "
                            "time; workers of the schedule stream are idle while they wait for "
                            "bytes."),
        TableColumn("model", "D + P / max s", _seconds_of("sum_ms", "max_ms"), in_report=True,
                    meaning="The models of both extremes, with D fetching and P working: one "
                            "side after the other, or only the slower side."),
        TableColumn("cached", "in page cache", _cached_text,
                    meaning="Share of the data that was in the page cache when the work on its "
                            "archive began; the rest was read from the disk again."),
        TableColumn("disk_peak", "most on disk", _disk_text, in_report=True),
        TableColumn("disk_transfer", "disk written / read MB", _transfer_text, in_report=True,
                    meaning="Bytes between the page cache and the disk. An archive that is "
                            "removed before its pages are written is never on the disk itself."),
    ),
    plots="bucketsum_cli.tune.workloads.fetch.plots",
    programs="bucketsum_cli.tune.workloads.fetch.shell:add",
)  # fmt: skip

"""Sweeps of data sets that are fetched and processed: their columns and their plot."""

from dataclasses import replace

import pytest
from tests.cli.tune.sweeps import a_cell, a_run, good_samples, results

from bucketsum_cli.tune.report.page import page_of
from bucketsum_cli.tune.report.table import columns_of
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads.fetch.workload import SCHEDULE, WORK, WORKERS

RUN = a_run(input={"workload": "fetch", "object_bytes": [100_000_000]})
SIDES = {"fetch_ms": 1500, "fetch_idle_ms": 500, "work_ms": 800, "work_idle_ms": 1200}
ON_DISK = {
    "items": 12, "cached_bytes": 75_000_000, "disk_peak_bytes": 100_000_000,
    "disk_written_bytes": 60_000_000, "disk_read_bytes": 25_000_000,
}  # fmt: skip


def fetched(schedule: str, own: dict[str, int | float | str]) -> tuple[CellRow, list[Sample]]:
    """A cell of this schedule, and its samples with *own* attributes."""
    variant = ((SCHEDULE, schedule), (WORK, "unzip-sha1"), (WORKERS, 1))
    cell = replace(
        a_cell(512, 262_144),
        cell_id=schedule,
        setting=Setting(512, 262_144, 1, variant),
        workload="fetch",
    )
    return cell, [replace(sample, own=own) for sample in good_samples(cell)]


DISK, DISK_SAMPLES = fetched("queue:1", {**SIDES, **ON_DISK})
STREAM, STREAM_SAMPLES = fetched("stream", {"items": 12, "work_ms": 800, "work_idle_ms": 1200})


def test_the_table_has_the_times_of_both_stages() -> None:
    """Nothing is shown for a schedule that has only one."""
    run_results = results([DISK, STREAM], [*DISK_SAMPLES, *STREAM_SAMPLES], RUN)
    columns = columns_of(run_results, in_report=True)
    queued, streamed = (
        {column.title: column.text(cell) for column in columns} for cell in run_results.cells
    )
    assert queued["fetching / idle s"] == "1.50 / 0.50"
    assert queued["D + P / max s"] == "2.30 / 1.50"
    assert (queued["in page cache"], queued["most on disk"]) == ("75%", "100 MB")
    assert queued["disk written / read MB"] == "60 / 25"
    assert (streamed["fetching / idle s"], streamed["working / idle s"]) == ("–", "0.80 / 1.20")
    assert (streamed["in page cache"], streamed["most on disk"]) == ("–", "–")


@pytest.mark.usefixtures("undrawn")
def test_the_report_shows_both_stages_in_words_too() -> None:
    """The plot's description has the numbers of each cell by what varies."""
    page = page_of(results([DISK, STREAM], [*DISK_SAMPLES, *STREAM_SAMPLES], RUN))
    assert "Time of fetching and working" in page
    assert "fetching 1.50 s, working 0.80 s. 512 MB, stream: " in page
    empty = page_of(results([DISK, STREAM], [], RUN))
    assert "No cell has a measurement." in empty

"""View of the workload ``transfer``: times of files, and a row for each file and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from bucketsum_cli.terminal.formatting import MISSING, usd_text
from bucketsum_cli.tune.formatting import seconds_text
from bucketsum_cli.tune.results import statistic_of
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView, text_of
from bucketsum_lab.protocol.measuring import BYTES_PER_GB
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.workloads.transfer.file_times import P99_FROM, read
from bucketsum_lab.workloads.transfer.workload import TransferStatistics

_FILES: Final = 1000

_of: Final = partial(text_of, TransferStatistics)


def _slowest(own: TransferStatistics) -> str:
    """``p99`` and the 99th percentile if it is known; else ``max`` and the slowest file."""
    if own.file_p99_ms is not None:
        return f"p99 {own.file_p99_ms:,.1f}"
    return f"max {own.file_max_ms:,.1f}"


def _first_byte(own: TransferStatistics) -> str | None:
    return None if own.first_byte_p50_ms is None else f"{own.first_byte_p50_ms:,.1f}"


def _usd_text(cell: CellRow) -> str:
    own = TransferStatistics.of(cell)
    if own is None or cell.stats is None or cell.stats.usd_per_gb is None:
        return MISSING
    usd = cell.stats.usd_per_gb * cell.object_bytes / BYTES_PER_GB
    return usd_text(usd / own.files * _FILES)


def _rows(sample: Sample) -> Iterator[Mapping[str, object]]:
    """A row for each file, in the order of the data set's list."""
    text = sample.own.get("file_times")
    for number, time in enumerate(read(str(text)) if text else (), start=1):
        instants = {
            "intended_ms": time.intended,
            "started_ms": time.started,
            "first_byte_ms": time.first_byte,
            "ended_ms": time.ended,
        }
        yield {
            "file": number,
            "file_bytes": time.size_bytes,
            **{name: None if at is None else round(at * 1000, 3) for name, at in instants.items()},
            "took_ms": round(time.milliseconds, 3),
        }


TRANSFER: Final = WorkloadView(
    columns=(
        TableColumn("file_p50_ms", "file p50 ms", _of(lambda own: f"{own.file_p50_ms:,.1f}"),
                  meaning="Median time of a file, over the files of all good samples. With random "
                          "starts, from the intended start, so that waiting counts."),
        TableColumn("file_p90_ms", "file p90 ms", _of(lambda own: f"{own.file_p90_ms:,.1f}"),
                  in_report=True),
        TableColumn("file_tail_ms", "slowest file ms", _of(_slowest),
                  meaning=f"The 99th percentile from {P99_FROM:,} times of files on; of fewer, the "
                          "longest time (max)."),
        TableColumn("first_byte_p50_ms", "first byte ms",
                  _of(_first_byte),
                  in_report=True,
                  meaning="Median time from the start of a file to its first byte. Programs do "
                          "not tell it."),
        TableColumn("transfer_cpu_s", "CPU s",
                  lambda cell: seconds_text(statistic_of(cell, "cpu_seconds")), in_report=True,
                  meaning="Mean CPU time of a transfer of the whole data set, all threads and "
                          "programs."),
        TableColumn("files_usd", "USD per 1,000 files", _usd_text, in_report=True),
    ),
    row_names=(
        "file", "file_bytes", "intended_ms", "started_ms", "first_byte_ms", "ended_ms", "took_ms",
    ),
    rows=_rows,
    plots="bucketsum_cli.tune.workloads.transfer.plots",
    programs="bucketsum_cli.tune.workloads.transfer.programs:add",
)  # fmt: skip

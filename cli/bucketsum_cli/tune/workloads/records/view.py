"""View of the workload ``records``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bucketsum_cli.terminal.formatting import MISSING, usd_text
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView, statistic
from bucketsum_cli.tune.workloads.records.read_costs import read_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from bucketsum_lab.protocol.run_records import CellRow

_MILLION = 1_000_000


def _phase(name: str) -> Callable[[CellRow], str]:
    """Wall and CPU time of a phase."""

    def text(cell: CellRow) -> str:
        if f"{name}_seconds" not in cell.own:
            return MISSING
        seconds, cpu = cell.own[f"{name}_seconds"], cell.own[f"{name}_cpu_seconds"]
        return f"{seconds:.3f} / {cpu:.3f}"

    return text


def _time_text(cell: CellRow) -> str:
    """Percentiles of the time of a record, or the amortised time."""
    if "record_time" not in cell.own:
        return MISSING
    percentiles = [f"{cell.own[f'record_p{percent}_ms']:.3g}" for percent in (50, 90, 99)]
    if cell.own["record_time"] == "amortised":
        return f"{percentiles[0]} amortised"
    return " / ".join(percentiles)


def _read_text(cell: CellRow) -> str:
    if "records_read" not in cell.own:
        return MISSING
    read = int(cell.own["records_read"])
    return f"{read:,}" if read == cell.setting.own["reads"] else f"{read:,}, scaled"


def _million_text(cell: CellRow) -> str:
    cost = read_cost(cell)
    return usd_text(cost.usd / cost.reads * _MILLION if cost else None)


def _build_text(cell: CellRow) -> str:
    cost = read_cost(cell)
    return usd_text(cost.build_usd if cost else None)


RECORDS: Final = WorkloadView(
    (
        TableColumn("records_read", "records read", _read_text,
                    meaning="Records that were read and verified. “scaled”: the layout exists "
                            "for a sample of the records; times, requests and prices are those "
                            "of the sample times reads over records read."),
        TableColumn("total_seconds", "total s", statistic("total_seconds", "{:.3f}"),
                    meaning="Build, index and fetch, at the median of the warm runs."),
        TableColumn("predicted_seconds", "predicted s", statistic("predicted_seconds", "{:.3f}"),
                    meaning="The same total by arithmetic: latency and bandwidth, measured "
                            "before each run, and CPU time per request."),
        TableColumn("build_phase", "build s (wall / CPU)", _phase("build"), in_report=True,
                    meaning="To make the block file or the database on /tmp, its download "
                            "included."),
        TableColumn("index_phase", "index s (wall / CPU)", _phase("index"), in_report=True),
        TableColumn("fetch_phase", "fetch s (wall / CPU)", _phase("fetch"), in_report=True),
        TableColumn("records_per_s", "records/s", statistic("records_per_s", "{:,.0f}")),
        TableColumn("record_ms", "ms per record", _time_text,
                    meaning="50th, 90th and 99th percentile. “amortised”: the time of the batch "
                            "over its records."),
        TableColumn("record_requests", "requests", statistic("requests", "{:,.0f}"),
                    meaning="Requests to S3 for all reads, index and download included."),
        TableColumn("read_factor", "bytes read per byte wanted",
                    statistic("read_factor", "{:,.1f}"), in_report=True),
        TableColumn("usd_per_million_reads", "USD per million reads", _million_text,
                    meaning="Lambda's time and the requests."),
        TableColumn("build_price", "USD for the build", _build_text, in_report=True,
                    meaning="The requests that store the whole data set in this layout, and "
                            "Lambda's time if it is built on /tmp."),
        TableColumn("storage_factor", "storage factor", statistic("storage_factor", "{:.2f}"),
                    in_report=True,
                    meaning="Bytes of the layout, padding and index included, over those of its "
                            "records."),
    ),
    plots="bucketsum_cli.tune.workloads.records.plots",
    programs="bucketsum_cli.tune.workloads.records.mongo_reader:add",
)  # fmt: skip

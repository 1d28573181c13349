"""View of the workload ``records``."""

from __future__ import annotations

from functools import partial
from typing import Final

from bucketsum_cli.terminal.formatting import MISSING, usd_text
from bucketsum_cli.tune.workload_view import TableColumn, WorkloadView, text_of
from bucketsum_cli.tune.workloads.records.read_costs import build_usd, read_usd
from bucketsum_lab.protocol.run_records import CellRow
from bucketsum_lab.workloads.records.workload import RecordsStatistics

_MILLION = 1_000_000

_of: Final = partial(text_of, RecordsStatistics)


def _time(own: RecordsStatistics) -> str:
    """Percentiles of the time of a record, or the amortised time."""
    if own.record_time == "amortised":
        return f"{own.record_p50_ms:.3g} amortised"
    return f"{own.record_p50_ms:.3g} / {own.record_p90_ms:.3g} / {own.record_p99_ms:.3g}"


def _read_text(cell: CellRow) -> str:
    own = RecordsStatistics.of(cell)
    if own is None:
        return MISSING
    scaled = "" if own.records_read == cell.setting.own["reads"] else ", scaled"
    server = f", {own.database_server}" if own.database_server else ""
    return f"{own.records_read:,.0f}{scaled}{server}"


def _million_text(cell: CellRow) -> str:
    usd = read_usd(cell)
    return usd_text(None if usd is None else usd / int(cell.setting.own["reads"]) * _MILLION)


RECORDS: Final = WorkloadView(
    (
        TableColumn("records_read", "records read", _read_text,
                    meaning="Records that were read and verified. “scaled”: the layout exists "
                            "for a sample of the records; times, requests and prices are those "
                            "of the sample times reads over records read. With the name of the "
                            "server that answered, if MongoDB’s protocol was spoken."),
        TableColumn("total_seconds", "total s", _of(lambda own: f"{own.total_seconds:.3f}"),
                    meaning="Build, index and fetch, at the median of the warm runs."),
        TableColumn("predicted_seconds", "predicted s",
                    _of(lambda own: f"{own.predicted_seconds:.3f}"),
                    meaning="The same total by arithmetic: latency and bandwidth, measured "
                            "before each run, and CPU time per request."),
        TableColumn("build_phase", "build s (wall / CPU)",
                    _of(lambda own: f"{own.build_seconds:.3f} / {own.build_cpu_seconds:.3f}"),
                    in_report=True,
                    meaning="To make the block file or the database on /tmp, its download "
                            "included."),
        TableColumn("index_phase", "index s (wall / CPU)",
                    _of(lambda own: f"{own.index_seconds:.3f} / {own.index_cpu_seconds:.3f}"),
                    in_report=True),
        TableColumn("fetch_phase", "fetch s (wall / CPU)",
                    _of(lambda own: f"{own.fetch_seconds:.3f} / {own.fetch_cpu_seconds:.3f}"),
                    in_report=True),
        TableColumn("records_per_s", "records/s", _of(lambda own: f"{own.records_per_s:,.0f}")),
        TableColumn("record_ms", "ms per record", _of(_time),
                    meaning="50th, 90th and 99th percentile. “amortised”: the time of the batch "
                            "over its records."),
        TableColumn("record_requests", "requests", _of(lambda own: f"{own.requests:,.0f}"),
                    meaning="Requests to S3 for all reads, index and download included."),
        TableColumn("read_factor", "bytes read per byte wanted",
                    _of(lambda own: f"{own.read_factor:,.1f}"), in_report=True),
        TableColumn("usd_per_million_reads", "USD per million reads", _million_text,
                    meaning="Lambda's time and the requests."),
        TableColumn("build_price", "USD for the build", lambda cell: usd_text(build_usd(cell)),
                    in_report=True,
                    meaning="The requests that store the whole data set in this layout, and "
                            "Lambda's time if it is built on /tmp."),
        TableColumn("storage_factor", "storage factor",
                    _of(lambda own: f"{own.storage_factor:.2f}"), in_report=True,
                    meaning="Bytes of the layout, padding and index included, over those of its "
                            "records."),
    ),
    plots="bucketsum_cli.tune.workloads.records.plots",
    programs="bucketsum_cli.tune.workloads.records.mongo_reader:add",
)  # fmt: skip

"""Costs and crossovers of random reads, and the plots that show them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bucketsum_cli.tune.results import Panel, assembled
from bucketsum_cli.tune.workloads import VIEWS
from bucketsum_cli.tune.workloads.records.plots import (
    seconds_against_objects,
    seconds_against_reads,
    usd_against_reads,
)
from bucketsum_cli.tune.workloads.records.read_costs import (
    build_usd,
    equal_prices,
    equal_times,
    measured_crossovers,
    read_usd,
    usd_per_second,
)
from bucketsum_lab.protocol.run_records import CellRow, CellStatistics, Run, RunStatus
from bucketsum_lab.protocol.run_records import CellRow as Cell
from bucketsum_lab.workloads import setting_of
from bucketsum_lab.workloads.records.workload import RecordsStatistics

RUN = Run("run", RunStatus.SUCCEEDED, "", input={"workload": "records"})
SETTING: dict[str, Any] = {"memory_mb": 1769, "chunk_bytes": 1_048_576, "streams": "auto"}
STATS = CellStatistics(
    n=3, min_seconds=1, p50_seconds=2, p90_seconds=3, max_seconds=3, mean_seconds=2,
    stdev_seconds=1, mb_per_s=50, cpu_seconds=1, billed_ms=2000, usd_per_gb=0.001,
    usd_per_tb=1, few_samples=True, best=True, p_value=1, indistinguishable_from_best=True,
    pareto=True,
)  # fmt: skip
OWN: dict[str, Any] = {
    "records": 1_000_000, "records_read": 100, "total_seconds": 4.0, "predicted_seconds": 3.0,
    "build_seconds": 0.0, "build_cpu_seconds": 0.0, "fetch_seconds": 3.0,
    "fetch_cpu_seconds": 1.0, "record_time": "each", "record_p50_ms": 20.0, "record_p90_ms": 30.0,
    "record_p99_ms": 40.0, "requests": 1_000, "request_usd": 0.0004, "build_usd": 0.001,
    "latency_ms": 25.0, "link_mb_per_s": 80.0, "index_seconds": 0.0, "index_cpu_seconds": 0.0,
    "records_per_s": 100.0, "retries": 0, "bytes_read": 1, "read_factor": 1.0,
    "storage_factor": 1.0,
}  # fmt: skip


def cell(
    layout: str, reads: int, seconds: float = 4.0, objects: int | None = None, **own: object
) -> Cell:
    """A measured cell of 100 MB."""
    parameters = {"layout": layout, "reads": reads}
    if layout == "range":
        parameters |= {"connections": 10, "block_bytes": 4_096}
    if objects is not None:
        parameters |= {"connections": 10, "objects": objects}
    setting = setting_of({**SETTING, **parameters})
    values = {**OWN, "total_seconds": seconds, **own}
    return CellRow(
        f"{layout}-{reads}",
        setting,
        1,
        100_000_000,
        "key",
        workload="records",
        own=RecordsStatistics(**values),
        stats=STATS,
    )


def test_cost_is_lambdas_time_and_the_requests() -> None:
    """Of all reads: the time of a sample of them is scaled, and so is Lambda's price."""
    measured = cell("range", 1_000)
    per_second = 0.001 * 0.1 / 2  # 0.1 GB billed for two seconds
    assert usd_per_second(measured) == pytest.approx(per_second)
    assert read_usd(measured) == pytest.approx(4 * per_second + 0.0004)
    assert build_usd(measured) == 0.001
    unmeasured = replace(measured, stats=None)
    assert (read_usd(unmeasured), build_usd(unmeasured)) == (None, None)


def test_a_measured_crossover_is_where_the_lowest_line_changes() -> None:
    """Interpolated on logarithmic scales: 1 s for 10 reads and 100 s for 1,000, against 10 s."""
    lines = {"range": ((10, 1.0), (1_000, 100.0)), "whole": ((10, 10.0), (1_000, 10.0))}
    [crossover] = measured_crossovers(lines)
    assert (crossover.before, crossover.after) == ("range", "whole")
    assert crossover.reads == pytest.approx(100)
    assert crossover.value == pytest.approx(10)


def test_lines_that_never_cross_have_no_crossover() -> None:
    """Nor has a single line, nor points that no two lines share."""
    assert measured_crossovers({"a": ((1, 1.0), (10, 2.0)), "b": ((1, 2.0), (10, 3.0))}) == []
    assert measured_crossovers({"a": ((1, 1.0), (10, 2.0))}) == []
    assert measured_crossovers({"a": ((1, 1.0),), "b": ((10, 1.0),)}) == []
    assert measured_crossovers({}) == []


def test_arithmetic_has_the_reads_of_equal_time_and_price() -> None:
    """100 MB at 80 MB/s take 1.275 s; so do 510 reads of 25 ms over 10 connections."""
    cells = [cell("range", 10), cell("whole", 10)]
    [time] = equal_times(cells)
    assert time.value == pytest.approx(1.275)
    assert time.reads == pytest.approx(510)
    assert (time.before, time.after) == ("single reads over 10 connections", "the whole object")
    [price] = equal_prices(cells)
    assert price.reads == pytest.approx(1.275 * 5e-5 / (0.0025 * 5e-5 + 0.4e-6))
    assert equal_times([cell("whole", 10)]) == []


def test_plots_have_a_line_per_layout_and_say_which_crossover_is_which() -> None:
    """In words too; a cell without a measurement is left out."""
    cells = (
        cell("range", 10, 0.1), cell("range", 1_000, 10.0), cell("whole", 10, 1.0),
        cell("whole", 1_000, 1.0), replace(cell("tmp-block", 10), stats=None, own=None),
    )  # fmt: skip
    results, panel = assembled(RUN, cells, []), Panel("100 MB", cells)
    for draw in (seconds_against_reads, usd_against_reads):
        plot = draw(panel, results)
        labels = [text.get_text() for text in plot.figure.legends[0].get_texts()]
        assert "range, 10 connections, blocks of 4,096 B" in labels
        assert {"whole", "measured crossover", "crossover by arithmetic"} <= set(labels)
        assert "Measured: range" in plot.description
        assert "By arithmetic: single reads over 10 connections below" in plot.description
        assert len(plot.hints) == 4
        assert plot.svg("p").tag.endswith("svg")


def test_a_machine_without_a_price_has_the_plot_of_seconds() -> None:
    """As of a run on a laptop; only what needs a price is left out."""
    cells = tuple(
        replace(read, stats=replace(STATS, usd_per_gb=None, usd_per_tb=None))
        for read in (cell("range", 10, 0.1), cell("range", 1_000, 10.0), cell("whole", 10, 1.0))
    )
    results, panel = assembled(RUN, cells, []), Panel("100 MB", cells)
    assert len(seconds_against_reads(panel, results).hints) == 3
    assert usd_against_reads(panel, results).hints == {}


def test_a_plot_without_a_measurement_is_empty() -> None:
    """As of a sweep whose cells all failed."""
    cells = (replace(cell("whole", 10), stats=None, own=None),)
    run = replace(RUN, status=RunStatus.FAILED)
    plot = seconds_against_reads(Panel("x", cells), assembled(run, cells, []))
    assert plot.description == "No layout crosses another."


def test_the_plot_of_objects_has_wall_and_cpu_time() -> None:
    """A point for each number of objects; the CPU time is that of all phases."""
    cells = (
        cell("partitioned", 100, 2.0, objects=10, index_cpu_seconds=0.25),
        cell("partitioned", 100, 8.0, objects=1_000, fetch_cpu_seconds=3.0),
        replace(cell("partitioned", 100, objects=100), stats=None, own=None),
        cell("whole", 100, 1.0),
    )
    plot = seconds_against_objects(Panel("100 MB", cells), assembled(RUN, cells, []))
    assert plot is not None
    wall, cpu = plot.figure.axes[0].get_lines()[:2]
    assert np.array_equal(wall.get_xydata(), [(10, 2.0), (1_000, 8.0)])
    assert np.array_equal(cpu.get_xydata(), [(10, 1.25), (1_000, 3.0)])
    label = "partitioned, 100 reads, 10 connections"
    assert f"{label}: 10 objects, 2.000 seconds, 1.250 seconds of CPU time." in plot.description
    failed = seconds_against_objects(Panel("x", cells[2:]), assembled(RUN, cells, []))
    assert failed is not None
    assert failed.description == "No cell was measured."
    assert seconds_against_objects(Panel("x", cells[3:]), assembled(RUN, cells, [])) is None


def test_texts_say_scaled_and_amortised() -> None:
    """Neither is a measurement of the reads themselves."""
    texts = {column.name: column.text for column in VIEWS["records"].columns}  # type: ignore[index] # a StrEnum's value
    sampled = cell("object-per-record", 1_000)
    assert texts["records_read"](sampled) == "100, scaled"
    assert texts["records_read"](cell("range", 100)) == "100"
    assert texts["record_ms"](sampled) == "20 / 30 / 40"
    batch = cell("whole", 100, record_time="amortised")
    assert texts["record_ms"](batch) == "20 amortised"
    assert texts["usd_per_million_reads"](sampled) == "0.600"
    assert texts["fetch_phase"](sampled) == "3.000 / 1.000"
    failed = replace(sampled, stats=None, own=None)
    assert {text(failed) for text in texts.values()} == {"–"}


def test_texts_and_legends_have_the_name_of_the_server() -> None:
    """Figures of another program are not taken for MongoDB's own."""
    server = "mongo-java-server (protocol of MongoDB 5.0.0)"
    documents = cell("mongodb", 100, database_server=server)
    texts = {column.name: column.text for column in VIEWS["records"].columns}  # type: ignore[index] # a StrEnum's value
    assert texts["records_read"](documents) == f"100, {server}"
    plot = seconds_against_reads(Panel("x", (documents,)), assembled(RUN, (documents,), []))
    [label] = [text.get_text() for text in plot.figure.legends[0].get_texts()]
    assert label == f"mongodb, {server}"

"""measurements_table: runs, cells and samples are read back as they were written."""

from dataclasses import replace
from typing import Any

import pytest
from tests.integration.sweep.conftest import Aws
from tests.support.sweeps import statistics, unzip_variant

from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, ColdStatistics, Run, RunStatus
from bucketsum_lab.protocol.samples import Billing, Reading, Sample, SampleFailure, SampleStatus
from bucketsum_lab.results.run_status import is_finished
from bucketsum_lab.workloads.unzip.workload import UnzipStatistics

FIRST = Run(
    "20261121T041500-a", RunStatus.RUNNING, "2026-11-21T04:15:00.000Z", samples=3,
    estimated_usd=0.000132293916, few_samples=True, execution_arn="arn:aws:states:execution",
)  # fmt: skip
STATS = statistics(1.5, n=2, p_value=0.25, stdev_seconds=0.5, few_samples=True)
CELL = CellRow("m00128", Setting(128, 65_536, 1), 1, 5_000_000_000, "key", stats=STATS)
SAMPLE = Sample(
    "m00128", 1, 1, SampleStatus.OK, "now",
    reading=Reading(5_000_000_000, 0.000001, 5e9), billing=Billing(cold=False, billed_ms=1),
)  # fmt: skip


def test_what_is_written_is_what_is_read(aws: Aws) -> None:
    """Each kind of item, with its numbers, texts, truth values and gaps."""
    table = aws.measurements
    table.record_run(FIRST)
    unzip = replace(
        CELL, cell_id="m00256", workload="unzip",
        setting=Setting(256, 65_536, "auto", unzip_variant("tmp", "zlib")),
        cold=ColdStatistics(1, 2.5, None),
        own=UnzipStatistics(members=165, directories=1, member_bytes=9),
    )  # fmt: skip
    planned = CellRow("m00512", Setting(512, 65_536), 4, 5, "key", cause="too large")
    for cell in (CELL, unzip, planned):
        table.record_cell(FIRST.run_id, cell)
    aws.put_sample(FIRST.run_id, SAMPLE)
    assert table.run(FIRST.run_id) == FIRST
    assert table.cells(FIRST.run_id) == [CELL, unzip, planned]
    assert table.samples(FIRST.run_id) == [SAMPLE]


def test_runs_come_newest_first(aws: Aws) -> None:
    """By when they started, whatever the order they were written in."""
    started = ["2026-11-21T04:15:00.000Z", "2026-11-23T00:00:00.000Z", "2026-11-22T00:00:00.000Z"]
    for number, started_at in enumerate(started):
        aws.measurements.record_run(replace(FIRST, run_id=str(number), started_at=started_at))
    aws.put_sample("1", SAMPLE)
    runs = [run for run in aws.measurements.runs() if isinstance(run, Run)]
    assert [run.run_id for run in runs] == ["1", "2", "0"]


def test_samples_come_in_the_order_they_were_taken(aws: Aws) -> None:
    """By cell, run and invocation, as numbers and not as texts."""
    order = [(run, invocation) for run in (0, 2, 10) for invocation in (1, 2, 10)]
    for run, invocation in reversed(order):
        sample = replace(SAMPLE, repetition=run, invocation=invocation)
        aws.put_sample("run", sample)
    samples = aws.measurements.samples("run")
    assert [(sample.repetition, sample.invocation) for sample in samples] == order


def test_more_than_a_page_of_samples_is_read(aws: Aws) -> None:
    """A query answers at most 1 MB at a time."""
    for run in range(1, 8):
        sample = replace(SAMPLE, repetition=run, failure=SampleFailure("X", "x" * 300_000))
        aws.put_sample("run", sample)
    assert len(aws.measurements.samples("run")) == 7


def test_a_run_that_is_not_there_is_none(aws: Aws) -> None:
    """Nor has it cells or samples."""
    table = aws.measurements
    assert (table.run("x"), table.cells("x"), table.samples("x")) == (None, [], [])


@pytest.mark.parametrize(
    ("run", "execution", "over"),
    [
        (FIRST, "RUNNING", False),
        (FIRST, "ABORTED", True),
        (FIRST, None, True),  # its history has expired
        (replace(FIRST, status=RunStatus.PARTIAL), "RUNNING", True),  # it has summed up
        (replace(FIRST, execution_arn=None), "RUNNING", True),
        (None, "ABORTED", False),  # nobody knows it: leave it alone
    ],
)
def test_a_run_is_over_when_its_execution_is(
    aws: Aws,
    run: Run | None,
    execution: str | None,
    over: bool,  # noqa: FBT001 - an expectation
) -> None:
    """The table may say RUNNING of a run that was killed; Step Functions knows."""
    if run is not None:
        aws.measurements.record_run(run)

    class Gone(Exception):
        pass

    class Executions:
        exceptions = type("Exceptions", (), {"ExecutionDoesNotExist": Gone})

        def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803 - as boto3
            assert executionArn == FIRST.execution_arn
            if execution is None:
                raise Gone
            return {"status": execution}

    stepfunctions: Any = Executions()
    assert is_finished(FIRST.run_id, aws.measurements, stepfunctions) is over

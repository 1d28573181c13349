"""summary: a run without samples never counts as successful."""

from dataclasses import replace

import pytest

from bucketsum.prices import prices_in
from bucketsum_lab.protocol.parameters import Setting
from bucketsum_lab.protocol.run_records import CellRow, Run, RunStatus
from bucketsum_lab.protocol.samples import Billing, Reading, Sample, SampleFailure, SampleStatus
from bucketsum_lab.results.summary import ExecutionEnd, summarize

PRICES = prices_in("us-east-1", "arm64")
RUN = Run(
    "20261121T041500-abcdef", RunStatus.RUNNING, "2026-11-21T04:15:00.000Z", samples=4,
    repetitions=2,
    input={"object_bytes": [1000], "memory_mb": [128, 512], "chunk_bytes": [65536]}, label="aws",
)  # fmt: skip
CELLS = [CellRow(f"m{mb}", Setting(mb, 65_536, 1), 1, 1000, "key") for mb in (128, 512)]
OK = [
    Sample(
        cell.cell_id, run, 1, SampleStatus.OK, "",
        reading=Reading(1000, 1.0, 0.001), billing=Billing(cold=False, billed_ms=1000),
    )
    for cell in CELLS
    for run in (1, 2)
]  # fmt: skip
FAILED = [
    replace(sample, status=SampleStatus.FAILED, failure=SampleFailure("X", "why")) for sample in OK
]


def concluded(samples: list[Sample], ending: ExecutionEnd | None = None) -> Run:
    """The end of the run with these samples."""
    at = "2026-11-21T04:20:00.000Z"
    return summarize(RUN, CELLS, samples, PRICES, ending or ExecutionEnd(), at)[0]


@pytest.mark.parametrize(
    ("samples", "ending", "status", "cause"),
    [
        (OK, ExecutionEnd(), RunStatus.SUCCEEDED, None),
        (OK[:3] + FAILED[3:], ExecutionEnd(), RunStatus.PARTIAL, "1 samples failed"),
        (OK[:2] + FAILED[2:], ExecutionEnd(), RunStatus.PARTIAL, "X: why"),
        (OK[:3], ExecutionEnd(), RunStatus.PARTIAL, "1 samples are missing"),
        (
            OK,
            ExecutionEnd(leftovers=("version 7: no",)),
            RunStatus.PARTIAL,
            "left behind: version 7: no",
        ),
        (OK, ExecutionEnd(failure="it broke"), RunStatus.FAILED, "it broke"),
        (FAILED, ExecutionEnd(), RunStatus.FAILED, "4 samples failed"),
        ([], ExecutionEnd(), RunStatus.FAILED, "4 samples are missing"),
        (OK[:1], ExecutionEnd(RunStatus.STOPPED, "ABORTED"), RunStatus.STOPPED, "ABORTED"),
    ],
)
def test_a_run_ends_as_its_samples_and_its_ending_say(
    samples: list[Sample], ending: ExecutionEnd, status: RunStatus, cause: str | None
) -> None:
    """SUCCEEDED is all of it; what is missing makes PARTIAL, nothing at all FAILED."""
    run = concluded(samples, ending)
    assert run.status is status
    assert (run.cause is None) == (cause is None)
    assert (cause or "") in (run.cause or "")


def test_the_summary_is_what_the_run_holds() -> None:
    """The execution's output and the table say the same."""
    conclusion = concluded(OK[:2] + FAILED[2:])
    document = conclusion.summary or {}
    assert document["samples"] == {"planned": 4, "ok": 2, "failed": 2}
    assert document["recommendation"]["parameters"]["MemorySize"] == 128
    assert conclusion.price_date == PRICES.date


def test_many_causes_are_summed_up() -> None:
    """The run names three, the cells hold the rest."""
    cells = [replace(CELLS[0], cell_id=str(number), cause=f"cause {number}") for number in range(9)]
    run, _ = summarize(RUN, cells, [], PRICES, ExecutionEnd(), "now")
    assert run.cause is not None
    assert "cause 2" in run.cause
    assert "and 6 more causes" in run.cause

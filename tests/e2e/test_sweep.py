"""A sweep from its input to the setting to deploy, on the deployed stack."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.command import until
from tests.e2e.sweeping import ORIGINAL_MEMORY_MB, Sweeps

from bucketsum_cli.aws.stack import Stack
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.protocol.samples import ProberProcess, Sample, SampleStatus

EVENTS = Path(__file__).parents[2] / "events"
SMALL: dict[str, Any] = {
    "object_bytes": [1_000_000],
    "memory_mb": [256, 1024],
    "chunk_bytes": [65_536],
    "runs": 2,
}


@pytest.fixture(scope="module")
def sweeps(stack: Stack) -> Sweeps:
    """Sweeps of the deployed stack."""
    return Sweeps(stack)


def test_the_quick_sweep_ends_with_a_setting_to_deploy(sweeps: Sweeps) -> None:
    """Every planned sample is there with its digest checked, and nothing else is left."""
    sweep = json.loads((EVENTS / "sweep-quick.json").read_text()) | {"runs": 2}
    ended = sweeps.run(sweep)
    run, samples = sweeps.recorded(ended.run_id), sweeps.measurements.samples(ended.run_id)

    assert (ended.status, ended.output["status"]) == ("SUCCEEDED", "SUCCEEDED")
    assert run.status is RunStatus.SUCCEEDED
    assert run.samples_ok == run.samples == len(samples)
    assert all(sample.status is SampleStatus.OK for sample in samples)
    assert all(sample.check and sample.check.digest_ok for sample in samples)
    chosen = ended.output["recommendation"]["parameters"]
    assert chosen["MemorySize"] in {*sweep["memory_mb"], ORIGINAL_MEMORY_MB}
    assert ended.output["deployed"]["setting"]["memory_mb"] == ORIGINAL_MEMORY_MB
    assert run.label == ended.output["label"] == "local"
    sweeps.assert_nothing_is_left()


def process_of(sample: Sample) -> ProberProcess:
    """The process of a sample that was measured."""
    assert sample.process
    return sample.process


def test_invocations_at_once_run_in_environments_of_their_own(sweeps: Sweeps) -> None:
    """Concurrency k means k execution environments that read at the same time."""
    ended = sweeps.run(SMALL | {"memory_mb": [512], "concurrency": [1, 3], "runs": 1})
    wide = [
        sample
        for sample in sweeps.measurements.samples(ended.run_id)
        if sample.cell_id.startswith("m00512-") and "-k03-" in sample.cell_id
    ]
    assert (ended.output["status"], ended.output.get("cause")) == ("SUCCEEDED", None)
    assert {sample.invocation for sample in wide} == {1, 2, 3}
    assert len({process_of(sample).log_stream for sample in wide if sample.repetition == 1}) == 3


def test_sweeps_that_overlap_do_not_disturb_each_other(sweeps: Sweeps) -> None:
    """Each runs on versions of its own memory sizes; the last puts back what the first found.

    The memory that a sample ran with is told by its execution environment, not by the plan.
    """
    started = [
        sweeps.start(SMALL | {"memory_mb": memory_mb}) for memory_mb in ([256, 384], [640, 768])
    ]
    for execution, memory_mb in zip(started, ([256, 384], [640, 768]), strict=True):
        ended = sweeps.ended(execution)
        cells = sweeps.measurements.cells(ended.run_id)
        samples = sweeps.measurements.samples(ended.run_id)
        assert (ended.status, ended.cause) == ("SUCCEEDED", "")
        assert (ended.output["status"], ended.output.get("cause")) == ("SUCCEEDED", None)
        memories = {sample.cell_id: process_of(sample).memory_mb for sample in samples}
        assert memories == {cell.cell_id: cell.setting.memory_mb for cell in cells}
        assert set(memories.values()) == {*memory_mb, ORIGINAL_MEMORY_MB}
        readings = [sample.reading for sample in samples if sample.reading and sample.billing]
        assert len(readings) == len(samples)
        assert all(reading.cpu_seconds and reading.max_rss_bytes for reading in readings)
    sweeps.assert_nothing_is_left()


def test_a_sweep_that_is_stopped_is_cleaned_up_after(sweeps: Sweeps) -> None:
    """No state runs after StopExecution; versions go, memory returns, the run says STOPPED."""
    execution = sweeps.start(SMALL | {"runs": 200})
    run_id = sweeps.run_id(execution)
    until(lambda: len(sweeps.measurements.samples(run_id)) > 3, "samples")
    assert sweeps.versions()
    sweeps.executions.stop_execution(executionArn=execution, cause="enough")
    until(lambda: sweeps.recorded(run_id).status is RunStatus.STOPPED, "the run to be closed")
    until(lambda: not sweeps.versions(), "the versions to go")
    run = sweeps.recorded(run_id)
    assert run.samples_ok
    assert run.cause is not None
    assert "ABORTED" in run.cause
    assert run.summary is not None
    until(lambda: sweeps.memory_mb() == ORIGINAL_MEMORY_MB, "the memory to return")

"""Failures in a sweep are results of it: recorded, and cleaned up after."""

from typing import Any, Final

import pytest
from tests.e2e.sweeping import ORIGINAL_MEMORY_MB, Sweeps
from tests.support.sweeps import stats_of

from bucketsum_cli.aws.stack import Stack
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.protocol.samples import Sample, SampleStatus

# The chunk size says how this prober behaves.
PROBER = """
import time

def lambda_handler(event, context):
    kind = {65536: "ok", 65537: "late", 65538: "large", 65539: "raises"}[
        event["chunk_bytes"]]
    if kind == "late":
        time.sleep(60)
    if kind == "large":
        held = bytearray(1024 * 1024 * 1024)
        held[::4096] = b"x" * len(held[::4096])
    if kind == "raises":
        raise ValueError("what the prober says")
    return {"status": "ok", "size_bytes": 1, "seconds": 0.5, "mb_per_s": 2.0, "billed_ms": 500,
            "cold": False, "digest_ok": True, "sha1": "0" * 40}
"""
OK, LATE, LARGE, RAISES = range(65536, 65540)
LATE_SECONDS: Final = 5  # the other cell's invocations have no more

# What an account with a low limit, or a role without a permission, is answered by Lambda.
PUBLISHER = """
import os
import boto3, botocore.awsrequest

def refuse(code, message):
    raw = botocore.awsrequest.AWSResponse("https://lambda", 400, {}, None)
    return raw, {"Error": {"Code": code, "Message": message},
                 "ResponseMetadata": {"HTTPStatusCode": 400}}

def memory(params, **_):
    if b'"MemorySize": 3009' in params["body"]:
        return refuse("InvalidParameterValueException",
                      "'MemorySize' value failed to satisfy constraint: at most 3008")

def deny(**_):
    return refuse("AccessDeniedException", "not authorized")

def client(name, *args, _client=boto3.client, **kwargs):
    aws = _client(name, *args, **kwargs)
    if name == "lambda":
        aws.meta.events.register("before-call.lambda.UpdateFunctionConfiguration", memory)
        if %(keeps_versions)s:
            aws.meta.events.register("before-call.lambda.DeleteFunction", deny)
    return aws

boto3.client = client
import own

def lambda_handler(event, context):
    if %(crashes)r in (event.get("action"), "both"):
        os._exit(1)
    return own.lambda_handler(event, context)
"""


def publisher(*, keeps_versions: bool = False, crashes: str = "") -> str:
    """The publisher's own code, answered by Lambda as an account may be."""
    return PUBLISHER % {"keeps_versions": keeps_versions, "crashes": crashes}


def sweep(*chunks: int, memory_mb: tuple[int, ...] = (256,)) -> dict[str, Any]:
    """Two runs of each chunk size."""
    return {
        "object_bytes": [1000],
        "memory_mb": list(memory_mb),
        "chunk_bytes": list(chunks),
        "runs": 2,
    }


@pytest.fixture(scope="module")
def sweeps(stack: Stack) -> Sweeps:
    """Sweeps of the deployed stack."""
    return Sweeps(stack)


def samples_of(sweeps: Sweeps, run_id: str, chunk: int) -> list[Sample]:
    """A cell's samples without warm-ups."""
    samples = sweeps.measurements.samples(run_id)
    return [
        sample for sample in samples if f"-c{chunk:09d}-" in sample.cell_id and sample.repetition
    ]


FAILURES: Final = {
    LATE: ("Sandbox.Timedout", f"timed out after {LATE_SECONDS}"),
    LARGE: ("", ""),  # Lambda says Runtime.OutOfMemory, the emulator that the worker ended
    RAISES: ("", "what the prober says"),
}
"""Failing cell → its error and its cause."""


def test_failing_cells_are_recorded_and_the_sweep_goes_on(sweeps: Sweeps) -> None:
    """Their samples say why, the other cell is measured, the run is PARTIAL, nothing is left."""
    with sweeps.replaced("ProberFunction", PROBER, LATE_SECONDS):
        ended = sweeps.run(sweep(OK, *FAILURES) | {"warm_up": False})
    cells = {cell.setting.chunk_bytes: cell for cell in sweeps.measurements.cells(ended.run_id)}

    for chunk, (error, cause) in FAILURES.items():
        samples = samples_of(sweeps, ended.run_id, chunk)
        assert [sample.status for sample in samples] == [SampleStatus.FAILED] * 2
        failures = [sample.failure for sample in samples if sample.failure]
        assert [
            (error in failure.error, cause in (failure.cause or "")) for failure in failures
        ] == [(True, True)] * 2
        assert (cells[chunk].failed, cells[chunk].stats) == (2, None)
        assert cells[chunk].cause
    good = samples_of(sweeps, ended.run_id, OK)
    assert [sample.status for sample in good] == [SampleStatus.OK] * 2
    assert (stats_of(cells[OK]).n, cells[OK].failed) == (2, 0)
    assert (ended.status, ended.output["status"]) == ("SUCCEEDED", "PARTIAL")
    assert ended.output["recommendation"]["setting"]["chunk_bytes"] == OK
    assert sweeps.recorded(ended.run_id).cause
    sweeps.assert_nothing_is_left()


def test_throttled_invocations_are_recorded(sweeps: Sweeps) -> None:
    """When retries do not help against a throttle, the sample says so; a run of them is FAILED."""
    with sweeps.throttled():
        ended = sweeps.run(sweep(OK) | {"runs": 1, "warm_up": False})
    [sample] = sweeps.measurements.samples(ended.run_id)
    assert sample.status is SampleStatus.FAILED
    assert "TooManyRequestsException" in str(sample.failure)
    assert ended.status == "FAILED"
    assert sweeps.recorded(ended.run_id).status is RunStatus.FAILED
    sweeps.assert_nothing_is_left()


def test_a_memory_size_that_the_account_refuses_is_a_result_of_its_cells(sweeps: Sweeps) -> None:
    """Lambda's answer stands in the cells of that size; the other sizes are measured."""
    with sweeps.replaced("PublisherFunction", publisher()):
        ended = sweeps.run(sweep(OK, memory_mb=(256, 3009)))
    cells = {cell.setting.memory_mb: cell for cell in sweeps.measurements.cells(ended.run_id)}
    assert cells[3009].cause is not None
    assert "at most 3008" in cells[3009].cause
    assert (stats_of(cells[256]).n, cells[3009].stats) == (2, None)
    assert ended.output["status"] == "PARTIAL"
    sweeps.assert_nothing_is_left()


def test_a_clean_up_that_fails_or_crashes_is_told_and_the_next_sweep_cleans_up(
    sweeps: Sweeps,
) -> None:
    """The run is PARTIAL, names what stays, and keeps its samples; the next one removes it."""
    with sweeps.replaced("PublisherFunction", publisher(keeps_versions=True)):
        ended = sweeps.run(sweep(OK))
    [left] = sweeps.versions()
    cause = sweeps.recorded(ended.run_id).cause
    assert ended.output["status"] == "PARTIAL"
    assert cause is not None
    assert f"version {left}" in cause
    assert sweeps.memory_mb() == ORIGINAL_MEMORY_MB

    with sweeps.replaced("PublisherFunction", publisher(crashes="clean_up")):
        ended = sweeps.run(sweep(OK))
    run = sweeps.recorded(ended.run_id)
    assert (run.status, run.samples_ok) == (RunStatus.PARTIAL, 3)
    assert run.cause is not None
    assert "clean-up itself failed" in run.cause
    assert sweeps.run(sweep(OK)).output["status"] == "SUCCEEDED"
    sweeps.assert_nothing_is_left()

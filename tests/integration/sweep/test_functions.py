"""The sweep's functions through their handlers."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
from mypy_boto3_s3 import S3Client
from tests.integration.sweep.conftest import BUCKET, Aws, Context

from bucketsum.errors import BadSettings
from bucketsum.prices import PRICE_DATE, prices_in
from bucketsum.s3.chosen_reader import reader
from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.s3.signed_requests import SignedRequests
from bucketsum.s3.source import Source
from bucketsum.table.stored_fields import names_of
from bucketsum_lab.errors import BadSweep, MemoryRefused
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.protocol.samples import Billing, DiskSpeed, Reading, Sample, SampleStatus
from bucketsum_lab.results.record_values import SAMPLE_VALUES
from bucketsum_lab.workloads.hash.workload import HashWorkload

Function = Callable[[str], ModuleType]
Invoke = Callable[[str, dict[str, Any]], Any]

RUN_ID = "20261121T041500-abcdef"
SWEEP = {
    "object_bytes": [100_000],
    "memory_mb": [128, 256],
    "chunk_bytes": [65_536, 100_000_000],
    "runs": 2,
}
EXECUTION = "arn:aws:states:us-east-1:111122223333:execution:sweep:abcdef"
CONTENT = b"content" * 1000
SHA1 = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()
PROBE = {
    "bucket": BUCKET, "key": "key", "size_bytes": len(CONTENT), "sha1": SHA1,
    "chunk_bytes": 16_384, "streams": 1, "workload": "hash",
}  # fmt: skip
OTHERS = {
    "cell_id", "run", "invocation", "at", "error", "cause", "excluded_ms", *names_of(DiskSpeed),
}  # fmt: skip
"""Values of the state machine, of a failure, and of workloads that prepare, check or use a disk."""


def plan_event(sweep: object = SWEEP) -> dict[str, Any]:
    """The first event that the state machine sends to the planner."""
    return {
        "action": "plan", "run_id": RUN_ID, "execution_arn": EXECUTION,
        "started_at": "2026-11-21T04:15:00.000Z", "input": sweep,
    }  # fmt: skip


def broken_off(status: str) -> dict[str, Any]:
    """The event that EventBridge sends when an execution of that run ends."""
    return {
        "detail-type": "Step Functions Execution Status Change",
        "detail": {
            "status": status, "name": "abcdef", "startDate": 1795234500123,
            "executionArn": EXECUTION, "cause": "enough", "error": None,
        },
    }  # fmt: skip


def ok_sample(cell_id: str, run: int) -> Sample:
    """A warm sample."""
    return Sample(
        cell_id, run, 1, SampleStatus.OK, "now",
        reading=Reading(1, 0.5, 0.000002, cpu_seconds=0.1, max_rss_bytes=1),
        billing=Billing(cold=False, billed_ms=500),
    )  # fmt: skip


def test_a_plan_is_recorded_as_it_is_made(aws: Aws, invoke: Invoke) -> None:
    """The run stands as RUNNING, each cell is there, those that do not fit with their reason."""
    plan = invoke("planner", plan_event())
    run, cells = aws.run(RUN_ID), aws.measurements.cells(RUN_ID)
    assert (run.status, run.label, run.region, run.architecture) == (
        RunStatus.RUNNING, "aws", "us-east-1", "arm64",
    )  # fmt: skip
    assert run.input == SWEEP
    assert (run.cells, run.samples, run.repetitions, run.few_samples) == (4, 2 * 2 + 2, 2, True)
    assert [cell.cause is None for cell in cells] == [True, False, True, False]
    assert run.deployed == {"memory_mb": 256, "chunk_bytes": 65_536, "streams": "auto"}
    assert plan["bucket"] == BUCKET
    assert [version["memory_mb"] for version in plan["versions"]] == [128, 256]


@pytest.mark.parametrize(
    ("execution", "expected"), [("ABORTED", RunStatus.STOPPED), ("RUNNING", RunStatus.RUNNING)]
)
def test_a_sweep_that_is_stopped_while_it_is_planned_ends_as_stopped(
    aws: Aws,
    function: Function,
    monkeypatch: pytest.MonkeyPatch,
    execution: str,
    expected: RunStatus,
) -> None:
    """The analyst was invoked before the run was recorded, so the planner closes it."""
    planner = function("planner")
    monkeypatch.setattr(planner, "execution_of", lambda *_: {"status": execution})
    planner.lambda_handler(plan_event(), Context())
    run = aws.run(RUN_ID)
    assert run.status is expected
    assert (run.ended_at is None) == (expected is RunStatus.RUNNING)


def test_a_plan_on_the_local_emulator_says_so(
    aws: Aws, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers are never mistaken for those of AWS."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://s3.us-east-1.amazonaws.com")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "https://dynamodb.us-east-1.amazonaws.com")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", "https://states.us-east-1.amazonaws.com")
    invoke("planner", plan_event())
    run = aws.run(RUN_ID)
    assert run.label == "local"


def test_what_is_refused_is_recorded_with_the_field(aws: Aws, invoke: Invoke) -> None:
    """A refused sweep is listed like any other, and nothing of it is planned."""
    with pytest.raises(BadSweep, match="runs is 0"):
        invoke("planner", plan_event(SWEEP | {"runs": 0}))
    run = aws.measurements.run(RUN_ID)
    assert run is not None
    assert (run.run_id, run.status) == (RUN_ID, RunStatus.FAILED)
    assert (run.cause or "").startswith("runs is 0")
    assert aws.measurements.cells(RUN_ID) == []


@pytest.mark.parametrize(
    ("region", "priced_as", "factor"),
    [("eu-central-1", None, 1.0), ("ap-east-1", None, 1.39), ("mx-central-1", "us-east-1", 1.0)],
)
def test_a_sweep_runs_in_every_region(
    aws: Aws,
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
    region: str,
    priced_as: str | None,
    factor: float,
) -> None:
    """A Region without known prices is priced as us-east-1, from the plan to the summary."""
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")  # of the table and the bucket
    usd = plan_of(SweepInput.from_json(SWEEP)).estimated_usd(prices_in("us-east-1", "arm64"))
    invoke("planner", plan_event())
    run = aws.run(RUN_ID)
    assert (run.region, run.priced_as, run.price_date) == (region, priced_as, PRICE_DATE)
    assert run.estimated_usd == pytest.approx(usd * factor, rel=0.02)
    invoke("analyst", broken_off("ABORTED"))
    ended = aws.run(RUN_ID)
    assert (ended.status, ended.priced_as) == (RunStatus.STOPPED, priced_as)


@pytest.mark.parametrize("name", ["planner", "publisher", "analyst"])
def test_a_log_line_has_a_time_that_lambda_can_read(
    function: Function,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    """Lambda takes a line without an RFC 3339 time for one of level INFO."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"time-{name}")  # loggers of a service are shared
    function(name).logger.warning("a line")
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}[+]\d\d:\d\d", line["timestamp"])


def test_a_missing_variable_fails_in_init(
    function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bad deploy does not wait for the first sweep."""
    monkeypatch.delenv("SWEEP_BUCKET")
    with pytest.raises(BadSettings, match="SWEEP_BUCKET is not set"):
        function("planner")


def test_a_data_set_has_what_the_plan_reads(aws: Aws, invoke: Invoke) -> None:
    """The state machine passes each object of the plan on, with the parts of its data set."""
    sweep = {
        "workload": "records", "object_bytes": [100_000], "memory_mb": [512],
        "layout": ["whole", "partitioned"], "objects": [10],
    }  # fmt: skip
    plan = invoke("planner", plan_event(sweep))
    invoke("planner", {"action": "object", "workload": "records", **plan["objects"][0]})
    keys = {entry["Key"] for entry in aws.s3.list_objects_v2(Bucket=BUCKET)["Contents"]}
    files = {"index", *(f"partition/10/{place:07d}" for place in range(10))}
    assert keys == {
        f"objects/100000-records{name}" for name in (".txt", *(f"/{file}" for file in files))
    }


def test_an_object_of_ones_own_brings_its_sha1(aws: Aws, invoke: Invoke) -> None:
    """Its size goes into the plan, its SHA-1 to the probes."""
    aws.s3.put_object(Bucket=BUCKET, Key="mine", Body=CONTENT, Metadata={"sha1": SHA1})
    sweep = {name: value for name, value in SWEEP.items() if name != "object_bytes"}
    plan = invoke("planner", plan_event(sweep | {"keys": ["mine"]}))
    assert plan["objects"] == [
        {"key": "mine", "size_bytes": len(CONTENT), "generated": False, "parts": None}
    ]
    known = invoke("planner", {"action": "object", "workload": "hash", **plan["objects"][0]})
    assert known == {"key": "mine", "size_bytes": len(CONTENT), "sha1": SHA1, "contents": None}


@pytest.mark.parametrize("metadata", [None, {}, {"sha1": ""}])
def test_an_object_that_cannot_be_checked_is_refused(
    aws: Aws, invoke: Invoke, metadata: dict[str, str] | None
) -> None:
    """Missing, or without its SHA-1: the text says how to copy it."""
    if metadata is not None:
        aws.s3.put_object(Bucket=BUCKET, Key="mine", Body=CONTENT, Metadata=metadata)
    sweep = {name: value for name, value in SWEEP.items() if name != "object_bytes"}
    with pytest.raises(BadSweep, match=r"keys names 'mine'.*--metadata sha1="):
        invoke("planner", plan_event(sweep | {"keys": ["mine"]}))


def test_a_probe_reads_hashes_and_checks(aws: Aws, function: Function) -> None:
    """Cold is the first of its environment; every sample says what it ran on."""
    aws.s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT)
    handler = function("prober").lambda_handler
    cold, warm = handler(PROBE, Context()), handler(PROBE, Context())
    assert (cold["cold"], warm["cold"]) == (True, False)
    assert cold["billed_ms"] > cold["init_ms"] > 0
    assert "init_ms" not in warm
    assert set(cold) == set(SAMPLE_VALUES) - OTHERS
    assert (warm["status"], warm["sha1"], warm["digest_ok"]) == ("ok", SHA1, True)
    assert warm["size_bytes"] == len(CONTENT)
    assert warm["seconds"] > 0
    assert warm["cpu_seconds"] > 0
    assert warm["billed_ms"] >= warm["seconds"] * 1000
    assert (warm["memory_mb"], warm["version"], warm["log_stream"]) == (256, "7", "environment")


def test_time_that_only_measuring_needs_is_not_billed(
    aws: Aws, function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting is not more expensive because its sample prepares or checks more."""
    aws.s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT)
    handler = function("prober").lambda_handler
    handler(PROBE, Context())
    probe = HashWorkload.probe

    def longer(self: HashWorkload, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        answer = probe(self, event, context)
        time.sleep(0.5)
        answer["excluded_ms"] = 500
        return answer

    monkeypatch.setattr(HashWorkload, "probe", longer)
    started = time.perf_counter()
    sample = handler(PROBE, Context())
    assert 0 <= sample["billed_ms"] <= (time.perf_counter() - started) * 1000 - 499


def test_a_wrong_digest_is_a_failed_sample(aws: Aws, invoke: Invoke) -> None:
    """However fast it was."""
    aws.s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT[1:] + b"!")
    answer = invoke("prober", PROBE)
    assert (answer["status"], answer["error"], answer["digest_ok"]) == (
        "failed", "WrongDigest", False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workload": "count"}, "there is no workload 'count'"),
        ({"streams": 0}, "streams is 0, neither auto nor in 1..16"),
        ({"streams": 17}, "streams is 17"),
        ({"streams": "many"}, 'streams is "many"'),
    ],
)
def test_a_probe_does_what_it_can(invoke: Invoke, change: dict[str, Any], message: str) -> None:
    """An unknown value is refused, never measured as something else."""
    with pytest.raises(BadSweep, match=message):
        invoke("prober", PROBE | change)


@pytest.mark.parametrize("streams", [1, 4, "auto"])
def test_streams_are_the_readers(
    aws: Aws, function: Function, monkeypatch: pytest.MonkeyPatch, streams: int | str
) -> None:
    """The prober reads as a hasher of these streams, and keeps its connections."""
    aws.s3.put_object(Bucket=BUCKET, Key="key", Body=CONTENT)
    policies = []

    def listening(
        s3: S3Client, requests: SignedRequests, policy: ReadPolicy, env: Mapping[str, str]
    ) -> Source:
        policies.append(policy)
        return reader(s3, requests, policy, env)

    monkeypatch.setattr("bucketsum_lab.measure.prober.reader", listening)
    handler = function("prober").lambda_handler
    assert [handler(PROBE | {"streams": streams}, Context())["status"] for _ in range(2)] == [
        "ok", "ok",
    ]  # fmt: skip
    assert policies == [ReadPolicy(None if streams == "auto" else int(streams), 16_384, 256)]


def test_a_run_is_summed_up(aws: Aws, invoke: Invoke) -> None:
    """Cells get their statistics, the run its end, the execution the summary."""
    invoke("planner", plan_event())
    for cell in aws.measurements.cells(RUN_ID):
        if cell.cause is None:
            for number in (0, 1, 2):
                aws.put_sample(RUN_ID, ok_sample(cell.cell_id, number))
    event = {"run_id": RUN_ID, "failure": {}, "clean_up": {"deleted": [], "left": []}}
    summary = invoke("analyst", event)
    run, cells = aws.run(RUN_ID), aws.measurements.cells(RUN_ID)
    assert summary["status"] == run.status == RunStatus.PARTIAL
    assert [cell.stats.n if cell.stats else 0 for cell in cells] == [2, 0, 2, 0]
    assert run.samples_ok == run.samples
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", run.ended_at or "")
    assert summary["recommendation"]["parameters"] == {"MemorySize": 128, "Streams": "auto"}
    assert summary["deployed"]["setting"] == run.deployed


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("ABORTED", RunStatus.STOPPED),
        ("TIMED_OUT", RunStatus.STOPPED),
        ("FAILED", RunStatus.FAILED),
    ],
)
def test_a_run_that_was_broken_off_is_closed(
    aws: Aws, invoke: Invoke, status: str, expected: RunStatus
) -> None:
    """It says how, keeps its samples, and is closed once."""
    invoke("planner", plan_event())
    [cell, *_] = aws.measurements.cells(RUN_ID)
    aws.put_sample(RUN_ID, ok_sample(cell.cell_id, 1))
    assert invoke("analyst", broken_off(status))["status"] == expected
    run = aws.run(RUN_ID)
    assert (run.status, run.samples_ok) == (expected, 1)
    assert f"the execution is {status}: enough" in (run.cause or "")
    assert invoke("analyst", broken_off(status)) == {}


def test_a_run_that_nobody_knows_is_not_closed(aws: Aws, invoke: Invoke) -> None:
    """An execution that ended before it was planned leaves no row."""
    assert invoke("analyst", broken_off("ABORTED")) == {}
    assert list(aws.measurements.runs()) == []
    event = {"run_id": RUN_ID, "failure": {}, "clean_up": {"deleted": [], "left": []}}
    with pytest.raises(LookupError, match=RUN_ID):
        invoke("analyst", event)


class Versions:
    """Stands in for the prober's versions."""

    def __init__(self) -> None:
        self.cleaned_up: list[str] = []

    def publish(self, run_id: str, memory_mb: int) -> str:
        """A version, but no more than 128 MB."""
        assert run_id == RUN_ID
        if memory_mb > 128:
            raise MemoryRefused("Lambda refuses it")
        return "7"

    def clean_up(self, run_id: str, is_finished: Callable[[str], bool]) -> dict[str, list[str]]:
        """Remembers for whom."""
        assert not is_finished("somebody else's")
        self.cleaned_up.append(run_id)
        return {"deleted": ["7"], "left": []}


def publish_event(memory_mb: int) -> dict[str, Any]:
    """The event that the state machine sends to the publisher."""
    return {"action": "publish", "run_id": RUN_ID, "memory_mb": memory_mb}


def test_a_refused_memory_size_stands_in_its_cells(
    aws: Aws, invoke: Invoke, function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other reasons of these cells, and the other cells, stay as they are."""
    invoke("planner", plan_event())
    aws_execution(monkeypatch, "RUNNING")
    publisher = function("publisher")
    monkeypatch.setattr(publisher, "_VERSIONS", Versions())
    answers = [publisher.lambda_handler(publish_event(size), Context()) for size in (128, 256)]
    causes = [cell.cause for cell in aws.measurements.cells(RUN_ID)]
    assert answers == [{"published": True, "version": "7"}, {"published": False}]
    assert causes[0] is None
    assert causes[2] == "Lambda refuses it"
    assert "do not fit" in (causes[1] or "")
    assert "do not fit" in (causes[3] or "")


@pytest.mark.parametrize(("status", "cleans"), [("RUNNING", []), ("ABORTED", [RUN_ID])])
def test_a_version_of_a_run_that_was_stopped_meanwhile_goes_again(
    invoke: Invoke,
    function: Function,
    monkeypatch: pytest.MonkeyPatch,
    status: str,
    cleans: list[str],
) -> None:
    """Clean-up may have come before the version was there."""
    invoke("planner", plan_event())
    aws_execution(monkeypatch, status)
    publisher, versions = function("publisher"), Versions()
    monkeypatch.setattr(publisher, "_VERSIONS", versions)
    publisher.lambda_handler(publish_event(128), Context())
    assert versions.cleaned_up == cleans


def test_a_run_that_was_broken_off_is_cleaned_up_after(
    function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event names the execution, which names the run."""
    publisher, versions = function("publisher"), Versions()
    monkeypatch.setattr(publisher, "_VERSIONS", versions)
    publisher.lambda_handler(broken_off("ABORTED"), Context())
    assert versions.cleaned_up == [RUN_ID]


def aws_execution(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    """Give every execution this *status*."""
    execution_of = "bucketsum_lab.results.run_status.execution_of"
    monkeypatch.setattr(execution_of, lambda *_: {"status": status})

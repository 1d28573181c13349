"""`bucketsum status`: the state of a stack, and no number where nothing is known."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import boto3
import pytest
from tests.cli.aws_calls import HEALTHY, answered, change_calls, refusal
from tests.cli.conftest import Run, SleepReplacer
from tests.cli.deployed import BUCKET, dead_letter
from tests.cli.permissions import as_fake

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import prices_in
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.errors import Reads
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.checks import Attachment
from bucketsum_cli.buckets.served_buckets import Via
from bucketsum_cli.commands import status as status_command
from bucketsum_cli.stacks.status import stack_status

METRICS: Final[dict[str, list[tuple[int, float]]]] = {
    "ObjectsHashed": [(10, 3.0), (120, 4.0)],
    "BytesHashed": [(10, 3e6), (120, 4e6)],
    "Speed": [(10, 90.0), (120, 1.0)],
    "Errors": [(600, 2.0)],
    "Duration": [(10, 3_600_000.0)],
    "Invocations": [(10, 1000.0)],
    "ApproximateAgeOfOldestMessage": [(15, 7300.0), (5, 90.0)],
}
"""Metric → values, each as many minutes ago."""


COMPLETE: Final = Attachment(BUCKET, Via.S3, ("all keys",), ())


def metric_data(request: dict[str, Any]) -> dict[str, Any]:
    """The answer of CloudWatch: the values of `METRICS`, and none of other metrics."""
    results = []
    for query in request["MetricDataQueries"]:
        points = METRICS.get(query["MetricStat"]["Metric"]["MetricName"], [])
        if query["MetricStat"]["Stat"] == "SampleCount":
            points = [(minutes, 3.0) for minutes, _ in points]
        now = datetime.now(UTC)
        results.append(
            {
                "Id": query["Id"],
                "Timestamps": [now - timedelta(minutes=minutes) for minutes, _ in points],
                "Values": [value for _, value in points],
            }
        )
    return {"MetricDataResults": results}


@pytest.fixture
def watched(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack, with a function and metrics."""
    change_calls(monkeypatch, answered({**HEALTHY, "GetMetricData": metric_data}))
    monkeypatch.setattr(status_command, "attachments", lambda _: [COMPLETE])
    return stack


def test_document_has_the_state_of_queues_metrics_and_mapping(run: Run, watched: Stack) -> None:
    """Each field is from its own source; the last hour and the last day differ."""
    sqs = watched.client("sqs")
    for body in ("a", "b"):
        sqs.send_message(QueueUrl=watched.arrivals_queue_url, MessageBody=body)
    sqs.receive_message(QueueUrl=watched.arrivals_queue_url)
    ended = run("status", "--json")
    document = ended.document
    assert ended.status == 0
    del document["checked_at"], document["estimated_usd_this_month"]
    assert document == {
        "stack": "bucketsum",
        "region": "us-east-1",
        "waiting_messages": 1,
        "in_flight_messages": 1,
        "dead_letter_messages": 0,
        "hashed_last_hour": 3,
        "hashed_last_day": 7,
        "bytes_last_hour": 3_000_000,
        "bytes_last_day": 7_000_000,
        "mb_per_s": 30.0,
        "unreadable_last_day": 0,
        "differing_last_day": 0,
        "dead_lettered_last_day": 0,
        "errors_last_day": 2,
        "oldest_waiting_seconds": 90.0,
        "long_objects": [],
        "bucket_problems": [{"bucket": BUCKET, "problems": []}],
        "running_sweeps": [],
        "damaged_sweeps": [],
        "running_backfills": [],
        "damaged_backfills": [],
        "overdue_verifications": {},
        "open_findings": {},
        "event_sources": [
            {"queue": queue, "state": "Enabled", "maximum_concurrency": most, "enabled": True}
            for queue, most in (("Arrivals", 50), ("Backfill", 10), ("LongObjects", 10))
        ],
        "notes": [],
    }


def test_runs_that_are_not_over_are_named(run: Run, watched: Stack) -> None:
    """Those that run, and those whose objects wait in a queue; not the ones that are done."""
    table = BackfillsTable(watched.client("dynamodb"), "BackfillsTableName")
    for name, status, done, purpose in (
        ("2026-listing", BackfillStatus.RUNNING, False, Purpose.RECORD),
        ("2026-waiting", BackfillStatus.QUEUED, False, Purpose.VERIFY),
        ("2026-over", BackfillStatus.QUEUED, True, Purpose.RECORD),
        ("2026-stopped", BackfillStatus.STOPPED, False, Purpose.RECORD),
    ):
        table.record(Backfill(name, BUCKET, status, now(), purpose=purpose))
        table.record_plan(name, [Part(0, objects=1, done=True)])
        if done:
            table.count(name, Tally(hashed=1, invocations=1))
    running = run("status", "--json").document["running_backfills"]
    assert sorted(running) == [
        "2026-listing (backfill of inbox)",
        "2026-waiting (verification of inbox)",
    ]
    assert "listing (backfill of inbox)" in run("status").out


def test_a_bucket_that_is_no_longer_hashed_is_a_negative_result(
    run: Run, watched: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its events are lost in silence; the checks are those of `bucketsum buckets`."""
    lost = replace(COMPLETE, bucket="photos", problems=("no notification of created objects",))
    monkeypatch.setattr(status_command, "attachments", lambda _: [COMPLETE, lost])
    ended = run("status")
    assert (ended.status, watched.bucket in ended.out) == (1, False)
    assert ["photos", "no", "notification", "of", "created", "objects"] in [
        line.split() for line in ended.out.splitlines()
    ]


@pytest.mark.usefixtures("watched")
def test_an_object_that_differs_is_a_negative_result(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who asks once a day, or a job that does, learns of it."""
    monkeypatch.setitem(METRICS, "ObjectsDiffers", [(10, 2.0)])
    ended = run("status").assert_no()
    assert "differ, last day" in ended.out
    assert "`bucketsum verify list`" in ended.err


DENIABLE: Final = {
    "DescribeRule": 2,
    "GetAccountSettings": 0,
    "GetFunctionConfiguration": 0,
    "GetMetricData": 2,
    "GetQueueAttributes": 2,
    "ListEventSourceMappings": 2,
    "Query": 2,
}
"""Operation → exit status without it: 0 if only the cost or the quota stays unknown."""


@pytest.mark.parametrize("operation", DENIABLE)
def test_what_is_not_permitted_is_missing_and_the_rest_is_shown(
    run: Run, watched: Stack, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    """A denied read leaves its values out; a job must not take what is not known for good."""

    def attachments(stack: Stack) -> list[Attachment]:
        stack.connection.client("events").describe_rule(Name="a")
        return [COMPLETE]

    monkeypatch.setattr(status_command, "attachments", attachments)
    change_calls(monkeypatch, answered({"DescribeRule": {}, operation: refusal(operation)}))
    ended = run("status", "--json")
    assert ended.status == DENIABLE[operation], ended.err
    assert ended.document["stack"] == watched.name
    assert ended.document["notes"] == [
        f"your credentials do not allow {operation}: its values are missing"
    ]
    shown = run("status")
    assert (shown.status, operation in shown.err) == (DENIABLE[operation], True)
    dead_letter(watched, "x", reason="why")
    assert run("status").status == (2 if operation == "GetQueueAttributes" else 1)
    change_calls(monkeypatch, answered({operation: refusal(operation, "Throttling")}))
    assert run("status").status == 2


def test_a_small_quota_is_named_with_its_remedy(
    run: Run, watched: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new account's quota of 10 is compared with the sum of all mappings' maxima."""
    few = {"AccountLimit": {"UnreservedConcurrentExecutions": 10}}
    change_calls(monkeypatch, answered({"GetAccountSettings": few}))
    assert not watched.connection.is_local
    shown = " ".join(run("status").err.split())
    assert "10 concurrent executions, the functions may use 71" in shown
    assert "MaximumConcurrency=5 BackfillConcurrency=2 LongObjectConcurrency=2" in shown


def test_mappings_of_a_function_are_listed_once(
    run: Run, watched: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quota is compared with the mappings that are shown; --watch asks every time."""
    functions: list[str] = []

    def listed(request: dict[str, Any]) -> Any:  # noqa: ANN401 - any answer
        functions.append(request["FunctionName"])
        return HEALTHY["ListEventSourceMappings"]

    change_calls(monkeypatch, answered({"ListEventSourceMappings": listed}))
    assert run("status").status == 0
    assert functions == [watched.function, watched.outputs["SlicerFunctionName"]]


def test_estimate_is_gb_seconds_and_requests(watched: Stack) -> None:
    """An hour of 1,024 MB and 1,000 invocations, at the prices of the table."""
    prices = prices_in("us-east-1", "arm64")
    usd = stack_status(watched, Reads()).estimated_usd_this_month
    assert usd == pytest.approx(3600 * prices.gb_second + 1000 * prices.request)


def test_region_without_prices_has_those_of_another(
    watched: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate is that of us-east-1, and the note says so."""
    unknown = prices_in("moon-1", "arm64")
    monkeypatch.setattr("bucketsum_cli.stacks.activity.prices_in", lambda *_: unknown)
    assert stack_status(watched, Reads()).notes == ("the prices are those of us-east-1",)


def test_emulator_without_metrics_gives_null_and_says_so(
    watched: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On AWS no value means no object; on the emulator it means that nothing is known."""
    monkeypatch.setattr("tests.cli.test_status.METRICS", {})
    assert stack_status(watched, Reads()).activity.hashed_last_day == 0
    monkeypatch.setattr(Connection, "is_local", True)
    state = stack_status(watched, Reads())
    activity = state.activity
    assert {activity.hashed_last_hour, activity.errors_last_day, activity.mb_per_s} == {None}
    assert "no metrics" in state.notes[0]
    assert state.estimated_usd_this_month is None


def test_metrics_are_those_of_this_stack(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Namespace and dimension are what the hasher publishes with: another stack's do not count."""
    change_calls(monkeypatch, answered({**HEALTHY, "Query": {"Items": []}, "GetItem": {}}))
    for service, value in ((stack.name, 5.0), ("another", 70.0)):
        boto3.client("cloudwatch").put_metric_data(
            Namespace="bucketsum",
            MetricData=[
                {
                    "MetricName": "ObjectsHashed",
                    "Dimensions": [{"Name": "service", "Value": service}],
                    "Value": value,
                    "Timestamp": datetime.now(UTC) - timedelta(minutes=20),
                }
            ],
        )
    assert stack_status(stack, Reads()).activity.hashed_last_hour == 5


def test_dead_letters_are_a_negative_result(run: Run, watched: Stack) -> None:
    """Exit status 1, the number, and the command that has the reasons."""
    dead_letter(watched, "x", reason="why")
    ended = run("status").assert_no()
    assert "dead letters 1 message " in " ".join(ended.out.split())
    assert "`bucketsum failures` shows the reasons" in " ".join(ended.err.split())


@pytest.mark.parametrize("off", range(3))
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.usefixtures("watched")
def test_a_disabled_mapping_is_a_negative_result(
    run: Run, monkeypatch: pytest.MonkeyPatch, off: int, *, is_there: bool
) -> None:
    """Nothing is hashed in that way, although no message failed."""
    mappings = [*HEALTHY["ListEventSourceMappings"]["EventSourceMappings"]]
    mappings[off : off + 1] = [{**mappings[off], "State": "Disabled"}] if is_there else []
    monkeypatch.setitem(HEALTHY, "ListEventSourceMappings", {"EventSourceMappings": mappings})
    change_calls(monkeypatch, answered({**HEALTHY, "GetMetricData": metric_data}))
    ended = run("status", "--json").assert_no()
    sources = ended.document["event_sources"]
    assert [source["enabled"] for source in sources] == [number != off for number in range(3)]


def test_a_damaged_backfill_is_named(run: Run, watched: Stack) -> None:
    """Exit status 1, and its name: `backfill list` alone would show it."""
    name = "20261121T100000-3f9a1c"
    item = {"backfill": {"S": "backfills"}, "item": {"S": name}}
    with as_fake():
        watched.client("dynamodb").put_item(TableName="BackfillsTableName", Item=item)
    ended = run("status")
    assert (ended.status, name in ended.out, "is damaged" in ended.err) == (1, True, True)


@pytest.mark.usefixtures("watched")
def test_watch_shows_it_again_until_ctrl_c(
    run: Run, replace_sleep: SleepReplacer, terminal: Callable[[int], None]
) -> None:
    """Every so many seconds, on a terminal and in a pipe; Ctrl-C is the way to end it."""

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) % 2 == 0:
            raise KeyboardInterrupt

    pauses: list[float] = []
    replace_sleep(pause)
    ended = run("status", "--watch", "5")
    assert (ended.status, ended.out.count("oldest waiting"), pauses) == (0, 2, [5, 5])
    terminal(100)
    assert "1 min 30 s" in run("status", "--watch").out
    assert pauses[2:] == [30, 30]


def test_watch_has_no_document(run: Run) -> None:
    """One JSON document cannot be redrawn."""
    assert run("status", "--watch", "--json").status == 2

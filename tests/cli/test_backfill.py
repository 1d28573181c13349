"""`bucketsum backfill`: the bill, the start, and what can be done with it afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.cli.aws_calls import HEALTHY, answered, change_calls, refusal
from tests.cli.deployed import BUCKET, put_object
from tests.support.sam_template import create_table

if TYPE_CHECKING:
    from tests.cli.conftest import Run

    from bucketsum_cli.aws.stack import Stack

BILLION: Final = ("--objects", "1000000000", "--mean-size", "100000")


@pytest.fixture
def executions(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> dict[str, Any]:
    """The requests to Step Functions by operation; the table of backfills is there."""
    assert stack.bucket == BUCKET
    create_table(stack.client("dynamodb"), "BackfillsTable", "BackfillsTableName")
    seen: dict[str, Any] = {}

    def states(operation: str, answer: object) -> Any:  # noqa: ANN401 - an answer
        def kept(request: object) -> object:
            seen[operation] = request
            return answer

        return kept

    change_calls(
        monkeypatch,
        answered(
            {
                "GetFunctionConfiguration": HEALTHY["GetFunctionConfiguration"],
                "StartExecution": states("StartExecution", {"executionArn": "arn"}),
                "StopExecution": states("StopExecution", {}),
                "DescribeExecution": states("DescribeExecution", {"status": "RUNNING"}),
            }
        ),
    )
    return seen


def test_the_bill_of_a_billion_objects(run: Run, executions: dict[str, Any]) -> None:
    """Nothing is counted or started; the bill has each item, and says what limits the time."""
    ended = run("backfill", BUCKET, "--dry-run", *BILLION, "--json")
    assert ended.status == 0
    bill = ended.document["bill"]
    assert bill["object_count"] == 10**9
    assert bill["orchestration_usd"] < 100 < bill["usd"]
    assert bill["limited_by"] == "BackfillConcurrency"
    assert ended.document["backfill"] is None
    assert executions == {}


def test_what_is_in_the_bucket_is_counted(
    run: Run, stack: Stack, executions: dict[str, Any]
) -> None:
    """By listing, with prefix and limit, before the question."""
    for number in range(3):
        put_object(stack, f"old/{number}", b"four")
    put_object(stack, "new", b"")

    ended = run("backfill", BUCKET, "--prefix", "old/", "--dry-run")
    assert ended.status == 0
    assert "3 objects, 12 B (counted by listing)" in ended.out
    assert "2 objects" in run("backfill", BUCKET, "--limit", "2", "--dry-run").out
    declined = run("backfill", BUCKET)
    assert (declined.status, executions) == (1, {})


def test_a_backfill_is_started_stopped_and_resumed(run: Run, executions: dict[str, Any]) -> None:
    """Each execution has its own name; a second stop or resume says why it does nothing."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions["StartExecution"]["name"] == f"{backfill}-1"
    shown = run("backfill", "show", backfill, "--json").document
    assert (shown["state"], shown["cause"]) == ("running", None)
    assert run("backfill", "resume", backfill).status == 2

    assert run("backfill", "stop", backfill).status == 0
    assert "StopExecution" in executions
    assert run("backfill", "stop", backfill).status == 2
    assert run("backfill", "resume", backfill).status == 0
    assert executions["StartExecution"]["name"] == f"{backfill}-2"

    [listed] = run("backfill", "list", "--json").document
    assert (listed["backfill"], listed["executions"]) == (backfill, 2)
    assert backfill in run("backfill", "list").out


def test_a_start_that_is_refused_leaves_nothing_running(
    run: Run, executions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be shown as running for ever; stopped, it can be resumed."""
    with monkeypatch.context() as refused:
        change_calls(refused, answered({"StartExecution": refusal("StartExecution")}))
        assert run("backfill", BUCKET, "--yes").status != 0
    [listed] = run("backfill", "list", "--json").document
    assert (listed["state"], executions) == ("stopped", {})


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("photos", "--yes"), "attach it first"),
        ((BUCKET, "--objects", "3"), "must be used together"),
        (("show", "20261121T000000-abc"), "there is no backfill"),
        ((BUCKET, "--inventory", "manifest.json", "--dry-run"), "not a URL like s3://"),
    ],
)
@pytest.mark.usefixtures("executions")
def test_a_request_that_makes_no_sense_says_why(
    run: Run, words: tuple[str, ...], text: str
) -> None:
    """Before anything is started."""
    run("backfill", *words).assert_refused(text)


def test_an_execution_that_failed_is_shown(
    run: Run, executions: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status says so, with the cause, and that it can be resumed."""
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    assert executions
    cause = json.dumps({"errorType": "AccessDenied", "errorMessage": "no s3:ListBucket"})
    failed = {"status": "FAILED", "error": "States.TaskFailed", "cause": cause}
    change_calls(monkeypatch, answered({"DescribeExecution": failed}))
    ended = run("backfill", "show", backfill)
    assert ended.status == 1
    assert "resume" in ended.out
    assert "AccessDenied: no s3:ListBucket" in ended.out
    document = run("backfill", "show", backfill, "--json").document
    assert (document["state"], document["cause"]) == ("failed", "AccessDenied: no s3:ListBucket")

"""`verify report` and `verify list --check`: what a run found, and whether the chain is whole."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from tests.cli.aws_calls import EXECUTED, HEALTHY, answered, change_calls
from tests.cli.conftest import Run, SleepReplacer
from tests.cli.deployed import BUCKET, put_and_record
from tests.cli.reporting import FIRST, REPORTS, reporting
from tests.support.moto_state import set_up
from tests.support.sam_template import create_table

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Tally
from bucketsum.backfill.evidence_records import RowFinding
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.rest import days_ago
from bucketsum.backfill.table import BackfillsTable
from bucketsum.clock import now
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.verification import mark
from bucketsum.table.items import item_of
from bucketsum.table.outcome import Outcome
from bucketsum.table.row_parts import Difference
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.backfill.reports import open_findings
from bucketsum_cli.stacks import status

Reported: TypeAlias = Callable[..., str]


@pytest.fixture
def reported(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Reported:
    """Take a verification to its end; returns its name."""
    return reporting(stack, monkeypatch)


def lose(stack: Stack, key: str) -> None:
    """Record an object, and remove it without an event."""
    row = put_and_record(stack, key, b"lost")
    stack.client("s3").delete_object(Bucket=BUCKET, Key=key, VersionId=row.entry)


def delete_stack(stack: Stack) -> None:
    """Delete the stack; its tables stay, with names as CloudFormation gives them."""
    dynamodb = stack.client("dynamodb")
    for kind, name in (
        ("DigestsTable", stack.table),
        ("BackfillsTable", stack.outputs["BackfillsTableName"]),
    ):
        for kept in (f"{stack.name}-{kind}-Z9", f"{stack.name}-{kind}-A1"):
            create_table(dynamodb, kind, kept)
        for item in dynamodb.scan(TableName=name)["Items"]:
            dynamodb.put_item(TableName=kept, Item=item)
    stack.client("cloudformation").delete_stack(StackName=stack.name)


def test_reports_and_rows_of_a_deleted_stack_are_read(
    run: Run, stack: Stack, reported: Reported
) -> None:
    """From the newest tables that it left; a wrong name still says that there is no stack."""
    lose(stack, "a")
    name = reported()
    delete_stack(stack)
    listed = run("verify", "list", "--check")
    assert (listed.status, listed.out) == (0, f"{name}  bucketsum: 0 objects verified, 1 lost\n")
    for text in ("is deleted", "DigestsTable-Z9, of an earlier stack", "1 report, each with"):
        assert text in listed.err
    assert [r["run"] for r in run("verify", "list", "--json").document] == [name]
    assert "no backfill has a report" in run("backfill", "list").err
    assert run("verify", "report").status == 1
    assert run("snapshot", "--json").document["rows"] == 1
    row = run("sql", "SELECT key, state FROM versions", "--snapshot", "last", "--json").document
    assert row == [{"key": "a", "state": "hashed"}]
    run("verify", "report", "--stack", "other").assert_refused("there is no stack other")
    run("verify", BUCKET, "--dry-run").assert_refused("there is no stack")


def test_a_report_names_what_is_lost(run: Run, stack: Stack, reported: Reported) -> None:
    """In words, JSON, CSV and on a page; the exit status is 1 in each."""
    lose(stack, "a/[red]1")
    name = reported()
    shown = run("verify", "report").assert_no()
    assert "bucketsum: 0 objects verified, 1 lost" in shown.out
    assert "inbox/a/[red]1" in shown.out
    assert "rows     1, each counted once" in shown.out
    document = run("verify", "report", name, "--json").document
    assert document["counts"]["lost"] == 1
    assert document["place"] == f"s3://{REPORTS}/bucketsum/{name}/"
    [line] = csv.DictReader(io.StringIO(run("verify", "report", "last", "--csv").out))
    assert (line["kind"], line["key"]) == ("lost", "a/[red]1")
    page = run("verify", "report", "last", "--html").out
    assert page.startswith("<!DOCTYPE html>")
    assert "inbox/a/[red]1" in page
    assert run("verify", "show", name).out.count("lost: inbox/a/[red]1") == 1


def test_a_report_is_written_where_somebody_wants_it(
    run: Run, stack: Stack, reported: Reported
) -> None:
    """To a URL; without a problem the exit status is 0."""
    reported()
    put_and_record(stack, "later", b"x")
    assert run("verify", "report", "-o", f"s3://{REPORTS}/copy.json").status == 0
    copy = stack.client("s3").get_object(Bucket=REPORTS, Key="copy.json")["Body"].read()
    assert json.loads(copy)["run"] == FIRST


def test_a_report_that_somebody_altered_is_not_shown(
    run: Run, stack: Stack, reported: Reported
) -> None:
    """It might say that all is well; the text names it."""
    name = reported()
    alter_table(stack)
    for command in ("report", "show"):
        shown = run("verify", command, name)
        assert (shown.status, "report 1: its SHA-256 is" in shown.err) == (1, True)


def test_a_bucket_that_did_not_end_well_is_named_in_every_form(
    run: Run, reported: Reported
) -> None:
    """On the terminal and on the page, which is nothing but a page."""
    reported(status=BackfillStatus.FAILED, failure="NoSuchBucket: gone")
    shown = run("verify", "report")
    assert (shown.status, "inbox    failed: NoSuchBucket: gone" in shown.out) == (1, True)
    page = run("verify", "report", "--html").out
    assert page.startswith("<!DOCTYPE html>")
    assert "failed: NoSuchBucket: gone" in page


@pytest.mark.usefixtures("reported")
def test_without_a_report_the_answer_is_neither(run: Run) -> None:
    """A run that is not over has none; the text says what to do."""
    refused = run("verify", "report", "last")
    assert refused.status == 2
    assert "there is no report of last: it is written at the end" in refused.err
    refused = run("backfill", "report", "20261121T000000-abc")
    assert (refused.status, "bucketsum backfill show" in refused.err) == (2, True)


def test_an_older_report_does_not_answer_for_the_last_run(
    run: Run, stack: Stack, reported: Reported
) -> None:
    """While the newest run has no report, an earlier one does not stand for it."""
    reported()
    newer = Backfill("20261122T100000-b", BUCKET, BackfillStatus.RUNNING, now(),
                     purpose=Purpose.VERIFY)  # fmt: skip
    BackfillsTable(stack.client("dynamodb"), stack.outputs["BackfillsTableName"]).record(newer)
    ended = run("verify", "report", "last")
    assert (ended.status, "there is no report of 20261122T100000-b" in ended.err) == (2, True)


def test_a_list_says_who_and_where(run: Run, reported: Reported) -> None:
    """Date, caller, time, and the place of the report."""
    name = reported()
    [listed] = run("verify", "list", "--json").document
    assert listed["record"]["started_by"] == "arn:aws:iam::1:user/jo"
    assert listed["report"] == f"s3://{REPORTS}/bucketsum/{name}/"


def alter_table(stack: Stack) -> None:
    """Change a report in the table."""
    stack.client("dynamodb").update_item(
        TableName=stack.outputs["BackfillsTableName"],
        Key={"backfill": {"S": "reports"}, "item": {"S": "00000001"}},
        UpdateExpression="SET document = :d",
        ExpressionAttributeValues={":d": {"S": "{}"}},
    )


def alter_findings(stack: Stack) -> None:
    """Remove a finding."""
    dynamodb, table = stack.client("dynamodb"), stack.outputs["BackfillsTableName"]
    items = dynamodb.query(
        TableName=table,
        KeyConditionExpression="backfill = :b",
        ExpressionAttributeValues={":b": {"S": FIRST}},
    )["Items"]
    [finding] = [item for item in items if item["item"]["S"].startswith("finding#")]
    key = {name: finding[name] for name in ("backfill", "item")}
    dynamodb.delete_item(TableName=table, Key=key)


def alter_file(name: str) -> Callable[[Stack], None]:
    """Change a file of a report in the bucket."""

    def change(stack: Stack) -> None:
        key = f"bucketsum/{FIRST}/{name}"
        stack.client("s3").put_object(Bucket=REPORTS, Key=key, Body=b"{}")

    return change


def remove(number: int) -> Callable[[Stack], None]:
    """Remove a report from the table."""

    def change(stack: Stack) -> None:
        stack.client("dynamodb").delete_item(
            TableName=stack.outputs["BackfillsTableName"],
            Key={"backfill": {"S": "reports"}, "item": {"S": f"{number:08d}"}},
        )

    return change


def chain_reports(run: Run, stack: Stack, reported: Reported) -> None:
    """Make a chain of three reports, which is whole."""
    lose(stack, "a")
    for name in (FIRST, "20261122T100000-aaaaaa", "20261123T100000-aaaaaa"):
        reported(name)
    whole = run("verify", "list", "--check")
    assert (whole.status, "3 reports, each with the digest" in whole.err) == (0, True)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (alter_table, "it was altered"),
        (alter_findings, "its findings were altered"),
        (alter_file("report.json"), f"{FIRST}/report.json has the SHA-256"),
        (alter_file("findings.jsonl"), f"{FIRST}/findings.jsonl has the SHA-256"),
        (remove(1), "report 1 is missing: 2 follows 0"),
        (remove(2), "report 2 is missing: 3 follows 1"),
        (remove(3), "is missing at the end of the chain"),
    ],
)
def test_the_chain_says_where_it_breaks(
    run: Run, stack: Stack, reported: Reported, change: Callable[[Stack], None], text: str
) -> None:
    """A change of one report needs a change of all that follow, and of their files."""
    set_up(chain_reports, run, stack, reported)
    change(stack)
    broken = run("verify", "list", "--check").assert_no()
    assert text in " ".join(broken.err.split())


def test_waiting_ends_with_the_report(
    run: Run, stack: Stack, reported: Reported, replace_sleep: SleepReplacer
) -> None:
    """A run at rest is not over: what is lost stands in its report, as in its exit status."""
    put_and_record(stack, "there", b"x")
    lose(stack, "gone")
    reported()
    table, records, looks = stack.runs_table(), stack.evidence_table(), iter(range(3))
    closing, report = records.closing(FIRST), records.report(1)
    rows = [row for row in records.findings(FIRST) if isinstance(row, RowFinding)]
    [finding] = [row for row in rows if row.kind == "lost"]
    assert closing
    assert report

    def work(_seconds: float) -> None:
        newest = next(table.backfills())
        assert isinstance(newest, Backfill)
        table.record(replace(newest, status=BackfillStatus.QUEUED, rested_at=now(), ended_at=now()))
        if next(looks) == 1:
            records.append(replace(report, number=2, run=newest.run_id))
            records.begin_closing(newest.run_id, replace(closing, number=2))
            records.put_finding(newest.run_id, replace(finding, attempt=None))

    replace_sleep(work)
    waited = run("verify", BUCKET, "--older-than", "90d", "--yes", "--wait")
    assert (waited.status, next(looks)) == (1, 2), waited.err
    assert "lost: inbox/gone" in waited.out


def test_an_unreadable_object_is_a_failure_of_a_verification(
    run: Run, stack: Stack, reported: Reported
) -> None:
    """It was not verified; in a backfill its row has the reason, and that is its outcome."""
    name = reported()
    BackfillsTable(stack.client("dynamodb"), stack.outputs["BackfillsTableName"]).count(
        name, Tally(unreadable=1)
    )
    assert run("verify", "show", name).status == 1


def test_an_overdue_verification_is_a_reason_of_status(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the bucket; without a schedule nothing is promised."""
    assert status._overdue(stack, ()) == {}  # noqa: SLF001 - what the status adds
    records = EvidenceTable(stack.client("dynamodb"), stack.outputs["BackfillsTableName"])
    with monkeypatch.context() as then:
        then.setattr("bucketsum.backfill.evidence_table.now", lambda: days_ago(300))
        records.watch([BUCKET])
    promised = {"VerifySchedule": "rate(90 days)", "VerifyOlderThanDays": "80"}
    object.__setattr__(stack, "parameters", {**stack.parameters, **promised})
    assert "never verified" in status._overdue(stack, ())[BUCKET]  # noqa: SLF001 - as said


def test_status_says_what_differs_until_that_is_closed(
    run: Run, stack: Stack, reported: Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From reports, also where there are no metrics; a run without one counts so far."""
    row = put_and_record(stack, "rotten", b"rotten")
    rotten = replace(row, difference=Difference("sha1:" + "a" * 40, now()))
    stack.client("dynamodb").put_item(TableName=stack.table, Item=item_of(rotten))
    lose(stack, "gone")
    name = reported()
    recorded = list(stack.runs_table().backfills())
    assert open_findings(stack, recorded)[BUCKET].startswith("1 differs, 1 lost: `bucketsum verify")
    change_calls(monkeypatch, answered({**HEALTHY, **EXECUTED}))
    shown = run("status")
    assert (shown.status, f"verify report {name}" in " ".join(shown.out.split())) == (1, True)
    for key, content in (("rotten", b"rotten"), ("gone", b"lost")):
        put_and_record(stack, key, content, "02")
    assert open_findings(stack, recorded) == {}
    newer = Backfill("20261122T100000-b", BUCKET, BackfillStatus.RUNNING, now(),
                     purpose=Purpose.VERIFY)  # fmt: skip
    stack.runs_table().count(newer.backfill_id, Tally(differs=2))
    assert open_findings(stack, [newer, *recorded])[BUCKET].startswith("2 differ so far")


@pytest.mark.parametrize("part", [{"prefix": "a/"}, {"sample": 0.01}, {"missing": "sha256"}])
def test_a_part_that_is_well_does_not_close_the_findings_of_the_bucket(
    stack: Stack, reported: Reported, part: dict[str, Any]
) -> None:
    """A self-test verifies one key: the objects that are lost stay lost."""
    lose(stack, "gone")
    whole = reported()
    recorded = list(stack.runs_table().backfills())
    reported("20261122T100000-b", **part)
    runs = list(stack.runs_table().backfills())
    assert len(runs) == 1 + len(recorded)
    assert open_findings(stack, runs) == open_findings(stack, recorded)
    assert whole in open_findings(stack, runs)[BUCKET]


def test_a_repaired_version_is_read_without_an_alarm(stack: Stack) -> None:
    """It still has other bytes; a newer version with the recorded digest has taken its place."""
    row = put_and_record(stack, "rotten", b"rotten")
    table, other = stack.digests_table(), "sha1:" + "a" * 40
    assert mark(table, row, row, other) is Outcome.DIFFERS
    put_and_record(stack, "rotten", b"rotten", "02")
    assert mark(table, row, row, other) is Outcome.SUPERSEDED

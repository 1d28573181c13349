"""`bucketsum selftest`: every check can fail, and nothing of a self-test stays behind."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError
from tests.cli.aws_calls import HEALTHY, answered, change_calls, refusal
from tests.cli.conftest import Run
from tests.cli.deployed import (
    BUCKET,
    READ,
    dead_letter,
    hashed,
    member,
    record_deletion,
    unreadable,
)
from tests.cli.permissions import as_fake
from tests.support.sam_template import load_template

from bucketsum.archives.member_rows import member_entry
from bucketsum.backfill.backfill_records import BackfillStatus, Part, Tally
from bucketsum.backfill.evidence_records import ChainedReport, Closing
from bucketsum.backfill.table import BackfillsTable
from bucketsum.hashing.ending import Purpose
from bucketsum.table.archive_status import ArchiveStatus
from bucketsum.table.digests_table import DigestsTable
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import ArchiveRecord
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.served_buckets import AttachedBucket, Via
from bucketsum_cli.commands import selftest
from bucketsum_cli.commands.lab import lab
from bucketsum_cli.selftest import scratch, stack_checks
from bucketsum_cli.selftest.header import header_of, redacted

ALARMS: Final = sorted(
    name
    for name, resource in load_template()["Resources"].items()
    if resource["Type"] == "AWS::CloudWatch::Alarm"
)
POLICY: Final = {
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "s3.amazonaws.com"},
            "Condition": {"ArnEquals": {"aws:SourceArn": [f"arn:aws:s3:::{BUCKET}"]}},
        }
    ]
}
OF_THE_LAB: Final = {check.name for check in measuring.checks} if (measuring := lab()) else set()
"""Checks that a stack without sweeps skips; tests/cli/tune has their tests."""

OBJECT_LINES: Final = [
    ("duplicate", "unchanged"), ("deleted", "gone"), ("missing-version", "gone"),
    ("unreadable", "archived"), ("unreadable", "archived"), ("logged", "hashed"),
]  # fmt: skip


class Hasher(DigestsTable):
    """A digests table whose hasher has just finished all events of whatever is looked up."""

    def __init__(self, stack: Stack, world: World) -> None:
        super().__init__(stack.client("dynamodb"), stack.table)
        self._s3 = stack.client("s3")
        self._world = world

    def rows_at(self, row_keys: Iterable[RowKey]) -> dict[RowKey, Row]:
        """Hash the objects that have no row yet, and record what was deleted; then look."""
        wanted = list(row_keys)
        with as_fake():
            for row_key in wanted:
                if self._world.hashes:
                    self._work_on(row_key)
        return super().rows_at(wanted)

    def _work_on(self, row_key: RowKey) -> None:
        recorded, etag = self.row_at(row_key), self._etag(row_key)
        if recorded is None or etag not in {None, recorded.etag}:
            self.record(self._row(row_key))
        elif etag is None and self._world.records_deletions and recorded.deletion is None:
            sequencer = f"{self._world.next_sequencer():04X}"
            record_deletion(self._world.stack, row_key, self._world.deletion_prefix + sequencer)

    def _etag(self, row_key: RowKey) -> str | None:
        """The entity tag of the object; None if it is deleted."""
        try:
            return self._s3.head_object(**_place(row_key))["ETag"].strip('"')
        except ClientError:
            return None

    def _row(self, row_key: RowKey) -> Row:
        sequencer = f"{self._world.next_sequencer():04X}"
        try:
            answer = self._s3.get_object(**_place(row_key))
        except ClientError:
            row = unreadable(row_key, b"", "archived in Glacier", sequencer)
            return replace(row, status=Status.ARCHIVED)
        content = answer["Body"].read()
        facts: dict[str, Any] = {"etag": answer["ETag"].strip('"')}
        if row_key.key.endswith(".zip") and self._world.archive is not None:
            self._record_members(row_key, content, sequencer)
            facts["archive"] = self._world.archive
        row = hashed(row_key, content + self._world.added, sequencer, **facts)
        return replace(row, recorded_at=sequencer)

    def _record_members(self, row_key: RowKey, content: bytes, sequencer: str) -> None:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for path in archive.namelist():
                entry = member_entry(row_key.entry, sequencer, path)
                data = archive.read(path) + self._world.added_to_members
                place = RowKey(row_key.bucket, row_key.key, entry)
                self.record(hashed(place, data, sequencer, member=member(path)))


def _place(row_key: RowKey) -> dict[str, Any]:
    """Where S3 has the object; moto has no version ``null``."""
    version = {} if row_key.version.is_null else {"VersionId": row_key.entry}
    return {"Bucket": row_key.bucket, "Key": row_key.key, **version}


_NOW: Final = "2026-11-21T10:00:00.000Z"


class World:
    """A deployed stack, healthy until a test changes it.

    Attributes:
        answers: Operation → answer, of what moto does not have.
        hashes: Whether objects get their rows.
        slices: Whether the function for long objects works.
        records_deletions: Whether the rows of deleted objects are marked.
        deletion_prefix: Digits before the sequencer of every deletion.
        added: Bytes that the hasher reads too much.
        added_to_members: The same, in each member of an archive.
        archive: The result for archives; None if they are read as plain objects.
        metric: The value of every metric; none if it is 0.
        sha1_in_log: SHA-1 in the log lines.
        lines: Name and outcome of each log line of an object.
        layer: The log line of the layer; None if it is not there.
        backfills: Counts of a backfill of one object; None if it never ends.
        verifies: Those of a verification.
        reports: Why its report was not delivered, or nothing; None if there is none.
        reason: Reason with which the malformed message is dead-lettered; None if it never is.
    """

    def __init__(self, stack: Stack) -> None:
        self.metric = 1.0
        self.stack = stack
        self.answers: dict[str, Any] = deepcopy(HEALTHY) | {
            "GetQueueAttributes": {
                "Attributes": {
                    "QueueArn": "arn:q",
                    "VisibilityTimeout": "5400",
                    "RedrivePolicy": json.dumps({"maxReceiveCount": 5}),
                    "Policy": json.dumps(POLICY),
                }
            },
            "GetBucketNotificationConfiguration": {
                "QueueConfigurations": [{"QueueArn": "arn:q", "Events": ["s3:ObjectCreated:*"]}]
            },
            "ListStackResources": {
                "StackResourceSummaries": [
                    {
                        "PhysicalResourceId": f"s-{name}-1",
                        "LogicalResourceId": name,
                        "ResourceType": "AWS::CloudWatch::Alarm",
                    }
                    for name in ALARMS
                ]
            },
            "DescribeAlarms": {
                "MetricAlarms": [
                    {"AlarmName": f"s-{name}-1", "AlarmActions": ["arn:topic"]} for name in ALARMS
                ]
            },
            "GetMetricData": lambda request: {
                "MetricDataResults": [
                    {
                        "Id": query["Id"],
                        "Timestamps": [request["StartTime"]],
                        "Values": [self.metric],
                    }
                    for query in request["MetricDataQueries"]
                    if self.metric
                ]
            },
            "GetTraceSummaries": {"TraceSummaries": [{}]},
            "FilterLogEvents": self._log_events,
            "SendMessage": self._moved,
            "StartExecution": self._backfilled,
            "DescribeExecution": {"status": "RUNNING"},
        }
        self.backfills: Tally | None = Tally(hashed=1, invocations=1)
        self.verifies = Tally(verified=1, invocations=1)
        self.reports: str | None = ""
        self.hashes = True
        self.slices = True
        self.records_deletions = True
        self.deletion_prefix = ""
        self.added = b""
        self.added_to_members = b""
        self.archive: ArchiveRecord | None = READ
        self.lines = list(OBJECT_LINES)
        self.layer: dict[str, Any] | None = {"missing_wheels": [], "has_bytecode": True}
        self.sha1_in_log = hashlib.sha1(b"logged").hexdigest()
        self.reason: str | None = "unknown envelope"
        self.sequencers: Iterator[int] = itertools.count(1)

    def next_sequencer(self) -> int:
        """The sequencer of the next event."""
        return next(self.sequencers)

    def _log_events(self, request: dict[str, Any]) -> dict[str, Any]:
        pattern = request["filterPattern"]
        if "layer" in pattern:
            lines = [] if self.layer is None else [{"message": "layer", **self.layer}]
        else:
            prefix = pattern.split('"')[1].rstrip("*")
            lines = [
                {"key": prefix + name, "outcome": outcome, "sha1": self.sha1_in_log}
                for name, outcome in self.lines
            ]
        texts = ["START", '"text"', *map(json.dumps, lines)]
        return {"events": [{"message": text} for text in texts]}

    def _backfilled(self, request: dict[str, Any]) -> dict[str, Any]:
        """Let the backfill queue its object, and the hasher hash it."""
        name = json.loads(request["input"])["backfill_id"]
        table = BackfillsTable(self.stack.client("dynamodb"), "BackfillsTableName")
        with as_fake():
            if self.backfills:
                table.record_plan(name, [Part(0, objects=1, done=True)])
                table.end(name, BackfillStatus.QUEUED, _NOW)
                run = table.backfill(name)
                is_check = run is not None and run.purpose is Purpose.VERIFY
                table.count(name, self.verifies if is_check else self.backfills)
                if is_check and self.reports is not None:
                    self._report(name)
        return {"executionArn": "arn"}

    def _report(self, name: str) -> None:
        records = self.stack.evidence_table()
        document = json.dumps({"buckets": [], "findings": {}})
        sha256 = hashlib.sha256(document.encode()).hexdigest()
        records.append(ChainedReport(1, name, _NOW, document, sha256, failure=self.reports or None))
        records.begin_closing(name, Closing(1, _NOW, number=1, delivered_at=_NOW))

    def _moved(self, request: dict[str, Any]) -> None:
        """Put a malformed message into the dead-letter queue, as the hasher does."""
        if request["QueueUrl"] == self.stack.outputs["LongObjectsQueueUrl"]:
            self.hashes = self.slices
        is_ours = request["QueueUrl"] == self.stack.arrivals_queue_url
        if is_ours and scratch.PREFIX[:-1] in request["MessageBody"] and self.reason is not None:
            body = request["MessageBody"]
            if "Object Created" not in body:
                dead_letter(self.stack, body, reason=self.reason)


@pytest.fixture
def world(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> World:
    """The stack as deployed and in order."""
    healthy = World(stack)
    monkeypatch.setattr(Stack, "digests_table", lambda self: Hasher(self, healthy))
    monkeypatch.setattr(stack_checks, "_LATE_SECONDS", 0)
    change_calls(monkeypatch, answered(healthy.answers))
    return healthy


def result_of(run: Run, name: str) -> dict[str, Any]:
    """The result of one check."""
    document = run("selftest", "--yes", "--json", "--timeout", 0, "--only", name).document
    result: dict[str, Any]
    result, clean_up = document["checks"]
    assert clean_up["outcome"] == "passed"
    assert document["all_passed"] is (result["outcome"] != "failed")
    return result


def keys_and_rows(stack: Stack) -> tuple[int, int]:
    """Numbers of versions and rows."""
    versions = stack.client("s3").list_object_versions(Bucket=stack.bucket)
    dynamodb = stack.client("dynamodb")
    return (
        len(versions.get("Versions", ())) + len(versions.get("DeleteMarkers", ())),
        dynamodb.scan(TableName=stack.table)["Count"],
    )


def with_archives(world: World) -> None:
    """Let the function read zip archives."""
    world.answers["GetFunctionConfiguration"]["Environment"]["Variables"]["ARCHIVE_SUFFIXES"] = (
        ".zip,.jar"
    )


def test_a_healthy_stack_passes_and_nothing_stays(run: Run, world: World) -> None:
    """Every check passes, in a document with the settings; objects, rows and messages are gone."""
    with_archives(world)
    dead_letter(world.stack, "another's", reason="why")
    ended = run("selftest", "--yes", "--json")
    document = ended.document
    not_passed = {check["name"] for check in document["checks"] if check["outcome"] != "passed"}
    assert not_passed == OF_THE_LAB, ended.out
    assert (ended.status, document["all_passed"]) == (0, True)
    assert document["runtime"] == "python3.13"
    assert 0 < document["estimated_usd"] < 0.01
    assert keys_and_rows(world.stack) == (0, 0)
    runs = [run.purpose for run in world.stack.runs_table().backfills()]  # type: ignore[union-attr]
    assert sorted(runs) == [Purpose.RECORD, Purpose.VERIFY]  # each has its report in the chain
    sqs = world.stack.client("sqs")
    [left] = sqs.receive_message(QueueUrl=world.stack.dead_letter_queue_url)["Messages"]
    assert left["Body"] == "another's"


def test_the_header_names_no_bucket_key_or_topic(world: World) -> None:
    """A parameter that names a resource is shown as set; all others have their values."""
    given = {name: f"{name}-value" for name in load_template()["Parameters"]}
    with as_fake():
        shown = header_of(replace(world.stack, parameters=given)).parameters
    private = {name for name, value in shown.items() if value == "(set)"}
    assert private == {
        "ExistingBucketName", "InventoryBucketArn", "ReportBucket", "ReportTopicArn",
        "KmsKeyArn", "AlarmTopicArn", "PermissionsBoundaryArn",
    }  # fmt: skip
    assert {name: given[name] for name in given.keys() - private}.items() <= shown.items()


def change_answer(operation: str, answer: Any) -> Callable[[World], None]:  # noqa: ANN401
    """A change of the answer to *operation*."""
    return lambda world: world.answers.__setitem__(operation, answer)


def change_queue(name: str, value: str) -> Callable[[World], None]:
    """A change of an attribute of the arrivals queue."""
    return lambda world: world.answers["GetQueueAttributes"]["Attributes"].__setitem__(name, value)


def change(**values: Any) -> Callable[[World], None]:  # noqa: ANN401
    """A change of attributes of the world."""
    return lambda world: vars(world).update(values)


def archives(**values: Any) -> Callable[[World], None]:  # noqa: ANN401
    """The same, with archives on."""

    def change_world(world: World) -> None:
        with_archives(world)
        vars(world).update(values)

    return change_world


_ARRIVALS: Final = "arn:aws:sqs:us-east-1:123456789012:arrivals"
NO_SOURCE: Final = {"EventSourceMappings": [{"State": "Disabled", "EventSourceArn": _ARRIVALS}]}
NO_MAXIMUM: Final = {"EventSourceMappings": [{"State": "Enabled", "EventSourceArn": _ARRIVALS}]}
SILENT_ALARMS: Final = {
    "MetricAlarms": [{"AlarmName": f"s-{name}-1", "AlarmActions": []} for name in ALARMS]
}
DENIAL: Final = json.dumps(
    {"Statement": {"Effect": "Deny", "NotPrincipal": {"AWS": "123456789012"}, "Action": "*"}}
)
BROKEN: Final = replace(READ, status=ArchiveStatus.BROKEN)
SIXTY: Final = {"AccountLimit": {"UnreservedConcurrentExecutions": 60}}
LOOPS_END: Final = {"RecursiveLoop": "Terminate"}


def without_slicer(world: World) -> None:
    """Remove the function for long objects: Lambda answers as if it did not know loops."""
    configuration = world.answers["GetFunctionConfiguration"]

    def configuration_of(request: dict[str, Any]) -> Any:  # noqa: ANN401 - any answer
        if request["FunctionName"] == world.stack.outputs["SlicerFunctionName"]:
            raise refusal("GetFunctionConfiguration", "ResourceNotFoundException")
        return configuration

    world.answers["GetFunctionConfiguration"] = configuration_of
    world.answers["GetFunctionRecursionConfig"] = refusal(
        "GetFunctionRecursionConfig", "ResourceNotFoundException"
    )


BROKEN_PARTS: Final[list[tuple[str, Callable[[World], None], str, str]]] = [
    ("mappings", change_answer("ListEventSourceMappings", NO_SOURCE), "failed", "Disabled"),
    ("visibility", change_queue("VisibilityTimeout", "900"), "failed", "less than 6 × the"),
    ("visibility", change_queue("RedrivePolicy", "{}"), "failed", "maxReceiveCount is None"),
    ("concurrency", change_answer("GetAccountSettings", SIXTY), "failed", "may use 71"),
    ("recursion", change_answer("GetFunctionRecursionConfig", LOOPS_END), "failed", "16 slices"),
    ("recursion", without_slicer, "failed", ""),
    ("concurrency", change_answer("ListEventSourceMappings", NO_MAXIMUM), "warning", "no max"),
    ("notification", change_queue("QueueArn", "arn:r"), "failed", "does not notify the"),
    ("notification", change_queue("Policy", "{}"), "failed", "does not allow the bucket"),
    ("notification", change_queue("Policy", DENIAL), "failed", "does not allow the bucket"),
    ("alarms", change_answer("DescribeAlarms", {"MetricAlarms": []}), "failed", "BacklogAlarm"),
    ("alarms", change_answer("DescribeAlarms", SILENT_ALARMS), "warning", "AlarmTopicArn"),
    ("empty", change(hashes=False), "failed", "no row"),
    ("empty", change(added=b"x"), "failed", "the row has"),
    ("odd-key", change(added=b"x"), "failed", "the row has"),
    ("multipart", change(added=b"x"), "failed", "the row has"),
    ("overwritten", change(added=b"x"), "failed", "the row has"),
    ("sequencer", change(hashes=False), "failed", "no row"),
    ("sequencer", change(sequencers=itertools.count(9, -1)), "failed", "does not grow"),
    ("sequencer", change(records_deletions=False), "failed", "not marked as deleted"),
    ("sequencer", change(deletion_prefix="80"), "failed", "0001 then 800002 then 0003"),
    ("duplicate", change(hashes=False), "failed", "no row"),
    ("duplicate", change(lines=[]), "failed", "no log line"),
    ("deleted", change(hashes=False), "failed", "no row"),
    ("deleted", change(lines=[]), "failed", "no log line"),
    ("missing-version", change(hashes=False), "failed", "no row"),
    ("missing-version", change(lines=[]), "failed", "no log line"),
    ("unreadable", change(hashes=False), "failed", "no row"),
    ("unreadable", change(lines=OBJECT_LINES[:4]), "failed", "not tried again"),
    ("malformed", change(reason=None), "failed", "not in the dead-letter queue"),
    ("malformed", change(reason=""), "failed", "no reason"),
    ("archive", lambda _world: None, "skipped", "ArchiveSuffixes is empty"),
    ("archive", archives(hashes=False), "failed", "no row"),
    ("archive", archives(archive=None), "failed", "not read as an archive"),
    ("archive", archives(archive=BROKEN), "failed", "broken"),
    ("archive", archives(added_to_members=b"x"), "failed", "the rows of the members are"),
    ("backfill", change(backfills=None), "failed", "not ended in time"),
    ("backfill", change(backfills=Tally(unreadable=1)), "failed", "done: 0 of 1 objects hashed"),
    ("verification", change(backfills=None), "failed", "not ended in time"),
    ("verification", change(verifies=Tally(differs=1)), "failed", "was not verified"),
    ("verification", change(reports=None), "failed", "it has no report in time"),
    ("verification", change(reports="refused"), "failed", "refused"),
    ("slices", change(hashes=False), "failed", "no row"),
    ("slices", change(slices=False), "failed", "no row"),
    ("log", change(lines=[]), "failed", "no log line"),
    ("log", change(sha1_in_log="0"), "failed", "it has 0"),
    ("layer", change(layer=None), "warning", "no log line"),
    ("layer", change(layer={"missing_wheels": ["a"]}), "failed", "lacks a"),
    ("layer", change(layer={"missing_wheels": []}), "warning", "no bytecode"),
    ("metrics", change(metric=0), "warning", "not there yet"),
]
"""Check, a change that breaks its part, the outcome, and words of the detail."""


@pytest.mark.parametrize(("name", "break_it", "outcome", "detail"), BROKEN_PARTS)
def test_each_check_can_fail(
    run: Run, world: World, name: str, break_it: Callable[[World], None], outcome: str, detail: str
) -> None:
    """A broken part is found by its check, with the reason."""
    break_it(world)
    result = result_of(run, name)
    assert (result["outcome"], detail in result["detail"]) == (outcome, True), result
    if name != "malformed":
        assert keys_and_rows(world.stack) == (0, 0)


def test_every_check_is_broken_once() -> None:
    """A check without a test in which it fails, or at least warns, proves nothing."""
    broken = {name for name, _, outcome, _ in BROKEN_PARTS if outcome != "skipped"}
    assert broken == {check.name for check in selftest.CHECKS} - OF_THE_LAB


def record_what_is_sent(world: World, row_of: Callable[[RowKey], Row]) -> None:
    """Have each event that is sent again recorded, as the row of its version."""

    def record(request: dict[str, Any]) -> None:
        body = json.loads(request["MessageBody"])["detail"]["object"]
        row_key = RowKey(BUCKET, body["key"], body["version-id"])
        item = item_of(row_of(row_key))  # past the table, which replaces no digest of a version
        world.stack.client("dynamodb").put_item(TableName=world.stack.table, Item=item)

    world.answers["SendMessage"] = record


def test_second_event_must_not_change_the_row(run: Run, world: World) -> None:
    """A hasher that records it anew is found, although its log line says unchanged."""
    record_what_is_sent(world, lambda row_key: hashed(row_key, b"anew", "FFFF"))
    result = result_of(run, "duplicate")
    assert (result["outcome"], result["detail"]) == ("failed", "the second event changed the row")


@pytest.mark.parametrize(
    ("lines", "outcome", "detail"),
    [(OBJECT_LINES, "failed", "gone, but there is a row"), ([], "warning", "403, not 404")],
)
def test_answer_of_s3_for_an_absent_version_is_reported(
    run: Run, world: World, lines: list[tuple[str, str]], outcome: str, detail: str
) -> None:
    """AWS documents 404 or 403 for keys only, so this is what nobody knows."""
    record_what_is_sent(world, lambda row_key: unreadable(row_key, b"", "denied", "FFFF"))
    world.lines = lines
    result = result_of(run, "missing-version")
    assert (result["outcome"], detail in result["detail"]) == (outcome, True), result


def test_events_may_come_through_eventbridge(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a notification, the bucket must be attached by a rule; the queue admits all rules."""
    world.answers["GetBucketNotificationConfiguration"] = {}
    assert result_of(run, "notification")["outcome"] == "failed"
    attached = {BUCKET: AttachedBucket(BUCKET, Via.EVENTBRIDGE)}
    monkeypatch.setattr(stack_checks, "attached_to", lambda _: attached)
    assert "eventbridge" in result_of(run, "notification")["detail"]


def test_object_that_the_emulator_reads_from_glacier_is_a_known_difference(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On AWS the same is a failure."""
    monkeypatch.setattr(Hasher, "_row", lambda _self, row_key: hashed(row_key, b""))
    assert result_of(run, "unreadable")["outcome"] == "failed"
    monkeypatch.setattr(Connection, "is_local", True)
    assert result_of(run, "unreadable")["outcome"] == "known difference"
    world.metric = 0
    assert result_of(run, "metrics")["outcome"] == "known difference"
    both = run("selftest", "--yes", "--only", "unreadable", "--only", "metrics")
    assert both.out.splitlines()[-1] == "1 passed, 2 known differences"


@pytest.mark.parametrize("name", ["overwritten", "missing-version"])
def test_bucket_without_versions_skips_what_needs_them(run: Run, world: World, name: str) -> None:
    """An existing bucket may keep none; then a key has one row."""
    world.stack.client("s3").put_bucket_versioning(
        Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"}
    )
    assert result_of(run, name)["outcome"] == "skipped"


@pytest.mark.parametrize(("prefix", "outcome"), [("", "passed"), ("80", "failed")])
def test_without_versions_the_order_of_a_deletion_decides(
    run: Run, world: World, prefix: str, outcome: str
) -> None:
    """The row of an object that is put after a deletion would show this deletion."""
    world.stack.client("s3").put_bucket_versioning(
        Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"}
    )
    world.deletion_prefix = prefix
    assert result_of(run, "sequencer")["outcome"] == outcome


def test_what_is_not_permitted_is_skipped_and_other_refusals_fail(run: Run, world: World) -> None:
    """The details name neither account nor bucket, unless --verbose."""
    world.answers["GetAccountSettings"] = refusal("GetAccountSettings")
    result = result_of(run, "concurrency")
    assert result["outcome"] == "skipped"
    assert "your credentials do not allow GetAccountSettings" in result["detail"]
    assert "123456789012" not in result["detail"]
    assert BUCKET not in result["detail"]
    world.answers["GetAccountSettings"] = refusal("GetAccountSettings", "Throttling")
    assert result_of(run, "concurrency")["outcome"] == "failed"
    verbose = run("selftest", "--yes", "--only", "concurrency", "--verbose")
    assert "123456789012" in verbose.out


def test_ctrl_c_cleans_up(run: Run, world: World) -> None:
    """Everything created until then is deleted; a poll in vain hides the dead letter for 10 s."""
    hidden_seconds: list[int] = []

    def interrupt(request: dict[str, Any]) -> None:
        hidden_seconds.append(request.get("VisibilityTimeout", 0))
        raise KeyboardInterrupt

    world.answers["ReceiveMessage"] = interrupt
    assert run("selftest", "--yes", "--only", "malformed").status == 130
    del world.answers["ReceiveMessage"]
    world.answers["FilterLogEvents"] = interrupt
    assert run("selftest", "--yes", "--only", "log").status == 130
    assert keys_and_rows(world.stack) == (0, 0)
    assert 0 < max(hidden_seconds) <= 10


def test_keep_leaves_everything(run: Run, world: World) -> None:
    """For a person who wants to look."""
    assert run("selftest", "--yes", "--keep", "--only", "empty").status == 0
    assert keys_and_rows(world.stack) == (1, 1)


def test_what_cannot_be_deleted_is_a_failure(run: Run, world: World) -> None:
    """The results are shown all the same."""
    locked = [{"Key": "k", "Code": "AccessDenied", "Message": "it is locked"}]
    world.answers["DeleteObjects"] = {"Errors": locked}
    ended = run("selftest", "--yes", "--json", "--only", "empty").assert_no()
    outcomes = {check["name"]: check["outcome"] for check in ended.document["checks"]}
    assert outcomes == {"empty": "passed", "clean-up": "failed"}


def test_no_check_is_a_mistake(run: Run) -> None:
    """Nothing would be proved."""
    assert run("selftest", "--only", "log", "--skip", "log").status == 2


def test_it_asks_first_and_says_the_cost(run: Run, world: World) -> None:
    """No is a negative result, and nothing was made."""
    ended = run("selftest", answer="n\n")
    assert (ended.status, ended.out) == (1, "")
    assert "at most about 0.00" in ended.err
    assert "DeadLettersAlarm and UnreadableAlarm" in ended.err
    assert keys_and_rows(world.stack) == (0, 0)


def test_checklist_has_settings_outcomes_and_a_sum(run: Run, world: World) -> None:
    """Lines that can be posted: versions, each check, and how many passed."""
    world.added = b"x"
    ended = run("selftest", "--yes", "--only", "empty", "--only", "alarms").assert_no()
    lines = ended.out.splitlines()
    assert lines[0].startswith("bucketsum")
    outcomes = [line.split()[:2] for line in lines[-4:-1]]
    assert outcomes == [["alarms", "passed"], ["empty", "failed"], ["clean-up", "passed"]]
    assert lines[-1] == "2 passed, 1 failed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no row for my-photos/a", "no row for <BucketName>/a"),
        ("arn:aws:iam::123456789012:user/jo may not", "<ARN> may not"),
        ("arn:aws-cn:s3:::my-photos/key is denied", "<ARN> is denied"),
        ("account 123456789012", "account <account>"),
        ("100000000000 bytes, 1234567890123 ms", "<account> bytes, 1234567890123 ms"),
        ("https://sqs/123456789012/my-photos-dlq", "<DeadLetterQueueUrl>"),
    ],
)
def test_private_names_are_redacted(text: str, expected: str) -> None:
    """A number of twelve digits is taken for an account, whatever it is."""
    names = {
        "BucketName": "my-photos",
        "DeadLetterQueueUrl": "https://sqs/123456789012/my-photos-dlq",
        "Empty": "",
    }
    assert redacted(text, names) == expected

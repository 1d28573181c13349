"""A run of verifications from its first state to its report, killed after each of the states."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, Final

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.test_roles import deleted
from tests.support.events import BUCKET, message_of
from tests.support.lambda_invocation import Context, loaded
from tests.support.sam_template import create_table
from tests.support.state_machine import DEFINITION, Execution, Killed, types_of

from bucketsum.backfill import closing, rest
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.evidence_records import ChainedReport
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.table import BackfillsTable
from bucketsum.errors import UnknownBackfill
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose

RUN: Final = "20261121T100000"
OLD, DUE, YOUNG = "2026-08-01T10:00:00Z", "2026-10-01T10:00:00.000Z", "2026-11-01T10:00:00Z"
SECOND, GONE = "scans", "gone"
STATES: Final = types_of(DEFINITION)
AFTER_A_FAILURE: Final = ("GiveUp", "Failed")
TABLES: Final = ("backfills", "digests")
CLASSES: Final = {"frozen": "GLACIER", "cheap": "STANDARD_IA"}
KEYS: Final = ("a", "b", "rotten", "mended", "lost", "young", "young, lost", "deleted", "denied",
               *CLASSES)  # fmt: skip
BALANCE: Final = {
    "verified, STANDARD": 4, "differs, STANDARD": 1, "repaired, STANDARD": 1, "lost": 2,
    "archived, GLACIER": 1, "not selected (age), STANDARD": 1, "deleted": 1,
    "not selected (storage class), STANDARD_IA": 1, "unreadable, STANDARD": 1,
}  # fmt: skip
FINDINGS: Final = {
    ("differs", "rotten"), ("repaired", "mended"), ("lost", "lost"), ("lost", "young, lost"),
    ("deleted", "deleted"), ("unreadable", "denied"),
}  # fmt: skip


class World:
    """A stack with two buckets, whose objects have every fate.

    Attributes:
        failing: Action at which the enqueuer fails.
    """

    def __init__(self, stack: HasherStack, patch: pytest.MonkeyPatch) -> None:
        self.stack, self._patch, self._sequencers = stack, patch, count(1)
        for name in (SECOND, "reports"):
            stack.s3.create_bucket(Bucket=name)
        stack.keep_versions()
        create_table(stack.dynamodb, "BackfillsTable", "backfills")
        self.runs = BackfillsTable(stack.dynamodb, "backfills")
        self.records = EvidenceTable(stack.dynamodb, "backfills")
        versions = {key: self._put(key) for key in KEYS}
        self._put("second", bucket=SECOND)
        self._age()
        self._change(versions["rotten"], "sha1", "0" * 40)
        self._change(versions["mended"], "sha1", hashlib.sha1(b"good").hexdigest())
        self._put("mended", b"good")
        self._change(versions["young"], "recorded_at", YOUNG)
        self._change(versions["young, lost"], "recorded_at", YOUNG)
        stack.deliver(deleted(versions["deleted"]))
        for key in ("lost", "young, lost", "deleted"):
            stack.s3.delete_object(Bucket=BUCKET, Key=key, VersionId=versions[key].version_id or "")
        url = stack.sqs.create_queue(QueueName="BackfillQueue")["QueueUrl"]
        for name, value in (
            ("BACKFILL_QUEUE_URL", url), ("BACKFILL_CONCURRENCY", "20"), ("BUCKET", BUCKET),
            ("REPORT_BUCKET", "reports"), ("POWERTOOLS_SERVICE_NAME", "stack"),
        ):  # fmt: skip
            patch.setenv(name, value)
        stack.arrivals_url = url
        self._enqueuer = loaded("enqueuer")
        self.failing = ""
        self._age()
        self._rows = stack.dynamodb.scan(TableName="digests")["Items"]

    def _put(self, key: str, content: bytes = b"x", bucket: str = BUCKET) -> ObjectCreated:
        answer = self.stack.s3.put_object(
            Bucket=bucket,
            Key=key,
            Body=content,
            StorageClass=CLASSES.get(key, "STANDARD"),  # type: ignore[arg-type]
        )
        sequencer, at = f"{next(self._sequencers):04X}", "2026-08-01T09:00:00.000Z"
        created = ObjectCreated(bucket, key, answer.get("VersionId"), answer["ETag"].strip('"'),
                                len(content), sequencer, at)  # fmt: skip
        assert self.stack.deliver(message_of(created)) == []
        return created

    def _age(self) -> None:
        """Let all rows be from long ago."""
        for item in self.stack.dynamodb.scan(TableName="digests")["Items"]:
            if item["recorded_at"]["S"] > YOUNG:
                self.stack.dynamodb.put_item(
                    TableName="digests", Item={**item, "recorded_at": {"S": OLD}}
                )

    def _change(self, version: ObjectCreated, name: str, text: str) -> None:
        self.stack.dynamodb.update_item(
            TableName="digests",
            Key={
                "object": {"S": f"{version.bucket}/{version.key}"},
                "entry": {"S": version.version_id or "null"},
            },
            UpdateExpression="SET #name = :text",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":text": {"S": text}},
        )

    def begin(self, *buckets: str) -> None:
        """Record a run of *buckets*, and all rows as they were."""
        self.read()
        for table in TABLES:
            for item in self.stack.dynamodb.scan(TableName=table)["Items"]:
                names = ("backfill", "item") if table == "backfills" else ("object", "entry")
                key = {name: item[name] for name in names}
                self.stack.dynamodb.delete_item(TableName=table, Key=key)
        for item in self._rows:
            self.stack.dynamodb.put_item(TableName="digests", Item=item)
        for number, bucket in enumerate(buckets):
            self.runs.record(Backfill(
                f"{RUN}-{number}", bucket, BackfillStatus.RUNNING, rest.days_ago(0), run=RUN,
                all_versions=True, purpose=Purpose.VERIFY, older_than=DUE,
                storage_classes=("STANDARD", "GLACIER"),
            ))  # fmt: skip
        self._patch.setattr(closing, "DELETIONS_SECONDS", 300)

    def execute(self, killed_after: str = "", visit: int = 1) -> list[str]:
        """Run an execution, perhaps not to its end; returns the names of its states."""
        execution = Execution(self._invoke, self._wait, killed_after, visit)
        with suppress(Killed):
            execution.run({"backfill_id": RUN})
        return execution.visited

    def _invoke(self, event: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        if event["action"] == self.failing:
            raise InterruptedError
        if event["action"] == "settle":
            self.read()
        return self._enqueuer.lambda_handler(event, Context())

    def read(self) -> None:
        """Let the hasher read all that is queued."""
        names: Any = ["ApproximateNumberOfMessages"]
        while int(self.stack.sqs.get_queue_attributes(
            QueueUrl=self.stack.arrivals_url, AttributeNames=names
        )["Attributes"][names[0]]):  # fmt: skip
            self.stack.deliver()

    def _wait(self) -> None:
        """Five minutes pass."""
        self._patch.setattr(closing, "DELETIONS_SECONDS", 0)

    def resume(self) -> None:
        """Do as `bucketsum verify resume`, unless there is a report."""
        first, *_ = self.runs.members(RUN)
        end = self.records.closing(RUN)
        if not (end and end.delivered_at):
            self.runs.record(replace(first, status=BackfillStatus.RUNNING, ended_at=None,
                                     failure=None, executions=first.executions + 1))  # fmt: skip

    def report(self) -> dict[str, Any]:
        """The only report, which is the file too."""
        [chained] = self.records.reports()
        assert isinstance(chained, ChainedReport)
        key = f"stack/{RUN}/report.json"
        file = self.stack.s3.get_object(Bucket="reports", Key=key)["Body"].read()
        assert file.decode() == chained.document
        document: dict[str, Any] = json.loads(chained.document)
        return document

    def findings(self) -> set[tuple[str, str]]:
        """Kind and key of each finding of the run."""
        return {(finding.kind, finding.key) for finding in self.records.findings(RUN)}  # type: ignore[union-attr]


def balance_of(document: dict[str, Any]) -> dict[str, int]:
    """Standing, rule and storage class → rows, of all buckets."""
    rows: Counter[str] = Counter()
    for bucket in document["buckets"]:
        for line in bucket["balance"]:
            rule = f" ({line['rule']})" if line["rule"] else ""
            name = line["storage_class"]
            rows[f"{line['standing']}{rule}" + (f", {name}" if name else "")] += line["rows"]
    return dict(rows)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """S3 denies one of its objects."""
    call: Callable[..., Any] = vars(BaseClient)["_make_api_call"]

    def refusing(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - as botocore's
        if operation == "GetObject" and request["Key"] == "denied":
            error: Any = {"Error": {"Code": "AccessDenied", "Message": "Access Denied"},
                          "ResponseMetadata": {"HTTPStatusCode": 403}}  # fmt: skip
            raise ClientError(error, operation)
        return call(client, operation, request)

    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        deployed = World(HasherStack(patch), patch)
        patch.setattr(BaseClient, "_make_api_call", refusing)
        yield deployed


def buckets_for(state: str) -> tuple[str, ...]:
    """Buckets whose run comes to *state*: one that does not exist makes it fail."""
    return (BUCKET, SECOND, GONE) if state in AFTER_A_FAILURE else (BUCKET, SECOND)


def kills(world: World, state: str) -> Iterator[None]:
    """Kill an execution after *state*: at each visit if it is a task, else at the first."""
    for visit in count(1):
        world.begin(*buckets_for(state))
        visited = world.execute(state, visit)
        if visited[-1] != state or visited.count(state) < visit:
            assert visit > 1, f"no run comes to {state}"
            return
        yield
        if STATES[state] != "Task":
            return


@pytest.mark.parametrize("state", STATES)
def test_a_run_that_is_killed_after_a_state_has_the_same_report(world: World, state: str) -> None:
    """The next execution goes on where it was; each row is counted once."""
    for _ in kills(world, state):
        world.resume()
        world.execute()
        document = world.report()
        assert balance_of(document) == BALANCE
        assert world.findings() == FINDINGS
        assert [bucket["state"] for bucket in document["buckets"]][:2] == ["done", "done"]


def leave_as_an_earlier_release(world: World) -> None:
    """Take away what this release adds to the table of runs."""
    dynamodb = world.stack.dynamodb
    for item in dynamodb.scan(TableName="backfills")["Items"]:
        key = {name: item[name] for name in ("backfill", "item")}
        if "#listed#" in item["backfill"]["S"]:
            dynamodb.delete_item(TableName="backfills", Key=key)
        for name in ("shares", "accounted", "accounted_at"):
            item.pop(name, None)
        if "#listed#" not in item["backfill"]["S"]:
            dynamodb.put_item(TableName="backfills", Item=item)


@pytest.mark.parametrize("state", ["WorkOnParts", "GiveUp"])
def test_an_upgrade_in_the_middle_of_a_run_leaves_no_row_out(world: World, state: str) -> None:
    """Without the listing, a young row is not asked about; each row is counted once."""
    for _ in kills(world, state):
        leave_as_an_earlier_release(world)
        world.resume()
        world.execute()
        rows = Counter[str]()
        for name, number in balance_of(world.report()).items():
            rows[name.partition(",")[0]] += number
        assert rows["lost"] in (1, 2)
        rows["not selected (age)"] += rows["lost"] - 2
        rows["lost"] = 2
        expected = {name.partition(",")[0]: number for name, number in BALANCE.items()}
        assert rows == expected


@pytest.mark.parametrize("action", ["enqueue", "settle", "account", "report"])
def test_a_run_whose_execution_failed_has_the_same_balance(world: World, action: str) -> None:
    """Its own report, once it is resumed; else that of the next run, and the first says why."""
    world.begin(BUCKET, SECOND)
    world.failing = action
    with suppress(InterruptedError, UnknownBackfill):
        world.execute()
    world.failing = ""
    if action in ("enqueue", "settle"):
        states = {bucket["state"] for bucket in world.report()["buckets"]}
        assert states == {"failed"}
        world.begin(BUCKET, SECOND)
    world.resume()
    world.execute()
    assert balance_of(world.report()) == BALANCE

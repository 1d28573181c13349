"""A run of verifications from its first state to its report, killed after each of the states.

A run is taken to its end once, and what there is after each state is kept: from each of these
moments, another execution goes on.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import Any, Final

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.sqs.models import sqs_backends
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.test_roles import deleted
from tests.support.events import BUCKET, message_of
from tests.support.lambda_invocation import Context, loaded
from tests.support.moto_state import restore, saved
from tests.support.sam_template import create_table
from tests.support.state_machine import DEFINITION, Execution, types_of

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


@dataclass(frozen=True)
class Moment:
    """The state of it all at a moment.

    Attributes:
        items: Those of both tables.
        messages: Those of the queue.
        files: Those of the report bucket.
        deletions_seconds: How long a deletion may take by now.
        state: That of moto's tables and queues.
    """

    items: list[list[Any]]
    messages: list[str]
    files: dict[str, bytes]
    deletions_seconds: int
    state: bytes = field(compare=False)


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
        for key, sha1 in ("rotten", "0" * 40), ("mended", hashlib.sha1(b"good").hexdigest()):
            stack.change_row(key, {"sha1": {"S": sha1}}, versions[key].version_id)
        self._put("mended", b"good")
        for key in ("young", "young, lost"):
            stack.change_row(key, {"recorded_at": {"S": YOUNG}}, versions[key].version_id)
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
        self._beginning = self.now()

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

    def now(self) -> Moment:
        """The present state of it all."""
        queue = sqs_backends["123456789012"]["us-east-1"].queues["BackfillQueue"]
        listed = self.stack.s3.list_objects_v2(Bucket="reports").get("Contents", [])
        return Moment(
            [self.stack.dynamodb.scan(TableName=table)["Items"] for table in TABLES],
            [message.body for message in queue.messages],
            {file["Key"]: self._report(file["Key"]) for file in listed},
            closing.DELETIONS_SECONDS,
            saved("dynamodb", "sqs"),
        )

    def restore(self, moment: Moment) -> None:
        """Let there be what there was at *moment*."""
        restore(moment.state)
        for key, content in moment.files.items():
            self.stack.s3.put_object(Bucket="reports", Key=key, Body=content)
        self._patch.setattr(closing, "DELETIONS_SECONDS", moment.deletions_seconds)

    def _report(self, key: str) -> bytes:
        return self.stack.s3.get_object(Bucket="reports", Key=key)["Body"].read()

    def begin(self, *buckets: str) -> None:
        """Record a run of *buckets*, and let all else be as it was."""
        self.restore(self._beginning)
        for number, bucket in enumerate(buckets):
            self.runs.record(Backfill(
                f"{RUN}-{number}", bucket, BackfillStatus.RUNNING, rest.days_ago(0), run=RUN,
                all_versions=True, purpose=Purpose.VERIFY, older_than=DUE,
                storage_classes=("STANDARD", "GLACIER"),
            ))  # fmt: skip

    def execute(self, after: Callable[[str], None] = lambda _: None) -> None:
        """Run an execution."""
        Execution(self._invoke, self._wait, after).run({"backfill_id": RUN})

    def _invoke(self, event: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        if event["action"] == self.failing:
            raise InterruptedError
        if event["action"] == "settle":
            self._read()
        return self._enqueuer.lambda_handler(event, Context())

    def _read(self) -> None:
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
        assert self._report(f"stack/{RUN}/report.json").decode() == chained.document
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


class Kills:
    """The moments of whole runs, and how the next execution ends that begins with one of them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._ends: dict[int, tuple[dict[str, int], set[tuple[str, str]], list[str]]] = {}

    @cache  # noqa: B019 - of a fixture, which ends with the module
    def moments(self, buckets: tuple[str, ...]) -> dict[str, list[Moment]]:
        """State → what there is after its visits; those of which it is the same are one."""
        world, moments = self.world, defaultdict[str, list[Moment]](list)
        world.begin(*buckets)
        last = [world.now()]

        def keep(state: str) -> None:
            if (moment := world.now()) != last[-1]:
                last.append(moment)
            moments[state].append(last[-1])

        world.execute(keep)
        return moments

    def after(self, state: str) -> list[Moment]:
        """The moments after the visits of *state*."""
        return self.moments(buckets_for(state))[state]

    def end_of(self, moment: Moment) -> tuple[dict[str, int], set[tuple[str, str]], list[str]]:
        """The balance, the findings, and how the buckets ended."""
        if id(moment) not in self._ends:
            self.world.restore(moment)
            self.world.resume()
            self.world.execute()
            document = self.world.report()
            states = [bucket["state"] for bucket in document["buckets"]]
            self._ends[id(moment)] = balance_of(document), self.world.findings(), states[:2]
        return self._ends[id(moment)]


@pytest.fixture(scope="module")
def kills(world: World) -> Kills:
    """An execution may be killed after each of its states."""
    return Kills(world)


@pytest.mark.parametrize("state", STATES)
def test_a_run_that_is_killed_after_a_state_has_the_same_report(kills: Kills, state: str) -> None:
    """The next execution goes on where it was; each row is counted once."""
    moments = kills.after(state)
    assert moments, f"no run comes to {state}"
    for moment in moments:
        assert kills.end_of(moment) == (BALANCE, FINDINGS, ["done", "done"])


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
def test_an_upgrade_in_the_middle_of_a_run_leaves_no_row_out(
    world: World, kills: Kills, state: str
) -> None:
    """Without the listing, a young row is not asked about; each row is counted once."""
    for moment in kills.after(state):
        world.restore(moment)
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

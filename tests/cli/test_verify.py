"""`bucketsum verify`: its filters, its runs, and those that the schedule starts."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import pytest
from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError
from tests.cli.aws_calls import EXECUTED, answered, change_calls
from tests.cli.deployed import BUCKET, put_object
from tests.support.sam_template import load_template

from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.table import BackfillsTable
from bucketsum.backfill.verifications import start_scheduled
from bucketsum.clock import now
from bucketsum.hashing.job import Purpose
from bucketsum_cli.backfill import backfills

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Run

    from bucketsum_cli.aws.stack import Stack

OTHER: Final = "attached-bucket"
EVENT: Final = {
    "action": "verify",
    "scheduled_at": "2026-11-26T03:00:00Z",
    "state_machine_arn": "arn:machine",
    "attached_stack": "bucketsum-attached",
    "bucket": BUCKET,
    "older_than_days": 80,
    "storage_classes": "STANDARD",
}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> BackfillsTable:
    """The table of backfills; Step Functions starts and stops whatever it is told."""
    change_calls(monkeypatch, answered(EXECUTED))
    return BackfillsTable(stack.client("dynamodb"), stack.outputs["BackfillsTableName"])


def test_its_options_are_in_its_record(run: Run, table: BackfillsTable) -> None:
    """The state machine reads the record alone; `verify show` says what was asked for."""
    name = run(
        "verify", BUCKET, "--prefix", "a/", "--older-than", "90d", "--missing", "sha256",
        "--sample", "1.5%", "--storage-class", "STANDARD", "--storage-class", "STANDARD_IA",
        "--yes", "--json",
    ).document["backfill"]  # fmt: skip
    recorded = table.backfill(name)
    assert recorded is not None
    assert recorded.older_than is not None
    assert recorded == Backfill(
        backfill_id=name,
        bucket=BUCKET,
        status=BackfillStatus.RUNNING,
        started_at=recorded.started_at,
        prefix="a/",
        all_versions=True,
        purpose=Purpose.VERIFY,
        older_than=recorded.older_than,
        missing="sha256",
        sample=0.015,
        storage_classes=("STANDARD", "STANDARD_IA"),
    )
    shown = run("verify", "show", "last", "--json").document
    assert (shown["purpose"], shown["missing"], shown["sample"]) == ("verify", "sha256", 0.015)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--older-than", "90"), "not an age such as 90d"),
        (("--older-than", "99999w"), "not an age"),
        (("--sample", "0%"), "not a share"),
        (("--sample", "101%"), "not a share"),
        (("--sample", "1"), "not a share"),
        (("--missing", "sha3"), "sha3"),
        (("--missing", "md5"), "deploy it with ExtraAlgorithms=sha256,md5"),
        (("--missing", "members"), "deploy it with ArchiveSuffixes=.zip"),
    ],
)
def test_what_it_cannot_do_is_refused(
    run: Run, table: BackfillsTable, options: tuple[str, ...], reason: str
) -> None:
    """The text says what was got and what is allowed; nothing is started."""
    ended = run("verify", BUCKET, *options, "--yes")
    assert ended.status == 2
    assert reason in " ".join(ended.err.split())
    assert not list(table.backfills())


def test_only_the_wanted_storage_classes_are_counted(
    run: Run, stack: Stack, table: BackfillsTable
) -> None:
    """The estimate is about the objects that will be read."""
    assert not list(table.backfills())
    put_object(stack, "a", b"four")
    stack.client("s3").put_object(Bucket=BUCKET, Key="b", Body=b"b", StorageClass="STANDARD_IA")
    shown = run("verify", BUCKET, "--storage-class", "STANDARD", "--dry-run").out
    assert "1 object, 4 B" in shown
    assert "left out: 1 in other storage classes" in shown


def test_a_bucket_has_one_verification_at_a_time(run: Run, table: BackfillsTable) -> None:
    """A second is refused with the name of the first, until that was stopped."""
    first = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    refused = run("verify", BUCKET, "--yes")
    assert refused.status == 2
    assert f"verify stop {first}" in " ".join(refused.err.split())
    assert run("verify", "stop", first).status == 0
    assert run("verify", BUCKET, "--yes").status == 0
    assert len(list(table.backfills())) == 2


def test_a_verification_at_rest_refuses_no_other(
    run: Run, stack: Stack, table: BackfillsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a queue is empty, what was not counted never will be; one with messages is waited for."""
    monkeypatch.setattr(backfills, "_QUIET_SECONDS", 0)
    first = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    table.record_plan(first, [Part(0, objects=2, object_hashes=5, done=True)])
    assert table.end(first, BackfillStatus.QUEUED, now())
    sqs, url = stack.client("sqs"), stack.outputs["BackfillQueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="of a verification")
    refused = run("verify", BUCKET, "--yes")
    assert refused.status == 2
    assert f"verify show {first}" in " ".join(refused.err.split())
    assert run("verify", "stop", first).status == 2
    sqs.purge_queue(QueueUrl=url)
    assert run("verify", "show", first, "--json").document["state"] == "incomplete"
    assert run("verify", BUCKET, "--yes").status == 0


def test_backfills_and_verifications_are_apart(run: Run, table: BackfillsTable) -> None:
    """Each command lists, shows and stops its own runs; a backfill never waits for the other."""
    check = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    backfill = run("backfill", BUCKET, "--yes", "--json").document["backfill"]
    for command, own, foreign in (("verify", check, backfill), ("backfill", backfill, check)):
        [listed] = run(command, "list", "--json").document
        assert listed["backfill"] == own
        assert run(command, "show", "last", "--json").document["backfill"] == own
        refused = run(command, "show", foreign)
        assert refused.status == 2
        assert f"`bucketsum {command} list` shows all" in " ".join(refused.err.split())
    assert len(list(table.backfills())) == 2


@pytest.mark.usefixtures("table")
def test_commands_in_messages_have_the_region_that_was_named(run: Run) -> None:
    """A person copies them from the message, and the same stack is asked again."""
    given = ("--region", "us-east-1")
    assert "`bucketsum verify BUCKET --region us-east-1`" in run("verify", "list", *given).err
    started = run("verify", BUCKET, "--yes", *given).out
    assert f"`bucketsum verify show {started.split()[1].rstrip(';')} --region us-east-1`" in started
    stopped = run("verify", "stop", "last", *given).out
    assert "--region us-east-1`" in stopped
    assert "`bucketsum verify list --region us-east-1`" in run("verify", "show", "none", *given).err


def test_an_object_that_differs_is_an_exit_status(run: Run, table: BackfillsTable) -> None:
    """`verify show` exits with 1 and says where its name is."""
    name = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    table.count(name, Tally(verified=2, verified_bytes=2_000_000, differs=1, unreadable=1))
    shown = run("verify", "show", name)
    assert shown.status == 1
    assert "checked  3: verified 2 (2.0 MB), differs 1" in shown.out
    assert "`bucketsum show KEY --bucket inbox` has both digests" in " ".join(shown.out.split())
    assert f"unreadable: `bucketsum coverage {BUCKET}` shows the reasons" in shown.out
    document = run("verify", "show", name, "--json").document
    assert (document["verified_objects"], document["differing_objects"]) == (2, 1)


class States:
    """Keeps the executions that are started."""

    exceptions: Any = SimpleNamespace(ExecutionAlreadyExists=KeyError)

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []

    def start_execution(self, **request: Any) -> None:  # noqa: ANN401 - botocore's
        """Take a request; a name is used once."""
        if request in self.started:
            raise KeyError
        self.started.append(request)


def attached(template: dict[str, Any] | None) -> Any:  # noqa: ANN401 - a client
    """CloudFormation with the stack of attached buckets, or without."""

    def get_template(StackName: str) -> dict[str, Any]:  # noqa: N803 - botocore's
        assert StackName == "bucketsum-attached"
        if template is None:
            missing: Any = {"Error": {"Code": "ValidationError", "Message": "does not exist"}}
            raise ClientError(missing, "GetTemplate")
        return {"TemplateBody": template}

    return SimpleNamespace(get_template=get_template)


@pytest.fixture
def scheduled(table: BackfillsTable) -> Callable[..., tuple[list[str], States]]:
    """Ids of the verifications that the schedule starts, and requests to Step Functions."""
    states: Any = States()

    def start(event: dict[str, Any], buckets: tuple[str, ...]) -> tuple[list[str], States]:
        template = {"Metadata": {"bucketsum": [{"name": name} for name in buckets]}}
        client = attached(template if buckets else None)
        return start_scheduled(event, table, client, states, Logger(service="test")), states

    return start


def test_the_schedule_verifies_every_bucket_once(
    scheduled: Callable[..., tuple[list[str], States]], table: BackfillsTable
) -> None:
    """The stack's own and the attached ones; the same event twice starts nothing twice."""
    ids, states = scheduled(EVENT, (OTHER,))
    assert scheduled(EVENT, (OTHER,))[0] == ids
    records = [table.backfill(name) for name in ids]
    assert [record.bucket for record in records if record] == [BUCKET, OTHER]
    for record, request in zip(records, states.started, strict=True):
        assert record is not None
        assert (record.purpose, record.storage_classes) == (Purpose.VERIFY, ("STANDARD",))
        assert record.older_than == "2026-09-07T03:00:00.000Z"
        assert request["name"] == record.execution_name
        assert json.loads(request["input"]) == {"backfill_id": record.backfill_id}


def test_the_schedule_leaves_out_a_bucket_that_is_being_verified(
    scheduled: Callable[..., tuple[list[str], States]], table: BackfillsTable
) -> None:
    """The others are started; after the last message can be left, the bucket has its turn."""
    [running], _ = scheduled(EVENT, ())
    later = EVENT | {"scheduled_at": "2027-02-24T03:00:00Z"}
    [other], _ = scheduled(later, (OTHER,))
    assert other.startswith("20270224T030000-")
    table.end(running, BackfillStatus.QUEUED, "2026-11-01T00:00:00.000Z")
    record = table.backfill(running)
    assert record is not None
    table.record(replace(record, ended_at="2026-01-01T00:00:00.000Z"))
    assert len(scheduled(later | {"scheduled_at": "2027-03-24T03:00:00Z"}, ())[0]) == 1


def test_the_schedules_input_is_what_the_enqueuer_reads() -> None:
    """Template and function agree on the names."""
    [text, _] = load_template()["Resources"]["VerificationSchedule"]["Properties"]["Target"][
        "Input"
    ]["Fn::Sub"]
    given = text.replace("${VerifyOlderThanDays}", "80")
    assert json.loads(given).keys() == EVENT.keys()

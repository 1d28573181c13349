"""`bucketsum verify`: its filters, its runs, and those that the schedule starts."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pytest
from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError
from tests.cli.aws_calls import EXECUTED, answered, change_calls, refusal
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, put_object
from tests.support.sam_template import load_template

from bucketsum.backfill import rest
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus, Part, Tally
from bucketsum.backfill.counts import key_of
from bucketsum.backfill.evidence_records import Closing
from bucketsum.backfill.overdue import overdue
from bucketsum.backfill.table import BackfillsTable
from bucketsum.backfill.verifications import Scheduled
from bucketsum.clock import now
from bucketsum.hashing.ending import Purpose
from bucketsum.prices import STORED_BYTE_MONTH
from bucketsum_cli.aws.stack import Stack

OTHER: Final = "attached-bucket"
MACHINE: Final = "arn:machine"
EVENT: Final = {
    "action": "verify",
    "scheduled_at": "2026-11-26T03:00:00Z",
    "state_machine_arn": MACHINE,
    "attached_stack": "bucketsum-attached",
    "bucket": BUCKET,
    "older_than_days": 80,
    "storage_classes": "STANDARD",
}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> BackfillsTable:
    """The table of backfills; Step Functions starts and stops whatever it is told."""
    change_calls(monkeypatch, answered(EXECUTED))
    put_object(stack, "a/there", b"four")
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
        started_by="arn:aws:sts::123456789012:user/moto",
        prefix="a/",
        all_versions=True,
        purpose=Purpose.VERIFY,
        older_than=recorded.older_than,
        missing="sha256",
        sample=0.015,
        storage_classes=("STANDARD", "STANDARD_IA"),
    )
    shown = run("verify", "show", "last", "--json").document["record"]
    assert (shown["purpose"], shown["missing"], shown["sample"]) == ("verify", "sha256", 0.015)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--prefix", "no-such/", "--wait"), "no key in inbox begins with no-such/"),
        (("--storage-class", "GLACIR"), "'GLACIR' is not one of 'STANDARD', "),
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
    run("verify", BUCKET, *options, "--yes").assert_refused(reason)
    assert not list(table.backfills())


def test_only_the_wanted_storage_classes_are_counted(
    run: Run, stack: Stack, table: BackfillsTable
) -> None:
    """The estimate is about the objects that will be read."""
    assert not list(table.backfills())
    stack.client("s3").put_object(Bucket=BUCKET, Key="b", Body=b"b", StorageClass="STANDARD_IA")
    shown = run("verify", BUCKET, "--storage-class", "STANDARD", "--dry-run").out
    assert "1 object, 4 B" in shown
    assert "left out: 1 in other storage classes" in shown


def test_the_schedule_takes_the_classes_that_the_command_takes() -> None:
    """A misspelt class would verify nothing for years."""
    parameter = load_template()["Parameters"]["VerifyStorageClasses"]
    allowed = re.compile(parameter["AllowedPattern"]).search
    for names in ("", *STORED_BYTE_MONTH, ",".join(STORED_BYTE_MONTH)):
        assert allowed(names), names
    for names in (
        "GLACIR",
        "STANDARD,",
        "STANDARD,GLACIR",
        ",STANDARD",
        "standard",
        "STANDARD_IAX",
    ):
        assert not allowed(names), names


def test_a_bucket_has_one_verification_at_a_time(run: Run, table: BackfillsTable) -> None:
    """A second is refused with the name of the first, until that was stopped."""
    first = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    run("verify", BUCKET, "--yes").assert_refused(f"verify stop {first}")
    assert run("verify", "stop", first).status == 0
    assert run("verify", BUCKET, "--yes").status == 0
    assert len(list(table.backfills())) == 2


def test_a_verification_at_rest_refuses_no_other(
    run: Run, stack: Stack, table: BackfillsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a queue is empty, what was not counted never will be; one with messages is waited for."""
    monkeypatch.setattr(rest, "QUIET_SECONDS", 0)
    first = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    table.record_plan(first, [Part(0, objects=2, object_hashes=5, done=True)])
    assert table.end(first, BackfillStatus.QUEUED, now())
    sqs, url = stack.client("sqs"), stack.outputs["BackfillQueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="of a verification")
    run("verify", BUCKET, "--yes").assert_refused(f"verify show {first}")
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
        run(command, "show", foreign).assert_refused(f"`bucketsum {command} list` shows all")
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
    shown = run("verify", "show", name).assert_no()
    assert "verified 2 (2.0 MB), differs 1" in shown.out
    assert "`bucketsum repair KEY --bucket inbox` restores one" in " ".join(shown.out.split())
    assert f"unreadable: `bucketsum coverage {BUCKET}` shows the reasons" in shown.out
    document = run("verify", "show", name, "--json").document
    assert (document["tally"]["verified"], document["tally"]["differs"]) == (2, 1)


class States:
    """Keeps the executions that are started, and says how they are.

    Attributes:
        started: Requests.
        statuses: Name → status of the executions that are not running; None if it is not known.
        refused: Whether no execution can be started.
    """

    exceptions: Any = SimpleNamespace(ExecutionAlreadyExists=KeyError)

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.statuses: dict[str, str | None] = {}
        self.refused = False

    def start_execution(self, **request: Any) -> None:  # noqa: ANN401 - botocore's
        """Take a request; a name is used once."""
        if self.refused:
            raise refusal("StartExecution")
        if request in self.started:
            raise KeyError
        self.started.append(request)

    def describe_execution(self, executionArn: str) -> dict[str, str]:  # noqa: N803 - botocore's
        """The status of an execution."""
        status = self.statuses.get(executionArn.rpartition(":")[2], "RUNNING")
        if status is None:
            raise refusal("DescribeExecution", "ExecutionDoesNotExist")
        return {"status": status}


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
def states() -> States:
    """Step Functions, as the schedule's function sees it."""
    return States()


@pytest.fixture
def schedule(table: BackfillsTable, stack: Stack, states: States) -> Callable[..., Scheduled]:
    """The schedule of a stack, by its attached buckets."""
    url = stack.outputs["BackfillQueueUrl"]
    work = rest.OpenWork(stack.client("sqs"), url, stack.progress_table())
    client: Any = states

    def scheduled(*buckets: str) -> Scheduled:
        template = {"Metadata": {"bucketsum": [{"name": name} for name in buckets]}}
        cloudformation = attached(template if buckets else None)
        return Scheduled(table, work, cloudformation, client, Logger(service="test"))

    return scheduled


@pytest.fixture
def scheduled(schedule: Callable[..., Scheduled]) -> Callable[..., list[str]]:
    """Ids of the verifications that the schedule starts."""
    return lambda event, buckets: schedule(*buckets).start(event)[0]


LATER: Final = EVENT | {"scheduled_at": "2027-02-24T03:00:00Z"}


def test_the_schedule_starts_one_execution_for_all_buckets(
    scheduled: Callable[..., list[str]], states: States, table: BackfillsTable
) -> None:
    """The stack's own and the attached ones; the same event twice starts nothing twice."""
    ids = scheduled(EVENT, (OTHER,))
    assert scheduled(EVENT, (OTHER,)) == ids
    members = table.members("20261126T030000")
    assert sorted(ids) == [member.backfill_id for member in members]
    assert {member.bucket for member in members} == {BUCKET, OTHER}
    for member in members:
        assert (member.purpose, member.storage_classes) == (Purpose.VERIFY, ("STANDARD",))
        assert (member.older_than, member.started_by) == ("2026-09-07T03:00:00.000Z", "schedule")
        assert member.execution_name == "20261126T030000-1"
    [request] = states.started
    assert request["name"] == "20261126T030000-1"
    assert json.loads(request["input"]) == {"backfill_id": "20261126T030000"}


def test_a_time_that_the_schedule_did_not_fill_in_is_now(
    scheduled: Callable[..., list[str]], table: BackfillsTable
) -> None:
    """The local emulator passes the placeholder on as it stands."""
    [started] = scheduled(EVENT | {"scheduled_at": "<aws.scheduler.scheduled-time>"}, ())
    record = table.backfill(started)
    assert record is not None
    assert started[:8] == now()[:10].replace("-", "")


def test_a_bucket_that_is_being_verified_is_left_out(
    scheduled: Callable[..., list[str]], states: States, table: BackfillsTable
) -> None:
    """The others are started; the record of the bucket that was left out says so."""
    [running] = scheduled(EVENT, ())
    [other] = scheduled(LATER, (OTHER,))
    record = table.backfill(other)
    assert record is not None
    assert record.bucket == OTHER
    [left_out] = [member for member in table.members("20270224T030000") if member.bucket == BUCKET]
    assert left_out.status is BackfillStatus.STOPPED
    assert left_out.failure == f"{running} was verifying the bucket"
    states.statuses["20261126T030000-1"] = "SUCCEEDED"
    assert len(scheduled(LATER | {"scheduled_at": "2027-03-24T03:00:00Z"}, ())) == 1


@pytest.mark.parametrize("status", ["FAILED", "ABORTED", "TIMED_OUT", None])
def test_a_verification_whose_execution_is_over_delays_no_other(
    scheduled: Callable[..., list[str]], states: States, table: BackfillsTable, status: str | None
) -> None:
    """Its record says how it ended; after 90 days Step Functions has forgotten it."""
    [dead] = scheduled(EVENT, ())
    record = table.backfill(dead)
    assert record is not None
    table.record(replace(record, started_at="2026-11-26T03:00:00.000Z"))
    states.statuses["20261126T030000-1"] = status
    assert len(scheduled(LATER, ())) == 1
    ended = table.backfill(dead)
    assert ended is not None
    assert ended.status is BackfillStatus.FAILED
    assert (ended.failure or "").startswith("its execution is ")


@pytest.mark.parametrize(
    ("facts", "status", "is_failed"),
    [
        ({}, "ABORTED", True),
        ({}, "RUNNING", False),
        ({}, None, False),  # Step Functions may not know it yet
        ({"started_at": rest.days_ago(2)}, None, True),
        ({"status": BackfillStatus.QUEUED, "rested_at": now()}, "FAILED", True),
        ({"status": BackfillStatus.QUEUED, "rested_at": now()}, "SUCCEEDED", False),
        ({"status": BackfillStatus.QUEUED, "rested_at": now(), "started_at": rest.days_ago(2)},
         None, False),
        ({"status": BackfillStatus.STOPPED}, "ABORTED", False),
        ({"purpose": Purpose.RECORD}, "ABORTED", False),
    ],
)  # fmt: skip
def test_an_execution_that_ended_early_is_overdue(
    schedule: Callable[..., Scheduled], states: States, stack: Stack, facts: dict[str, Any],
    status: str | None, *, is_failed: bool,
) -> None:  # fmt: skip
    """Somebody aborted it, or its report could not be made: nobody else would say so."""
    table, records = stack.runs_table(), stack.evidence_table()
    [name] = schedule().start(EVENT)[0]
    recorded = table.backfill(name)
    assert recorded
    table.record(replace(recorded, **facts))
    states.statuses["20261126T030000-1"] = status
    runs = [run for run in table.backfills() if isinstance(run, Backfill)]
    [run] = schedule().followed(runs, MACHINE, records)
    assert run == table.backfill(name)
    assert (run.status is BackfillStatus.FAILED) == is_failed
    late = overdue([BUCKET], [run], "rate(90 days)", 80, {BUCKET: now()})
    assert ("its execution is" in late.get(BUCKET, "")) == is_failed


def test_a_run_that_was_reported_or_resumed_did_not_end_early(
    schedule: Callable[..., Scheduled], states: States, stack: Stack
) -> None:
    """Its latest execution counts, for all of its buckets."""
    table, records = stack.runs_table(), stack.evidence_table()
    first, second = schedule(OTHER).start(EVENT)[0]
    resumed = table.backfill(first)
    assert resumed
    table.record(replace(resumed, executions=2))
    states.statuses["20261126T030000-1"] = "ABORTED"

    def failed() -> list[str]:
        runs = [run for run in table.backfills() if isinstance(run, Backfill)]
        return [run.backfill_id for run in schedule().followed(runs, MACHINE, records)
                if run.status is BackfillStatus.FAILED]  # fmt: skip

    assert failed() == []
    states.statuses["20261126T030000-2"] = "ABORTED"
    records.begin_closing("20261126T030000", Closing(1, now(), delivered_at=now()))
    assert failed() == []
    stack.client("dynamodb").delete_item(
        TableName=stack.outputs["BackfillsTableName"], Key=key_of("20261126T030000", "closing")
    )
    records.begin_closing("20261126T030000", Closing(1, now()))
    assert sorted(failed()) == sorted([first, second])


def test_a_start_that_is_refused_is_recorded_and_repeated(
    scheduled: Callable[..., list[str]], states: States, table: BackfillsTable
) -> None:
    """Lambda sends the event again; if it never succeeds, the next event has its turn."""
    states.refused = True
    for _ in range(3):
        with pytest.raises(ClientError):
            scheduled(EVENT, (OTHER,))
    for member in table.members("20261126T030000"):
        assert member.status is BackfillStatus.FAILED
        assert "could not be started" in (member.failure or "")
    states.refused = False
    assert len(scheduled(LATER, (OTHER,))) == 2


def test_one_message_that_was_counted_twice_delays_no_other(
    scheduled: Callable[..., list[str]],
    states: States,
    table: BackfillsTable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its counts never agree; it is over when the queue is empty."""
    monkeypatch.setattr(rest, "QUIET_SECONDS", 0)
    [first] = scheduled(EVENT, ())
    table.record_plan(first, [Part(0, objects=40, object_hashes=5, done=True)])
    table.end(first, BackfillStatus.QUEUED, now())
    table.count(first, Tally(verified=50, object_hashes=9))
    states.statuses["20261126T030000-1"] = "SUCCEEDED"
    assert len(scheduled(LATER, ())) == 1


def test_two_schedules_at_once_verify_a_bucket_once(
    scheduled: Callable[..., list[str]], table: BackfillsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each records first and looks then, so that one of them sees the other and goes."""
    recorded = BackfillsTable.record
    later: list[list[str]] = []

    def record(self: BackfillsTable, backfill: Backfill) -> None:
        recorded(self, backfill)
        monkeypatch.setattr(BackfillsTable, "record", recorded)
        later.append(scheduled(EVENT | {"scheduled_at": "2026-11-26T03:00:01Z"}, ()))

    monkeypatch.setattr(BackfillsTable, "record", record)
    assert len(scheduled(EVENT, ())) == 1
    assert later == [[]]
    assert len(list(table.backfills())) == 2


def test_a_stopped_bucket_leaves_the_execution_of_the_others(
    run: Run, scheduled: Callable[..., list[str]], table: BackfillsTable
) -> None:
    """And a resumed one has its turn in the same execution, or in a new one with all others."""
    first, _ = sorted(scheduled(EVENT, (OTHER,)))
    assert run("verify", "stop", first).status == 0
    assert run("verify", "resume", first).status == 0
    members = table.members("20261126T030000")
    assert [(member.status, member.executions) for member in members] == [
        (BackfillStatus.RUNNING, 1)
    ] * 2


def test_the_schedules_input_is_what_the_enqueuer_reads() -> None:
    """Template and function agree on the names."""
    resources = load_template()["Resources"]
    text = resources["OverdueSchedule"]["Properties"]["Target"]["Input"]["Fn::Sub"]
    given = json.loads(text.replace("${VerifyOlderThanDays}", "80"))
    assert given.keys() == {"action", "state_machine_arn", "schedule", "older_than_days"}
    text = resources["VerificationSchedule"]["Properties"]["Target"]["Input"]["Fn::Sub"]
    given = json.loads(text.replace("${VerifyOlderThanDays}", "80"))
    assert given.keys() | {"bucket", "attached_stack"} == EVENT.keys()  # these it knows itself


def test_an_execution_that_an_upgrade_ended_is_resumed(
    run: Run, table: BackfillsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replaced state machine forgets its executions; the record still says `running`."""
    name = run("verify", BUCKET, "--yes", "--json").document["backfill"]
    gone = refusal("DescribeExecution", "ExecutionDoesNotExist")
    change_calls(monkeypatch, answered({**EXECUTED, "DescribeExecution": gone}))
    assert run("verify", "show", name).status == 0
    recorded = table.backfill(name)
    assert recorded
    table.record(replace(recorded, started_at="2026-11-01T10:00:00.000Z"))
    shown = run("verify", "show", name)
    assert (shown.status, "verify resume" in " ".join(shown.out.split())) == (1, True)
    assert run("verify", "resume", name).status == 0


def test_a_run_has_one_execution_at_a_time(
    run: Run, table: BackfillsTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket that is queued does not begin another beside the one of its run."""
    first, second = (
        Backfill(f"20261126T030000-{name}", bucket, status, now(), run="20261126T030000",
                 purpose=Purpose.VERIFY, executions=executions)
        for name, bucket, status, executions in (
            ("aaaaaa", BUCKET, BackfillStatus.RUNNING, 2),
            ("bbbbbb", OTHER, BackfillStatus.QUEUED, 1),
        )
    )  # fmt: skip
    table.record(first)
    table.record(second)

    def described(request: dict[str, Any]) -> dict[str, Any]:
        is_newest = request["executionArn"].endswith("-2")
        return {**EXECUTED["DescribeExecution"], "status": "RUNNING" if is_newest else "ABORTED"}

    change_calls(monkeypatch, answered({**EXECUTED, "DescribeExecution": described}))
    run("verify", "resume", second.backfill_id).assert_refused("are queued already")

"""`bucketsum buckets`, and the option --bucket of other commands."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from mypy_boto3_s3 import S3Client
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record, unreadable
from tests.cli.serving_stack import INBOX, NAME, PHOTOS
from tests.support.moto_state import set_up
from tests.support.sam_template import load_template

from bucketsum.table.rows import RowKey
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.queue_notification import EVENTS

INBOX_ARN, PHOTOS_ARN = f"arn:aws:s3:::{INBOX}", f"arn:aws:s3:::{PHOTOS}"


pytestmark = [
    pytest.mark.filterwarnings("ignore:Tried to parse AWS..CloudWatch..Alarm"),
    pytest.mark.filterwarnings("ignore:Unable to delete Rule0Alarm"),  # moto makes none
]


@pytest.fixture
def serving(s3: S3Client, run: Run) -> Stack:
    """A stack whose own bucket and one attached bucket are complete."""
    set_up(attach, s3, run)
    return Target(NAME).find()


def attach(s3: S3Client, run: Run) -> None:
    """Complete the own bucket, and attach another one."""
    stack = Target(NAME).find()
    entry: Any = {"QueueArn": stack.outputs["ArrivalsQueueArn"], "Events": EVENTS}
    s3.put_bucket_notification_configuration(  # moto ignores this property of a bucket
        Bucket=INBOX, NotificationConfiguration={"QueueConfigurations": [entry]}
    )
    admit(stack, "arn:aws:s3:::*")
    assert run("attach", PHOTOS, "--prefix", "2026/", "--deploy").status == 0


def admit(stack: Stack, *arns: str) -> None:
    """Give the queue the policy of the template: moto's CloudFormation knows no queue policies.

    An organization has added a denial, whose NotPrincipal replaces the principal.
    """
    denial = {"Effect": "Deny", "NotPrincipal": {"AWS": "*"}, "Action": "sqs:DeleteQueue"}
    policy = load_template()["Resources"]["ArrivalsQueuePolicy"]["Properties"]["PolicyDocument"]
    statement = policy["Statement"][0]
    statement["Condition"]["ArnLike"]["aws:SourceArn"] = list(arns)
    statement["Resource"] = stack.outputs["ArrivalsQueueArn"]
    stack.client("sqs").set_queue_attributes(
        QueueUrl=stack.arrivals_queue_url,
        Attributes={"Policy": json.dumps(policy | {"Statement": [denial, statement]})},
    )


def problems(run: Run) -> dict[str, list[str]]:
    """The problems of each bucket; the exit status says whether there are any."""
    ended = run("buckets", "--json")
    assert ended.out, ended.err
    problems_of = {entry["bucket"]: entry["problems"] for entry in ended.document["buckets"]}
    assert ended.status == (1 if any(problems_of.values()) else 0)
    return problems_of


@pytest.mark.usefixtures("serving")
def test_complete_buckets_have_no_problem(run: Run) -> None:
    """Own and attached bucket are listed, each with its route and its keys."""
    assert problems(run) == {INBOX: [], PHOTOS: []}
    lines = run("buckets").out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        [INBOX, "s3", "all", "keys", "complete"],
        [PHOTOS, "s3", "prefix", "2026/", "complete"],
    ]


def test_a_lost_notification_is_a_problem(run: Run, serving: Stack) -> None:
    """Somebody replaced the configuration of the bucket."""
    serving.client("s3").put_bucket_notification_configuration(
        Bucket=PHOTOS, NotificationConfiguration={}
    )
    assert problems(run) == {INBOX: [], PHOTOS: ["no notification of created objects"]}


def test_an_attachment_of_created_objects_alone_is_incomplete(run: Run, serving: Stack) -> None:
    """An older version of `attach`, or of the template, subscribed to fewer events."""
    entry: Any = {
        "QueueArn": serving.outputs["ArrivalsQueueArn"],
        "Events": ["s3:ObjectCreated:*", "s3:ObjectRestore:Completed"],
    }
    for bucket in (INBOX, PHOTOS):
        serving.client("s3").put_bucket_notification_configuration(
            Bucket=bucket, NotificationConfiguration={"QueueConfigurations": [entry]}
        )
    lost = "no notification of s3:ObjectRemoved:*, s3:LifecycleExpiration:*"
    assert problems(run) == {
        INBOX: [f"{lost}: deploy the stack again"],
        PHOTOS: [f"{lost}: attach it again"],
    }


def test_a_lost_queue_policy_is_a_problem(run: Run, serving: Stack) -> None:
    """The queue's policy does not allow the attached bucket."""
    admit(serving, INBOX_ARN)
    assert problems(run) == {INBOX: [], PHOTOS: ["the queue's policy does not allow it"]}


@pytest.mark.usefixtures("serving")
def test_a_lost_permission_is_a_problem(run: Run) -> None:
    """Somebody took the policy of the attached bucket from the role, which reads its own only."""
    take_policy("Hasher")
    first, second = problems(run)[PHOTOS]
    assert first == "the hasher is not allowed to read it"
    assert "lacks a policy of the stack sums-attached: attach it again with --deploy" in second


def take_policy(role: str) -> None:
    """Detach the policies of attached buckets from a role, as another program."""
    iam = boto3.client("iam")
    [name] = [r["RoleName"] for r in iam.list_roles()["Roles"] if f"-{role}Role-" in r["RoleName"]]
    policies = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    for policy in policies:
        if f"/{NAME}-attached-" in policy["PolicyArn"]:
            iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])


def name_another_role() -> None:
    """Leave the permissions as a deployment with other roles wrote them."""
    cloudformation = boto3.client("cloudformation")
    template: Any = cloudformation.get_template(StackName=f"{NAME}-attached")["TemplateBody"]
    boto3.client("iam").create_role(RoleName="earlier", AssumeRolePolicyDocument="{}")
    for resource in template["Resources"].values():
        resource["Properties"]["Roles"] = ["earlier"]
    cloudformation.update_stack(
        StackName=f"{NAME}-attached",
        TemplateBody=json.dumps(template),
        Capabilities=["CAPABILITY_IAM"],
    )


CHANGES: Final = {
    "hasher": partial(take_policy, "Hasher"),
    "slicer": partial(take_policy, "Slicer"),
    "enqueuer": partial(take_policy, "Enqueuer"),
    "deployment": name_another_role,
}


@pytest.mark.usefixtures("serving")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_attach_again_gives_back_what_was_taken(run: Run, change: Callable[[], None]) -> None:
    """The permissions in force are compared, not only the list of the buckets."""
    change()
    assert problems(run)[PHOTOS]
    command = ("attach", PHOTOS, "--prefix", "2026/")
    run(*command).assert_refused("--deploy")
    for expected in (True, False):
        assert run(*command, "--deploy", "--json").document["stack_updated"] is expected
        assert problems(run) == {INBOX: [], PHOTOS: []}


@pytest.mark.usefixtures("serving", "eventbridge_returned")
@pytest.mark.parametrize("operation", ["disable_rule", "remove"])
def test_attach_again_gives_back_a_rule(run: Run, operation: str) -> None:
    """Somebody has disabled or deleted the rule of EventBridge."""
    command = ("attach", PHOTOS, "--via", "eventbridge", "--deploy")
    assert run(*command).status == 0
    events = boto3.client("events")
    if operation == "remove":
        events.remove_targets(Rule=f"{NAME}-attached-0", Ids=["arrivals-queue"])
        events.delete_rule(Name=f"{NAME}-attached-0")
    else:
        events.disable_rule(Name=f"{NAME}-attached-0")
    assert "no enabled rule includes it: attach it again" in problems(run)[PHOTOS]
    assert run(*command).status == 0
    assert "no enabled rule includes it: attach it again" not in problems(run)[PHOTOS]


def test_a_deleted_bucket_is_a_problem(run: Run, serving: Stack) -> None:
    """The parameter names a bucket that no longer exists."""
    serving.client("s3").delete_bucket(Bucket=PHOTOS)
    assert problems(run)[PHOTOS] == ["the bucket does not exist"]


def test_each_part_of_the_path_through_eventbridge_is_checked(run: Run, serving: Stack) -> None:
    """EventBridge is off, the queue does not allow the rule; the rule and the role are there."""
    assert run("attach", PHOTOS, "--via", "eventbridge", "--deploy").status in (0, 2)
    serving.client("s3").put_bucket_notification_configuration(
        Bucket=PHOTOS, NotificationConfiguration={}
    )
    assert problems(run)[PHOTOS] == [
        "EventBridge is off",
        "the queue's policy does not allow the rule",
    ]
    events = boto3.client("events")
    [rule] = events.list_rules()["Rules"]
    older = json.loads(rule["EventPattern"]) | {"detail-type": ["Object Created"]}
    events.put_rule(Name=rule["Name"], EventPattern=json.dumps(older))
    assert "the rule lacks deletions and restores: attach it again" in problems(run)[PHOTOS]
    events.disable_rule(Name=rule["Name"])
    assert "no enabled rule includes it: attach it again" in problems(run)[PHOTOS]


OTHER = "other"


@pytest.fixture
def two_buckets(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """A stack in whose bucket and in another one the same key is recorded with other content."""
    stack.client("s3").create_bucket(Bucket=OTHER)
    stack.client("s3").put_object(Bucket=OTHER, Key="cat", Body=b"theirs")
    stack.digests_table().record(hashed(RowKey(OTHER, "cat", "null"), b"theirs"))
    put_and_record(stack, "cat", b"ours")
    monkeypatch.setenv("COLUMNS", "200")
    return stack


@pytest.mark.usefixtures("two_buckets")
def test_an_option_names_the_bucket(run: Run, tmp_path: Path) -> None:
    """ls, show, find and check look into the bucket that --bucket names, else into the own."""
    (tmp_path / "cat").write_bytes(b"theirs")
    check = ("check", tmp_path / "cat")
    assert (run(*check).status, run(*check, "--bucket", OTHER).status) == (1, 0)
    sizes = [
        run("ls", "--json", *bucket).document[0]["size_bytes"]
        for bucket in ((), ("--bucket", OTHER))
    ]
    assert sizes == [len(b"ours"), len(b"theirs")]
    shown = run("show", "cat", "--json", "--bucket", OTHER)
    assert shown.document["bucket"] == OTHER
    assert run("find", tmp_path / "cat").status == 0
    assert run("find", tmp_path / "cat", "--bucket", BUCKET).status == 1
    assert "`bucketsum buckets`" in shown.err


def test_put_refuses_a_bucket_that_is_not_attached(
    run: Run, two_buckets: Stack, tmp_path: Path
) -> None:
    """Its objects would wait for a digest without end; nothing is uploaded."""
    (tmp_path / "dog").write_bytes(b"dog")
    run("put", tmp_path / "dog", "--bucket", OTHER).assert_refused(f"bucketsum attach {OTHER}")
    listed = two_buckets.client("s3").list_objects_v2(Bucket=OTHER)["Contents"]
    assert [entry["Key"] for entry in listed] == ["cat"]


def test_redrive_queues_a_key_of_the_named_bucket(run: Run, two_buckets: Stack) -> None:
    """--bucket goes with --key only: the dead-letter queue is that of all buckets."""
    two_buckets.digests_table().record(unreadable(RowKey(OTHER, "old", "null"), b"x", "denied"))
    assert run("redrive", "--key", "old").status == 1
    queued = run("redrive", "--key", "old", "--bucket", OTHER, "--json")
    assert [entry["key"] for entry in queued.document["queued"]] == ["old"]
    assert run("redrive", "--yes", "--bucket", OTHER).status == 2


@pytest.mark.usefixtures("serving")
def test_keys_that_are_not_covered_do_not_wait(run: Run, serving: Stack, tmp_path: Path) -> None:
    """`put` refuses a key outside the notified prefix before it sends; `ls` shows such objects."""
    (tmp_path / "cat").write_bytes(b"x")
    put = ("put", tmp_path / "cat", "--bucket", PHOTOS)
    run(*put, "--prefix", "2021/").assert_refused(
        "no digest for 1 of 1, such as 2021/cat", "backfill"
    )
    assert "Contents" not in serving.client("s3").list_objects_v2(Bucket=PHOTOS)
    sent = run(*put, "--prefix", "2021/", "--no-wait")
    assert (sent.status, "no digest for " in sent.err) == (0, True), sent.err
    assert "no digest for " not in run(*put, "--prefix", "2026/", "--no-wait").err
    listed = run("ls", "--bucket", PHOTOS, "--json").document
    assert {entry["key"]: entry["status"] for entry in listed} == {
        "2021/cat": "not covered",
        "2026/cat": "not hashed yet",
    }

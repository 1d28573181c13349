"""`bucketsum delete`: all that the stack created goes, and nothing else."""

import json
import time
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, Final
from unittest.mock import Mock

import boto3
import pytest
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from tests.cli.aws_calls import answered, change_calls, refusal
from tests.cli.conftest import Run

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws import stack_changes
from bucketsum_cli.buckets import bucket_contents, bucket_figures
from bucketsum_cli.terminal.errors import CannotDoError

NAME: Final = "sums"
INBOX: Final = f"{NAME}-123456789012-us-east-1"
QUEUE: Final = f"{NAME}-ArrivalsQueue-A1B2"
FOREIGN: Final = "somebody-elses"
KEYS: Final = 120


def table(key: str) -> dict[str, Any]:
    """The definition of a small table."""
    return {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",  # moto does not know RetainExceptOnCreate
        "Properties": {
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        },
    }


def deploy(existing: str | None = None) -> None:
    """Create a stack with the parts of template.yaml that outlive a deletion."""
    inbox = {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "Properties": {
            "BucketName": INBOX,
            "VersioningConfiguration": {"Status": "Enabled"},
        },
    }
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": QUEUE}}
    resources: dict[str, Any] = {
        "ArrivalsQueue": queue,
        "SweepBucket": {"Type": "AWS::S3::Bucket"},
        "DigestsTable": table("object"),
        "MeasurementsTable": table("run_id"),
    } | ({} if existing else {"InboxBucket": inbox})
    outputs = {
        "BucketName": {"Value": existing or {"Ref": "InboxBucket"}},
        "SweepBucketName": {"Value": {"Ref": "SweepBucket"}},
        "ArrivalsQueueArn": {"Value": {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}},
    }
    boto3.client("cloudformation").create_stack(
        StackName=NAME,
        TemplateBody=json.dumps({"Resources": resources, "Outputs": outputs}),
    )
    if not existing:  # moto ignores these properties
        boto3.client("s3").put_bucket_versioning(
            Bucket=INBOX, VersioningConfiguration={"Status": "Enabled"}
        )
        notify(INBOX, QUEUE)


def notify(bucket: str, *queues: str) -> list[str]:
    """Let *bucket* notify *queues*; their ARNs."""
    sqs = boto3.client("sqs")
    urls = [sqs.get_queue_url(QueueName=queue)["QueueUrl"] for queue in queues]
    arns = [
        sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        for url in urls
    ]
    boto3.client("s3").put_bucket_notification_configuration(
        Bucket=bucket,
        NotificationConfiguration={
            "QueueConfigurations": [
                {"Id": str(number), "QueueArn": arn, "Events": ["s3:ObjectCreated:*"]}
                for number, arn in enumerate(arns)
            ]
        },
    )
    return arns


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An account of moto's; CloudFormation is asked without a pause."""
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0)
    with mock_aws():
        yield


def fill(bucket: str, keys: int = 3) -> None:
    """Put *keys* objects, and delete them, which leaves a version and a marker each."""
    s3 = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]  # past the client, which takes 50 times as long
    for number in range(keys):
        s3.put_object(bucket, f"k{number:05}", b"x")
        s3.delete_object(bucket, f"k{number:05}")


def sweep_bucket() -> str:
    """The name of the bucket that sweeps read."""
    stack = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}[
        "SweepBucketName"
    ]


def buckets() -> set[str]:
    """The names of all buckets of the account."""
    return {bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"]}


def tables() -> list[str]:
    """The names of all tables of the account."""
    return boto3.client("dynamodb").list_tables()["TableNames"]


def test_all_versions_and_markers_go(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, markers and unfinished uploads go, the inbox's only after stack and queue."""
    # more pages than requests at a time; each key on one of them, since moto's are not thread-safe
    monkeypatch.setattr(bucket_contents, "_PAGE", 24)
    deploy()
    fill(INBOX, KEYS)
    s3 = boto3.client("s3")
    s3.create_multipart_upload(Bucket=INBOX, Key="unfinished")
    s3.put_object(Bucket=sweep_bucket(), Key="objects/made", Body=b"x")
    operations = []

    def count(operation: str, _: object) -> None:
        operations.append(operation)

    change_calls(monkeypatch, count)
    ended = run("delete", "--stack", NAME, "--yes", "--json").assert_done()
    assert operations.count("ListStackResources") == 1
    first = operations.index("DeleteStack")
    assert operations.count("DeleteObjects") - operations[:first].count("DeleteObjects") > KEYS / 24
    assert operations[:first].count("DeleteObjects") == 1  # of the sweeps' bucket
    assert buckets() == set()
    assert {b["bucket"]: b["deleted"] for b in ended.document["buckets"]}[INBOX] == 2 * KEYS
    assert f"{INBOX}: {KEYS} object versions" in ended.err
    assert f"{KEYS} delete markers" in ended.err
    assert ended.document["tables_kept"] == tables()
    assert len(tables()) == 2


def test_tables_go_if_asked(run: Run) -> None:
    """With --tables nothing is left."""
    deploy()
    ended = run("delete", "--stack", NAME, "--yes", "--tables")
    assert (ended.status, tables(), buckets()) == (0, [], set())


def test_a_table_that_somebody_protects_is_kept(run: Run) -> None:
    """No parameter protects tables, and `delete --tables` ends no protection; it says how."""
    deploy()
    [table] = [name for name in tables() if "DigestsTable" in name]
    boto3.client("dynamodb").update_table(TableName=table, DeletionProtectionEnabled=True)
    ended = run("delete", "--stack", NAME, "--yes", "--tables")
    ended.assert_refused("--no-deletion-protection-enabled", table)
    assert table in tables()


def test_declining_changes_nothing(run: Run) -> None:
    """The counts come before the question, and a no leaves everything as it is."""
    deploy()
    fill(INBOX)
    ended = run("delete", "--stack", NAME, answer="n\n").assert_no()
    assert ended.err.index("3 object versions") < ended.err.index("[y/N]")
    assert INBOX in buckets()
    assert len(boto3.client("s3").list_object_versions(Bucket=INBOX)["Versions"]) == 3


def test_a_foreign_bucket_keeps_its_objects_and_other_notifications(run: Run) -> None:
    """Only the notification to the stack's own queue is removed from a bucket of somebody else."""
    s3, sqs = boto3.client("s3"), boto3.client("sqs")
    s3.create_bucket(Bucket=FOREIGN)
    s3.put_object(Bucket=FOREIGN, Key="theirs", Body=b"x")
    deploy(existing=FOREIGN)
    sqs.create_queue(QueueName="other")
    arns = notify(FOREIGN, QUEUE, "other")
    ended = run("delete", "--stack", NAME, "--yes").assert_done()
    assert f"{FOREIGN} was not created by the stack: its objects stay" in ended.err
    left = s3.get_bucket_notification_configuration(Bucket=FOREIGN)["QueueConfigurations"]
    assert [entry["QueueArn"] for entry in left] == arns[1:]
    assert s3.head_object(Bucket=FOREIGN, Key="theirs")


def test_an_interrupted_deletion_continues(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped while it empties, or when the stack is gone already, the next call does the rest."""
    deploy()
    fill(INBOX, 5)
    pages = Mock(side_effect=chain([None], repeat(KeyboardInterrupt)))  # from the second on
    with monkeypatch.context() as patch:
        patch.setattr(bucket_contents, "_PAGE", 4)
        change_calls(patch, answered({"DeleteObjects": pages}))
        assert run("delete", "--stack", NAME, "--yes").status == 130
    assert INBOX in buckets()
    boto3.client("cloudformation").delete_stack(StackName=NAME)
    ended = run("delete", "--stack", NAME, "--yes", "--tables").assert_done()
    assert "already deleted" in ended.err
    assert "deleted  stack" not in ended.out
    assert (buckets(), tables()) == (set(), [])
    again = run("delete", "--stack", NAME, "--yes")
    again.assert_refused("knows of nothing that is left")


def test_another_stack_is_refused(run: Run) -> None:
    """A stack that bucketsum's template did not create is not touched."""
    boto3.client("cloudformation").create_stack(
        StackName=NAME,
        TemplateBody=json.dumps({"Resources": {"Precious": {"Type": "AWS::S3::Bucket"}}}),
    )
    run("delete", "--stack", NAME, "--yes").assert_refused(
        "was not created by bucketsum's template.yaml"
    )
    assert len(buckets()) == 1


def test_what_another_deleted_stack_left_is_refused(run: Run) -> None:
    """A stack of that name may have been another program's: its kept bucket is not touched."""
    cloudformation, s3 = boto3.client("cloudformation"), boto3.client("s3")
    precious = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}
    body = json.dumps({"Resources": {"Precious": precious}})
    cloudformation.create_stack(StackName=NAME, TemplateBody=body)
    [bucket] = buckets()
    s3.put_object(Bucket=bucket, Key="theirs", Body=b"x")
    cloudformation.delete_stack(StackName=NAME)
    run("delete", "--stack", NAME, "--yes").assert_refused("was not created by bucketsum's")
    assert s3.head_object(Bucket=bucket, Key="theirs")


def test_an_emulator_that_forgets_resources_tells_them_in_events(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`delete` offers `delete --tables`: that must find the tables."""
    deploy()
    cloudformation = boto3.client("cloudformation")
    listed = cloudformation.list_stack_resources(StackName=NAME)["StackResourceSummaries"]
    events = [{**resource, "ResourceStatus": "DELETE_SKIPPED"} for resource in listed] + [
        {**resource, "ResourceStatus": "CREATE_COMPLETE"} for resource in listed
    ]
    assert run("delete", "--stack", NAME, "--yes").status == 0
    forgotten: dict[str, Any] = {"ListStackResources": {"StackResourceSummaries": []}}
    change_calls(
        monkeypatch, answered({**forgotten, "DescribeStackEvents": {"StackEvents": events}})
    )
    assert run("delete", "--stack", NAME, "--tables", "--yes").status == 0
    assert tables() == []


def test_a_bucket_made_again_after_the_stack_is_not_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CloudFormation deleted that bucket; whoever made one of the same name keeps it."""
    deploy()
    cloudformation, s3 = boto3.client("cloudformation"), boto3.client("s3")
    listed: Any = cloudformation.list_stack_resources(StackName=NAME)
    for resource in listed["StackResourceSummaries"]:
        resource["ResourceStatus"] = "DELETE_COMPLETE"
    cloudformation.delete_stack(StackName=NAME)
    s3.put_object(Bucket=INBOX, Key="theirs", Body=b"x")
    change_calls(monkeypatch, answered({"ListStackResources": listed}))
    run("delete", "--stack", NAME, "--yes").assert_refused("knows of nothing that is left")
    assert s3.head_object(Bucket=INBOX, Key="theirs")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("EnableTerminationProtection", True, "has termination protection"),
        ("StackStatus", "UPDATE_IN_PROGRESS", "is being deployed (UPDATE_IN_PROGRESS)"),
    ],
)
def test_a_stack_that_cannot_be_deleted_is_not_emptied(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: object, reason: str
) -> None:
    """CloudFormation refuses a protected stack, and one during an update; its objects stay."""
    deploy()
    fill(INBOX)
    description: Any = boto3.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"][0]
    answer = {"Stacks": [description | {name: value}]}
    change_calls(monkeypatch, answered({"DescribeStacks": answer}))
    run("delete", "--stack", NAME, "--yes").assert_refused(f"{reason}: nothing is deleted")
    assert len(boto3.client("s3").list_object_versions(Bucket=INBOX)["Versions"]) == 3


def test_a_deletion_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudFormation's reasons are shown; the next call goes on."""
    event = {
        "LogicalResourceId": "Queue",
        "ResourceStatus": "DELETE_FAILED",
        "ResourceStatusReason": "it is in use",
    }
    answers = {
        "DescribeStacks": {"Stacks": [{"StackStatus": "DELETE_FAILED"}]},
        "DeleteStack": {},
        "DescribeStackEvents": {"StackEvents": [event]},
    }
    change_calls(monkeypatch, answered(answers))
    with pytest.raises(CannotDoError, match=r"DELETE_FAILED.*Queue: it is in use"):
        list(stack_changes.deleted_stack(Target().connect()[0], "arn"))


def test_a_large_bucket_is_not_listed_to_be_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CloudWatch's figures come before the question; `--count` counts by listing."""
    monkeypatch.setattr(bucket_figures, "COUNTED_MAX", 0)
    deploy()
    boto3.client("s3").put_object(Bucket=INBOX, Key="k", Body=b"12345")
    ended = run("delete", "--stack", NAME, answer="n\n")
    assert f"{INBOX}: about 1 object, " in ended.err
    assert "CloudWatch's figures, up to a day old" in ended.err
    ended = run("delete", "--stack", NAME, "--count", answer="n\n")
    assert f"{INBOX}: 1 object version " in ended.err


def test_a_bucket_of_the_same_name_is_not_left_of_a_stack(run: Run) -> None:
    """A name alone proves nothing: a bucket that notifies no queue of the stack is not its own."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=INBOX)
    s3.put_object(Bucket=INBOX, Key="theirs", Body=b"x")
    run("delete", "--stack", NAME, "--yes").assert_refused("knows of nothing that is left")
    assert s3.head_object(Bucket=INBOX, Key="theirs")


def test_an_existing_bucket_of_that_name_stays_when_the_stack_is_gone(run: Run) -> None:
    """A person may name the bucket that an earlier stack left; `--tables` afterwards spares it."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=INBOX)
    s3.put_object(Bucket=INBOX, Key="theirs", Body=b"x")
    deploy(existing=INBOX)
    notify(INBOX, QUEUE)
    assert run("delete", "--stack", NAME, "--yes").status == 0
    ended = run("delete", "--stack", NAME, "--yes", "--tables")
    assert (ended.status, tables()) == (0, []), ended.err
    assert s3.head_object(Bucket=INBOX, Key="theirs")


def test_keys_that_xml_cannot_hold_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 refuses a request for many keys if one of them has a control character."""
    odd = {"esc\x1b[31m", "\x01", "last\uffff"}
    left = odd | {"line\nend\r", "plain"}

    def change(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        deleted: set[str] = set()
        if operation == "ListObjectVersions":  # moto cannot list such keys
            return {"Versions": [{"Key": key, "VersionId": "v", "Size": 1} for key in left]}
        if operation == "DeleteObject":
            deleted = {request["Key"]}
        if operation == "DeleteObjects":
            deleted = {entry["Key"] for entry in request["Delete"]["Objects"]}
            if deleted & odd:
                raise refusal(operation, "MalformedXML")
        left.difference_update(deleted)
        return {}

    change_calls(monkeypatch, change)
    assert sum(bucket_contents.emptied(boto3.client("s3"), INBOX)) == 5
    assert left == set()


@pytest.mark.parametrize("version", [{"VersionId": "v"}, {}])
def test_keys_for_which_s3_is_too_busy_are_repeated(
    monkeypatch: pytest.MonkeyPatch, version: dict[str, str]
) -> None:
    """S3 answers 200 with `SlowDown` for single keys; other refusals end the command."""
    left = {f"k{number}" for number in range(9)}
    refused: list[str] = []
    code = "SlowDown"
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    def change(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "ListObjectVersions":
            return {"Versions": [{"Key": key, "VersionId": "v", "Size": 1} for key in left]}
        if operation != "DeleteObjects":
            return {}
        keys = [entry["Key"] for entry in request["Delete"]["Objects"]]
        refused[:] = keys[: len(keys) // 3]
        left.difference_update(keys[len(keys) // 3 :])
        errors = [{"Key": key, "Code": code, "Message": code, **version} for key in refused]
        return {"Errors": errors}

    change_calls(monkeypatch, change)
    assert sum(bucket_contents.emptied(boto3.client("s3"), INBOX)) == 9
    assert (left, len(pauses)) == (set(), 2)  # 9 keys, 3 of them, 1 of those
    assert pauses == sorted(pauses)
    left, code = {"a", "b", "c"}, "AccessDenied"
    with pytest.raises(CannotDoError, match=r"does not delete 1 of 3 keys .* Remove the cause"):
        list(bucket_contents.emptied(boto3.client("s3"), INBOX))

"""`bucketsum delete` against the local emulator, with more versions than a page of a listing."""

import json
from typing import Any, Final

import pytest
from tests.e2e.command import run

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets import bucket_contents

NAME: Final = "short-lived"
KEYS: Final = tuple(f"{number:05}" for number in range(100))
MARKERS: Final = 10  # of each key, after its version: 1,100 in all, two pages of a listing

_BUCKET: Final[dict[str, Any]] = {
    "Type": "AWS::S3::Bucket",
    "DeletionPolicy": "RetainExceptOnCreate",
    "Properties": {"VersioningConfiguration": {"Status": "Enabled"}},
}
_TABLE: Final[dict[str, Any]] = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "object", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "object", "KeyType": "HASH"}],
    },
}


@pytest.fixture
def bucket(stack: Stack) -> str:
    """The bucket of a small stack with the parts that `delete` looks for."""
    template = {
        "Resources": {"InboxBucket": _BUCKET, "DigestsTable": _TABLE},
        "Outputs": {"BucketName": {"Value": {"Ref": "InboxBucket"}}},
    }
    cloudformation = stack.connection.client("cloudformation")
    cloudformation.create_stack(StackName=NAME, TemplateBody=json.dumps(template))
    waiter = cloudformation.get_waiter("stack_create_complete")
    waiter.wait(StackName=NAME, WaiterConfig={"Delay": 1})
    [output] = cloudformation.describe_stacks(StackName=NAME)["Stacks"][0]["Outputs"]
    return str(output["OutputValue"])


@pytest.fixture
def _as_on_aws(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands without ``--local`` reach the emulator through AWS's own variables."""
    credentials = stack.connection.session.get_credentials()
    assert credentials
    monkeypatch.setenv("AWS_ENDPOINT_URL", str(stack.connection.endpoint))
    monkeypatch.setenv("AWS_CA_BUNDLE", str(stack.connection.ca_bundle))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", str(credentials.access_key))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", str(credentials.secret_key))
    monkeypatch.setenv("AWS_DEFAULT_REGION", stack.connection.region)


@pytest.mark.usefixtures("_as_on_aws")
def test_all_versions_and_markers_go(stack: Stack, bucket: str) -> None:
    """A stack whose bucket has 1,100 versions and markers goes, and its bucket with it."""
    s3 = stack.client("s3")
    for key in KEYS:
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    for _ in range(MARKERS):
        s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in KEYS]})
    ended = run("delete", "--stack", NAME, "--yes", "--json")
    entries = len(KEYS) * (1 + MARKERS)
    assert json.loads(ended.stdout)["buckets"] == [{"bucket": bucket, "deleted": entries}]
    assert not bucket_contents.exists(s3, bucket)
    assert bucket_contents.exists(s3, stack.bucket)

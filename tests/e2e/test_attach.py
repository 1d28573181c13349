"""Buckets that the stack did not create: from the object to its row, by both routes."""

import hashlib
from typing import Any, Final

import pytest
from tests.e2e.command import answer, until

from bucketsum_cli.aws import stack_changes
from bucketsum_cli.aws.stack import Stack

KEYS: Final = ("plain.bin", "a name with spaces", "1+1=2", "100%25 + é.txt", "日本語/ü")


def recorded(stack: Stack, bucket: str) -> dict[str, str | None]:
    """The SHA-1 of each key, once all keys have a row."""
    table = stack.digests_table()

    def rows() -> dict[str, str | None] | None:
        digests = {key: row.sha1 for key in KEYS for row in table.versions_of(bucket, key)}
        return digests if len(digests) == len(KEYS) else None

    return until(rows, "a row of each key")


def deploy_with_saved_answers(stack: Stack, days: int) -> None:
    """The documented upgrade: `sam deploy` passes the saved value of each parameter.

    The days of logs are new ones, because a deployment that changes nothing is refused.
    """
    cloudformation = stack.client("cloudformation")
    saved = {**stack.parameters, "LogRetentionDays": str(days)}
    passed: Any = [{"ParameterKey": k, "ParameterValue": v} for k, v in saved.items()]
    capabilities: Any = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    cloudformation.update_stack(
        StackName=stack.name,
        UsePreviousTemplate=True,
        Parameters=passed,
        Capabilities=capabilities,
    )

    def is_done() -> bool:
        description = cloudformation.describe_stacks(StackName=stack.name)["Stacks"][0]
        return description["StackStatus"] == "UPDATE_COMPLETE"

    until(is_done, "the end of the deployment")


@pytest.mark.usefixtures("at_project")
@pytest.mark.parametrize("via", ["s3", "eventbridge"])
def test_objects_of_an_attached_bucket_are_hashed(
    stack: Stack, via: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of all kinds arrive by both routes, also after a deployment with the saved answers."""
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0.2)
    s3, bucket = stack.client("s3"), f"attached-{via}"
    s3.create_bucket(Bucket=bucket)
    attached = answer("attach", bucket, "--via", via, "--deploy", "--yes")
    assert attached["changed"] is attached["stack_updated"] is True
    deploy_with_saved_answers(stack, 7 if via == "s3" else 14)
    contents = {key: key.encode() * 1000 for key in KEYS}
    for key, content in contents.items():
        s3.put_object(Bucket=bucket, Key=key, Body=content)
    assert recorded(stack, bucket) == {
        key: hashlib.sha1(content).hexdigest() for key, content in contents.items()
    }
    buckets = answer("buckets")["buckets"]
    assert {entry["bucket"]: entry["problems"] for entry in buckets}[bucket] == []
    detached = answer("detach", bucket, "--eventbridge-off", "--deploy", "--yes")
    assert detached["changed"] is detached["stack_updated"] is True
    configuration = s3.get_bucket_notification_configuration(Bucket=bucket)
    assert set(configuration) == {"ResponseMetadata"}

"""The parts of a stack that a person must delete besides the stack itself.

CloudFormation deletes no bucket with objects, and keeps the created bucket and both tables. All
parts are found through the stack; once it is gone, by the names that CloudFormation gave them. So
a deletion that was interrupted at any point can be continued.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError, WaiterError

from bucketsum_cli.aws.served_buckets import ServedBuckets
from bucketsum_cli.aws.stack import description_of, outputs_of, parameters_of, resources_of
from bucketsum_cli.stacks.bucket_contents import exists
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_cloudformation.type_defs import StackTypeDef
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.aws.connection import Connection

_POLL_SECONDS: Final = 2.0
_TABLES: Final = ("DigestsTable", "MeasurementsTable")
_QUEUE: Final = "ArrivalsQueue"


@dataclass(frozen=True, slots=True)
class StackParts:
    """The existing parts of a stack.

    Attributes:
        name: Of the stack.
        stack_id: Its ARN; None if the stack itself is gone.
        buckets: Buckets that the stack created.
        tables: Tables that it created.
        foreign_buckets: Buckets that the stack did not create, but hashes.
        queue_arn: That queue; None if the stack is gone.
    """

    name: str
    stack_id: str | None
    buckets: tuple[str, ...]
    tables: tuple[str, ...]
    foreign_buckets: tuple[str, ...] = ()
    queue_arn: str | None = None


def stack_parts(connection: Connection, name: str) -> StackParts:
    """Find the parts of the stack *name*, even if the stack is already deleted.

    Raises:
        CannotDoError: There is neither a stack nor anything left of it, or the stack is not
            bucketsum's, or CloudFormation would not delete it now.
    """
    description = description_of(connection, name)
    if description is None:
        return _leftovers(connection, name)
    _require_deletable(description)
    outputs, resources = outputs_of(description), resources_of(connection, name)
    if "HasherFunction" not in resources and "DigestsTable" not in resources:
        raise CannotDoError(
            f"the stack {name} was not created by bucketsum's template.yaml: nothing is deleted"
        )
    buckets = [
        resource["PhysicalResourceId"]
        for resource in resources.values()
        if resource["ResourceType"] == "AWS::S3::Bucket"
    ]
    s3 = connection.client("s3")
    served = (outputs.get("BucketName"), *ServedBuckets.of(parameters_of(description)).attached)
    return StackParts(
        name=name,
        stack_id=description["StackId"],
        buckets=tuple(bucket for bucket in buckets if exists(s3, bucket)),
        tables=tuple(
            resources[table]["PhysicalResourceId"] for table in _TABLES if table in resources
        ),
        foreign_buckets=tuple(
            bucket for bucket in dict.fromkeys(served) if bucket and bucket not in buckets
        ),
        queue_arn=outputs.get("ArrivalsQueueArn"),
    )


def _require_deletable(description: StackTypeDef) -> None:
    """Refuse a stack that CloudFormation would refuse to delete, after its buckets were emptied."""
    name, status = description["StackName"], description["StackStatus"]
    if description.get("EnableTerminationProtection"):
        raise CannotDoError(
            f"the stack {name} has termination protection: nothing is deleted. If it is to go, run "
            f"`aws cloudformation update-termination-protection --stack-name {name} "
            "--no-enable-termination-protection` first"
        )
    if status.startswith("UPDATE_") and status.endswith("_IN_PROGRESS"):
        raise CannotDoError(
            f"the stack {name} is being deployed ({status}): nothing is deleted; run the command "
            "again when that has ended"
        )


def _leftovers(connection: Connection, name: str) -> StackParts:
    """Find by their names what a deleted stack left behind."""
    account = connection.client("sts").get_caller_identity()["Account"]
    bucket = f"{name}-{account}-{connection.region}"  # as in template.yaml
    buckets = (bucket,) if _is_inbox(connection.client("s3"), bucket, name) else ()
    tables = tuple(
        table
        for page in connection.client("dynamodb").get_paginator("list_tables").paginate()
        for table in page["TableNames"]
        if table.startswith(tuple(f"{name}-{logical_id}-" for logical_id in _TABLES))
    )
    if not buckets and not tables:
        raise CannotDoError(
            f"there is no stack {name} in {connection.region}, and nothing is left of a deleted "
            "one; choose another with --stack, --region and --profile"
        )
    return StackParts(name, None, buckets, tables)


def _is_inbox(s3: S3Client, bucket: str, name: str) -> bool:
    """Whether *bucket* exists and was created by the stack *name*: it still notifies its queue.

    Its name alone proves nothing, and `delete` removes the notifications of an existing bucket.
    """
    if not exists(s3, bucket):
        return False
    queues = s3.get_bucket_notification_configuration(Bucket=bucket).get("QueueConfigurations", ())
    return any(
        queue["QueueArn"].rpartition(":")[2].startswith(f"{name}-{_QUEUE}-") for queue in queues
    )


def deleted_stack(connection: Connection, stack_id: str) -> Iterator[str]:
    """Delete the stack; yield its status until it is gone.

    Raises:
        CannotDoError: CloudFormation could not delete some resources; the text says why.
    """
    cloudformation = connection.client("cloudformation")
    cloudformation.delete_stack(StackName=stack_id)
    while description := description_of(connection, stack_id):  # an emulator forgets it at the end
        status = description["StackStatus"]
        if status == "DELETE_COMPLETE":
            return
        if status.endswith("_FAILED"):
            raise CannotDoError(_failure(cloudformation, stack_id))
        yield status
        time.sleep(_POLL_SECONDS)


def _failure(cloudformation: Any, stack_id: str) -> str:  # noqa: ANN401 - boto3's client
    events = cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    reasons = [
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
        for event in events
        if event["ResourceStatus"] == "DELETE_FAILED"
    ]
    return (
        f"CloudFormation could not delete the stack: {'; '.join(reasons) or 'no reason is given'}. "
        "Remove the reason, and run the command again: it goes on from here"
    )


def delete_table(dynamodb: DynamoDBClient, table: str) -> bool:
    """Delete *table* and wait until it is gone; False if it was gone already."""
    try:
        dynamodb.delete_table(TableName=table)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return False
        raise
    try:
        dynamodb.get_waiter("table_not_exists").wait(TableName=table)
    except WaiterError as error:
        raise CannotDoError(f"the table {table} is still being deleted: {error}") from error
    return True

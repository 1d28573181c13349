"""The parts of a stack that a person must delete besides the stack itself.

CloudFormation deletes no bucket with objects, and keeps the created bucket and both tables. All
parts are found through the stack, of which CloudFormation tells for 90 days after its end. So a
deletion that was interrupted at any point can be continued.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError, WaiterError

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.kept_tables import TABLES
from bucketsum_cli.aws.stack_description import description_of, outputs_of, resources_of
from bucketsum_cli.buckets.bucket_contents import exists
from bucketsum_cli.buckets.served_buckets import access_stack_name, attached_buckets
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef
    from mypy_boto3_dynamodb import DynamoDBClient


_INBOX: Final = "InboxBucket"


@dataclass(frozen=True, slots=True)
class StackParts:
    """The existing parts of a stack.

    Attributes:
        stack_id: Its ARN; None if the stack itself is gone.
        buckets: Buckets that the stack created.
        inbox: The one of them that CloudFormation keeps, and whose events the stack records.
        tables: Tables that it created.
        foreign_buckets: Buckets that the stack did not create, but hashes.
        access_stack: Stack with the permissions of attached buckets; None if there is none.
        queue_arn: The arrivals queue; None if the stack is gone.
    """

    name: str
    stack_id: str | None
    buckets: tuple[str, ...]
    tables: tuple[str, ...]
    foreign_buckets: tuple[str, ...] = ()
    access_stack: str | None = None
    queue_arn: str | None = None
    inbox: str | None = None


def stack_parts(connection: Connection, name: str) -> StackParts:
    """The parts of the stack *name*, even if the stack is already deleted.

    Raises:
        CannotDoError: There is neither a stack nor anything left of it, or the stack is not
            bucketsum's, or CloudFormation would not delete it now.
    """
    description = description_of(connection, name)
    stack_id = description["StackId"] if description else _deleted_stack_id(connection, name)
    if description:
        _require_deletable(description)
    resources = resources_of(connection, stack_id) if stack_id else {}
    if stack_id and not resources:  # the local emulator forgets those of a deleted stack
        resources = _resources_in_events(connection, stack_id)
    if stack_id and not {"HasherFunction", "DigestsTable"} & set(resources):
        raise CannotDoError(
            f"the stack {name} was not created by bucketsum's template.yaml: nothing is deleted"
        )
    left = {  # a bucket with the name of one that is gone is somebody else's
        logical: resource
        for logical, resource in resources.items()
        if resource["ResourceStatus"] != "DELETE_COMPLETE"
    }
    names = {logical: resource["PhysicalResourceId"] for logical, resource in left.items()}
    s3 = connection.client("s3")
    buckets = tuple(
        names[logical]
        for logical, resource in left.items()
        if resource["ResourceType"] == "AWS::S3::Bucket" and exists(s3, names[logical])
    )
    tables = tuple(names[table] for table in TABLES if table in names)
    inbox = names.get(_INBOX)
    if description is None:
        dynamodb = connection.client("dynamodb")
        tables = tuple(table for table in tables if table_exists(dynamodb, table))
        if not buckets and not tables:
            raise CannotDoError(
                f"there is no stack {name} in {connection.region}, and CloudFormation knows of "
                "nothing that is left of a deleted one; choose another with --stack, --region and "
                "--profile"
            )
        return StackParts(name, None, buckets, tables, inbox=inbox)
    outputs = outputs_of(description)
    attached = attached_buckets(connection, name)
    served = (outputs.get("BucketName"), *attached)
    return StackParts(
        name=name,
        stack_id=stack_id,
        buckets=buckets,
        tables=tables,
        foreign_buckets=tuple(
            bucket for bucket in dict.fromkeys(served) if bucket and bucket not in names.values()
        ),
        access_stack=access_stack_name(name) if attached else None,
        queue_arn=outputs.get("ArrivalsQueueArn"),
        inbox=inbox,
    )


def _require_deletable(description: StackTypeDef) -> None:
    """Before buckets are emptied, refuse a stack that CloudFormation would not delete."""
    name, status = description["StackName"], description["StackStatus"]
    if description.get("EnableTerminationProtection"):
        raise CannotDoError(
            f"the stack {name} has termination protection: nothing is deleted. To delete it, "
            f"first run `aws cloudformation update-termination-protection --stack-name {name} "
            "--no-enable-termination-protection`"
        )
    if status.startswith("UPDATE_") and status.endswith("_IN_PROGRESS"):
        raise CannotDoError(
            f"the stack {name} is being deployed ({status}): nothing is deleted; run the command "
            "again when that has ended"
        )


def _deleted_stack_id(connection: Connection, name: str) -> str | None:
    """The ARN of the last stack *name* that was deleted within 90 days."""
    pages = connection.client("cloudformation").get_paginator("list_stacks")
    deleted = pages.paginate(StackStatusFilter=["DELETE_COMPLETE"]).search("StackSummaries[]")
    of_name = ((s["CreationTime"], s["StackId"]) for s in deleted if s["StackName"] == name)
    return max(of_name, default=(None, None))[1]


def _resources_in_events(connection: Connection, stack_id: str) -> dict[str, Any]:
    """As `resources_of`, from the last event about each resource."""
    pages = connection.client("cloudformation").get_paginator("describe_stack_events")
    resources: dict[str, Any] = {}
    for event in pages.paginate(StackName=stack_id).search("StackEvents[?PhysicalResourceId]"):
        resources.setdefault(event["LogicalResourceId"], event)
    return resources


def table_exists(dynamodb: DynamoDBClient, table: str) -> bool:
    """Whether the table exists."""
    try:
        dynamodb.describe_table(TableName=table)
    except dynamodb.exceptions.ResourceNotFoundException:
        return False
    return True


def delete_table(dynamodb: DynamoDBClient, table: str) -> bool:
    """Delete *table* and wait until it is gone; False if it was gone already.

    Raises:
        CannotDoError: It is protected, or is still being deleted.
    """
    try:
        dynamodb.delete_table(TableName=table)
    except dynamodb.exceptions.ResourceNotFoundException:
        return False
    except ClientError as error:
        if "protect" not in error.response["Error"].get("Message", "").casefold():
            raise
        raise CannotDoError(
            f"somebody protected the table {table} against deletion, so it is kept. To delete it, "
            f"first run `aws dynamodb update-table --table-name {table} "
            "--no-deletion-protection-enabled`"
        ) from error
    try:
        dynamodb.get_waiter("table_not_exists").wait(TableName=table)
    except WaiterError as error:
        raise CannotDoError(f"the table {table} is still being deleted: {error}") from error
    return True

"""The buckets that a stack hashes: its own, and the attached ones, which another stack lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from bucketsum import attached
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_description import description_of

EXISTING_PARAMETER: Final = "ExistingBucketName"
INVENTORY_PARAMETER: Final = "InventoryBucketArn"
REPORT_PARAMETER: Final = "ReportBucket"


class Via(StrEnum):
    """Route of a bucket's events to the queue; users set up the route by SNS themselves."""

    S3 = "s3"
    EVENTBRIDGE = "eventbridge"
    SNS = "sns"


@dataclass(frozen=True, slots=True)
class AttachedBucket:
    """A bucket that a stack did not create, but may read.

    Attributes:
        via: Route of its events.
        created_only: Whether deletions and restores are left out on purpose.
        kms_key: ARN of the key that S3 encrypts its new objects with; empty if access needs none.
        attached_at: When it was first attached, ISO 8601 UTC; empty if that is not known.
    """

    name: str
    via: Via = Via.S3
    created_only: bool = False
    kms_key: str = ""
    attached_at: str = field(default="", compare=False)


def access_stack_name(stack_name: str) -> str:
    """Return the name of the stack with the permissions of the attached buckets."""
    return f"{stack_name}-attached"


def access_template_of(connection: Connection, stack_name: str) -> dict[str, Any] | None:
    """Return the template of that stack; None if there is no such stack."""
    name = access_stack_name(stack_name)
    if description_of(connection, name) is None:  # a deleted one may still have a template
        return None
    return dict(connection.client("cloudformation").get_template(StackName=name)["TemplateBody"])


def metadata_of(buckets: Iterable[AttachedBucket]) -> dict[str, Any]:
    """Return the metadata of the template of the attached buckets, for `attached_buckets`."""
    return attached.metadata_of(
        {field: value for field, value in asdict(bucket).items() if value} for bucket in buckets
    )


def attached_buckets(connection: Connection, stack_name: str) -> dict[str, AttachedBucket]:
    """Return the attached buckets of a stack by their names."""
    template: Any = access_template_of(connection, stack_name) or {}
    entries = attached.listed_in(template)
    listed = [AttachedBucket(**entry | {"via": Via(entry["via"])}) for entry in entries]
    return {bucket.name: bucket for bucket in listed}


def attached_to(stack: Stack) -> dict[str, AttachedBucket]:
    """Return the attached buckets of *stack* by their names."""
    return attached_buckets(stack.connection, stack.name)


def creates(stack: Stack, bucket: str) -> bool:
    """Whether *stack* created *bucket*; its template then has the notifications."""
    return bucket == stack.outputs["BucketName"] and not stack.parameters.get(EXISTING_PARAMETER)


def serves(stack: Stack, bucket: str) -> bool:
    """Whether *bucket* is the stack's own or an attached one."""
    return bucket == stack.outputs["BucketName"] or bucket in attached_to(stack)


def bucket_hint(stack: Stack, key: str) -> str:
    """Hint at the bucket of *stack* that *key* begins with; empty if none."""
    bucket = key.partition("/")[0]
    return f"; for the bucket {bucket}, write s3://{key}" if serves(stack, bucket) else ""


def bucket_arn(stack: Stack, bucket: str) -> str:
    """Return the ARN of *bucket* in the partition of *stack*, for example ``aws``."""
    return f"arn:{stack.arrivals_queue_arn.split(':')[1]}:s3:::{bucket}"


def buckets_of(stack: Stack) -> tuple[str, ...]:
    """Names of the stack's buckets: its own, and the attached ones."""
    own = stack.outputs.get("BucketName")
    return (*filter(None, [own]), *attached_to(stack))

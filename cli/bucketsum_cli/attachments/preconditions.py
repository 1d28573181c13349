"""Preconditions and effects of attaching a bucket to a stack."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum_cli.attachments.notifications import KeyFilter
from bucketsum_cli.attachments.queue_notification import missing_events
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.served_buckets import ServedBuckets, Via

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.stack import Stack

_MISSING: Final = ("404", "NoSuchBucket")


def check_bucket(stack: Stack, bucket: str) -> None:
    """Refuse a bucket that cannot be attached.

    Raises:
        CannotDoError: There is no such bucket, it is in another Region, or the stack created it.
        ClientError: AWS refused.
    """
    if bucket == stack.bucket and not ServedBuckets.of(stack.parameters).existing:
        raise CannotDoError(
            f"the stack {stack.name} created {bucket}, and always hashes its objects"
        )
    try:
        answer = stack.client("s3").head_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] not in _MISSING:
            raise
        raise CannotDoError(f"there is no bucket {bucket} in this account") from error
    own = stack.connection.region
    region = answer["ResponseMetadata"]["HTTPHeaders"].get("x-amz-bucket-region", own)
    if region != own:
        raise CannotDoError(
            f"{bucket} is in {region}, but the stack {stack.name} is in {own}: S3 notifies queues "
            "of its own Region only; deploy a stack there"
        )


def queue_arn_of(stack: Stack) -> str:
    """Return the ARN of the arrivals queue."""
    return stack.outputs["ArrivalsQueueArn"]


def partition_of(stack: Stack) -> str:
    """Return the partition of the stack's ARNs, for example ``aws``."""
    return queue_arn_of(stack).split(":")[1]


def deploy_command(stack: Stack, values: Mapping[str, str]) -> str:
    """Return the shell command that deploys the stack with these values of parameters."""
    overrides = " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
    return (
        f"sam build && sam deploy --stack-name {stack.name} "
        f"--region {stack.connection.region} --parameter-overrides {overrides}"
    )


def changed_parameters(stack: Stack, served: ServedBuckets) -> dict[str, str]:
    """Return the parameters of the stack that differ from those of *served*, with new values."""
    return {
        name: value
        for name, value in served.parameters(partition_of(stack)).items()
        if value != stack.parameters.get(name, "")
    }


def log_loop_warning(s3: S3Client, bucket: str, via: Via, keys: KeyFilter) -> str | None:
    """Warn if the bucket receives its own access logs, and they would be hashed.

    Each GET of the hasher would then create a log object, which is read in turn.
    """
    try:
        logging: Any = s3.get_bucket_logging(Bucket=bucket).get("LoggingEnabled")
    except ClientError as error:
        code = error.response["Error"]["Code"]
        return f"the access logs of {bucket} were not checked for a loop: {code}"
    if not logging or logging["TargetBucket"] != bucket:
        return None
    logs = logging.get("TargetPrefix", "")
    if via is Via.S3 and not keys.overlaps(KeyFilter(logs)):
        return None
    return (
        f"{bucket} receives its own access logs ({KeyFilter(logs)}), which would be hashed: each "
        "GET of the hasher is logged, and each log is read again, without end. Send the logs to "
        "another bucket, or limit the notification with --prefix to the keys of your objects"
    )


def left_out_warning(configuration: Mapping[str, Any], queue_arn: str) -> str | None:
    """Warn if *configuration*, to be written, notifies the queue of created objects only."""
    missing = missing_events(configuration, queue_arn)
    if not missing:
        return None
    return (
        f"{', '.join(missing)} are left out, because other notifications have them for overlapping "
        "keys: these deletions and restores are not recorded. --via eventbridge takes all events"
    )

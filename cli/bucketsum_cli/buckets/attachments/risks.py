"""Settings of a bucket that can keep its objects from being hashed, or hash its logs endlessly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.checks import statements_of
from bucketsum_cli.buckets.attachments.notifications import KeyFilter
from bucketsum_cli.buckets.attachments.queue_notification import missing_events
from bucketsum_cli.buckets.served_buckets import AttachedBucket, Via

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_NETWORK_KEYS: Final = ("aws:sourcevpce", "aws:sourcevpc", "aws:vpcsourceip", "aws:sourceip")
_UNSURE: Final = "~*"
"""Characters that Python's and Java's encoders of URLs treat differently; S3 does not say."""


def warnings_of(
    stack: Stack, bucket: AttachedBucket, keys: KeyFilter, configuration: Mapping[str, Any]
) -> Iterator[str]:
    """Yield reasons not to attach *bucket* with *configuration*, or to change a setting first."""
    s3 = stack.client("s3")
    yield from _log_loop(s3, bucket.name, bucket.via, keys)
    yield from _network(s3, bucket.name)
    if not stack.connection.is_local:
        yield from _owners(s3, bucket.name)
    if any(character in keys.prefix + keys.suffix for character in _UNSURE):
        yield (
            "it is not known how S3 compares ~ and * in a prefix or suffix: upload an object, and "
            "see whether it gets a row, or use a shorter one"
        )
    missing = missing_events(configuration, stack.arrivals_queue_arn)
    if missing and bucket.via is Via.S3 and not bucket.created_only:
        yield (
            f"{', '.join(missing)} are left out, because other notifications have them for "
            "overlapping keys: these deletions and restores are not recorded. --via eventbridge "
            "takes all events"
        )


def default_key(stack: Stack, bucket: str) -> tuple[str, list[str]]:
    """Return the customer's KMS key for new objects (its ARN, or an empty text), and warnings."""
    try:
        arn = _default_key(stack, bucket)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        text = (
            f"the default encryption of {bucket} was not checked ({code}): if it has a KMS key of "
            "yours, name the key in the stack's parameter KmsKeyArn"
        )
        return "", [] if code == "ServerSideEncryptionConfigurationNotFoundError" else [text]
    text = (
        f"new objects of {bucket} are encrypted with {arn}: the functions are allowed to decrypt "
        "with it, and the key's policy must allow that too. If older objects have other keys, "
        "name those in the stack's parameter KmsKeyArn"
    )
    return arn, [text] if arn else []


def _default_key(stack: Stack, bucket: str) -> str:
    answer: Any = stack.client("s3").get_bucket_encryption(Bucket=bucket)
    [rule] = answer["ServerSideEncryptionConfiguration"]["Rules"]
    key_id = rule["ApplyServerSideEncryptionByDefault"].get("KMSMasterKeyID")
    if not key_id:
        return ""
    kms: Any = stack.connection.client("kms")
    key = kms.describe_key(KeyId=key_id)["KeyMetadata"]  # an alias or an id becomes an ARN
    return "" if key.get("KeyManager") == "AWS" else str(key["Arn"])


def _log_loop(s3: S3Client, bucket: str, via: Via, keys: KeyFilter) -> Iterator[str]:
    """Warn if the bucket receives its own access logs, and they would be hashed.

    Each GET of the hasher would then create a log object, which is read in turn.
    """
    try:
        logging: Any = s3.get_bucket_logging(Bucket=bucket).get("LoggingEnabled")
    except ClientError as error:
        code = error.response["Error"]["Code"]
        yield f"the access logs of {bucket} were not checked for a loop: {code}"
        return
    if not logging or logging["TargetBucket"] != bucket:
        return
    logs = logging.get("TargetPrefix", "")
    if via is Via.S3 and not keys.overlaps(KeyFilter(logs)):
        return
    yield (
        f"{bucket} receives its own access logs ({KeyFilter(logs)}), which would be hashed: each "
        "GET of the hasher is logged, and each log is read again, without end. Send the logs to "
        "another bucket, or limit the notification with --prefix to the keys of your objects"
    )


def _network(s3: S3Client, bucket: str) -> Iterator[str]:
    """Warn if the bucket's policy denies requests from outside a network."""
    try:
        policy = json.loads(s3.get_bucket_policy(Bucket=bucket)["Policy"])
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code != "NoSuchBucketPolicy":
            yield f"the policy of {bucket} was not checked for conditions on networks: {code}"
        return
    conditions = {
        key
        for statement in statements_of(policy)
        if statement["Effect"] == "Deny"
        for operator in statement.get("Condition", {}).values()
        for key in operator
        if key.lower() in _NETWORK_KEYS
    }
    if conditions:
        yield (
            f"the policy of {bucket} denies requests by {', '.join(sorted(conditions))}: objects "
            "would be unreadable, unless the functions are in that network (SubnetIds). Or add a "
            "condition on aws:PrincipalArn to the denial, which leaves out the roles of hasher and "
            "slicer. Policies of AWS Organizations are not seen: AWS's own for Lambda exempts "
            "stacks that are deployed with --tags dp:exclude:network=true"
        )


def _owners(s3: S3Client, bucket: str) -> Iterator[str]:
    """Warn if another account can own objects: then its ACLs decide, not the roles' policies."""
    try:
        answer: Any = s3.get_bucket_ownership_controls(Bucket=bucket)
        [rule] = answer["OwnershipControls"]["Rules"]
        if rule["ObjectOwnership"] == "BucketOwnerEnforced":
            return
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code != "OwnershipControlsNotFoundError":
            yield f"the object ownership of {bucket} was not checked: {code}"
            return
    yield (
        f"{bucket} has ACLs: objects that another account owns are unreadable, one by one. Set its "
        "Object Ownership to BucketOwnerEnforced"
    )

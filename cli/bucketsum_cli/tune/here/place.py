"""The bucket of a sweep on this machine, its objects, and the place to record the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click
from botocore.exceptions import ClientError

from bucketsum_cli.aws.errors import is_denied
from bucketsum_cli.buckets.attachments.notifications import (
    KeyFilter,
    configuration_of,
    is_created,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.buckets.bucket_contents import head
from bucketsum_cli.buckets.served_buckets import serves
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.run_files import RunFiles, runs_folder
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_lab.plan.generated_objects import FRESH_FOR, GeneratedObjects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum_cli.arguments.target import Target
    from bucketsum_cli.aws.stack import Stack
    from bucketsum_lab.results.run_store import RunStore

PREFIX: Final = "bucketsum-sweep/"
"""Prefix of generated objects in a bucket that is not for sweeps alone."""

_LOCAL_ADDRESSES: Final = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True)
class SweepBucket:
    """A bucket that a sweep on this machine reads.

    Attributes:
        prefix: Prefix of generated objects.
    """

    s3: S3Client
    name: str
    prefix: str = PREFIX

    def region(self) -> str | None:
        """Its Region; None if S3 does not report it.

        Raises:
            CannotDoError: There is no such bucket, or access to it is denied.
        """
        status, region = head(self.s3, self.name)
        if reason := {403: "access to it is denied", 404: "there is no such bucket"}.get(status):
            raise CannotDoError(f"--bucket {self.name}: {reason}")
        return region

    def refuse_notifications(self) -> None:
        """Refuse to generate objects if somebody may be notified of them.

        Raises:
            CannotDoError: A notification overlaps with `prefix`, or they cannot be read.
        """
        try:
            configuration = configuration_of(self.s3, self.name)
        except ClientError as error:
            if not is_denied(error):
                raise
            raise CannotDoError(
                f"the notifications of {self.name} cannot be read (s3:GetBucketNotification), and "
                "objects are never generated in a bucket that may be hashed; allow this, use "
                "another bucket, or name objects with --key"
            ) from error
        receivers = [
            str(notification)
            for notification in notifications_in(configuration)
            if any(map(is_created, notification.events))
            and notification.keys.overlaps(KeyFilter(self.prefix))
        ]
        receivers += ["EventBridge"] * sends_to_eventbridge(configuration)
        if receivers:
            raise CannotDoError(
                f"objects generated in {self.name} under {self.prefix or '/'} would be reported to "
                f"{'; '.join(receivers)}, and perhaps hashed: use a bucket without notifications"
            )

    @property
    def objects(self) -> GeneratedObjects:
        """The objects that sweeps read in it."""
        return GeneratedObjects(self.s3, self.name)

    def endpoint(self) -> str | None:
        """Address of S3, or None if it is AWS's."""
        address = self.s3.meta.endpoint_url
        return None if ".amazonaws." in address else address

    def expiry_note(self) -> str:
        """A sentence about the time for which generated objects stay."""
        if not self.prefix:
            return "generated objects stay for 7 days"
        return (
            f"generated objects stay in s3://{self.name}/{self.prefix} until you delete them; they "
            f"are used again for {FRESH_FOR.days} days: aws s3 rm --recursive "
            f"s3://{self.name}/{self.prefix}"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """The bucket to read, and the place to record to.

    Attributes:
        region: Its Region; None if that is not known.
        environment: Variables by which another process reaches it.
    """

    bucket: SweepBucket
    region: str | None
    environment: Mapping[str, str]
    store: RunStore


def place_of(target: Target, bucket_name: str | None) -> Place:
    """The place that the options name: a stack's table and bucket, or files and a bucket.

    Raises:
        CannotDoError: There is no such stack or bucket, or the stack hashes its objects.
        UsageError: No option names a bucket.
    """
    store: RunStore
    if target.is_named:
        stack = target.find()
        connection, store = stack.connection, Sweeper(stack).measurements
        bucket = _bucket_of(stack, bucket_name)
    elif bucket_name is None:
        raise click.UsageError(
            "--here needs --bucket NAME, or a stack (--stack NAME or --local), whose bucket for "
            "sweeps it uses"
        )
    else:
        connection, _ = target.connect()
        bucket, store = SweepBucket(connection.client("s3"), bucket_name), RunFiles(runs_folder())
    region = bucket.region() or connection.region
    return Place(bucket, region, _environment(target, region), store)


def _bucket_of(stack: Stack, name: str | None) -> SweepBucket:
    s3, own = stack.client("s3"), stack.outputs["SweepBucketName"]
    if name in (None, own):
        return SweepBucket(s3, own, prefix="")
    if serves(stack, name):
        raise CannotDoError(
            f"the stack {stack.name} hashes the objects of {name}; leave --bucket out to use the "
            "stack's bucket for sweeps, or name another bucket"
        )
    return SweepBucket(s3, name)


def _environment(target: Target, region: str | None) -> dict[str, str]:
    """Variables with which another process has the same access as this one."""
    if target.local:
        local = emulator_state.running(emulator_state.local_project()).environment()
        return {**local, "NO_PROXY": _LOCAL_ADDRESSES, "no_proxy": _LOCAL_ADDRESSES}
    variables = {"AWS_PROFILE": target.profile, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    return {name: value for name, value in variables.items() if value}

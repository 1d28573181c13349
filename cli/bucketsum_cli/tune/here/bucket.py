"""The bucket of a sweep on this machine: its Region, its notifications, and its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum.sweep.generated_objects import FRESH_FOR, GeneratedObjects
from bucketsum.sweep.workloads import workload_of
from bucketsum_cli.attachments.notifications import (
    KeyFilter,
    configuration_of,
    is_created,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.aws_errors import is_denied
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

    from bucketsum.sweep.probe import KnownObject

PREFIX: Final = "bucketsum-sweep/"
"""Prefix of generated objects in a bucket that is not for sweeps alone."""


@dataclass(frozen=True, slots=True)
class SweepBucket:
    """A bucket that a sweep on this machine reads.

    Attributes:
        s3: Client of S3.
        prefix: Prefix of generated objects.
    """

    s3: S3Client
    name: str
    prefix: str = PREFIX

    def region(self) -> str | None:
        """Its Region, or None if S3 does not tell.

        Raises:
            CannotDoError: There is no such bucket, or access to it is denied.
        """
        try:
            answer: Any = self.s3.head_bucket(Bucket=self.name)
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            reason = {403: "access to it is denied", 404: "there is no such bucket"}.get(status)
            if reason is None:
                raise
            raise CannotDoError(f"--bucket {self.name}: {reason}") from error
        region: str | None = answer.get("BucketRegion")
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

    def known(self, workload: str, planned: Mapping[str, Any]) -> KnownObject:
        """Ensure that a *planned* object is there; returns the known facts about it.

        Raises:
            BadSweep: An object that the input names is not usable.
        """
        if not planned["generated"]:
            return self.named(planned["key"], workload)
        return GeneratedObjects(self.s3, self.name).ensured(
            self.prefix + planned["key"], planned["size_bytes"], workload_of(workload)
        )

    def named(self, key: str, workload: str) -> KnownObject:
        """The known facts about an object that the input names.

        Raises:
            BadSweep: It is not usable.
        """
        return GeneratedObjects(self.s3, self.name).named(key, workload_of(workload))

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

"""The buckets that a stack hashes, by its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bucketsum_cli.aws.stack import Stack

ATTACHED_PARAMETER: Final = "AttachedBucketArns"
EVENTBRIDGE_PARAMETER: Final = "EventBridgeBucketArns"
EXISTING_PARAMETER: Final = "ExistingBucketName"


class Via(StrEnum):
    """Route of a bucket's events to the queue."""

    S3 = "s3"
    EVENTBRIDGE = "eventbridge"


@dataclass(frozen=True, slots=True)
class ServedBuckets:
    """The buckets that a stack's parameters name.

    Attributes:
        existing: Value of ``ExistingBucketName``; empty if the stack created a bucket.
        attached: Names of the attached buckets.
        eventbridge: Those of them whose events come through EventBridge.
        has_parameters: Whether the stack's template has the parameters for attached buckets.
    """

    existing: str = ""
    attached: tuple[str, ...] = ()
    eventbridge: tuple[str, ...] = ()
    has_parameters: bool = True

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> ServedBuckets:
        """Read the parameters of a stack."""
        return cls(
            existing=parameters.get(EXISTING_PARAMETER, ""),
            attached=_names(parameters.get(ATTACHED_PARAMETER, "")),
            eventbridge=_names(parameters.get(EVENTBRIDGE_PARAMETER, "")),
            has_parameters={ATTACHED_PARAMETER, EVENTBRIDGE_PARAMETER} <= set(parameters),
        )

    def via(self, bucket: str) -> Via:
        """Return the route of the events of *bucket*."""
        return Via.EVENTBRIDGE if bucket in self.eventbridge else Via.S3

    def with_bucket(self, bucket: str, via: Via) -> ServedBuckets:
        """Return the buckets with *bucket*, whose events come only *via* that route."""
        if via is Via.S3 and bucket == self.existing:
            return self.without_bucket(bucket)
        attached = self.attached if bucket in self.attached else (*self.attached, bucket)
        others = tuple(name for name in self.eventbridge if name != bucket)
        eventbridge = (*others, bucket) if via is Via.EVENTBRIDGE else others
        if set(eventbridge) == set(self.eventbridge):
            eventbridge = self.eventbridge
        return replace(self, attached=attached, eventbridge=eventbridge)

    def without_bucket(self, bucket: str) -> ServedBuckets:
        """Return the buckets without *bucket*."""
        return replace(
            self,
            attached=tuple(name for name in self.attached if name != bucket),
            eventbridge=tuple(name for name in self.eventbridge if name != bucket),
        )

    def parameters(self, partition: str) -> dict[str, str]:
        """Return the values of the parameters, in a *partition* such as ``aws``."""
        return {
            ATTACHED_PARAMETER: _arns(self.attached, partition),
            EVENTBRIDGE_PARAMETER: _arns(self.eventbridge, partition),
        }


def serves(stack: Stack, bucket: str) -> bool:
    """Whether *bucket* is the stack's own or an attached one."""
    attached = ServedBuckets.of(stack.parameters).attached
    return bucket in (stack.outputs["BucketName"], *attached)


def bucket_arn(bucket: str, partition: str) -> str:
    """Return the ARN of *bucket*."""
    return f"arn:{partition}:s3:::{bucket}"


def _names(arns: str) -> tuple[str, ...]:
    return tuple(arn.rpartition(":")[2] for arn in arns.split(",") if arn)


def _arns(buckets: Iterable[str], partition: str) -> str:
    return ",".join(bucket_arn(bucket, partition) for bucket in buckets)

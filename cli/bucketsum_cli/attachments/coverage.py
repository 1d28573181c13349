"""The keys of a bucket whose objects are hashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bucketsum_cli.attachments.notifications import (
    KeyFilter,
    configuration_of,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.aws.served_buckets import Via, attached_to, creates

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack


@dataclass(frozen=True, slots=True)
class Coverage:
    """The keys for which the queue receives events, each in one of *filters*."""

    filters: tuple[KeyFilter, ...]

    @classmethod
    def of(cls, stack: Stack) -> Coverage:
        """Read the notifications of the stack's bucket, unless the stack created it.

        Topics count too, because one can forward its messages to the queue.
        """
        if creates(stack, stack.bucket):
            return cls((KeyFilter(),))
        configuration = configuration_of(stack.client("s3"), stack.bucket)
        if sends_to_eventbridge(configuration):
            attached = attached_to(stack).get(stack.bucket)
            if attached and attached.via is Via.EVENTBRIDGE:
                return cls((KeyFilter(),))
        queue_arn = stack.outputs["ArrivalsQueueArn"]
        return cls(
            tuple(
                notification.keys
                for notification in notifications_in(configuration)
                if notification.kind == "topic" or notification.target == queue_arn
            )
        )

    def has(self, key: str) -> bool:
        """Whether an object that is put at *key* is hashed."""
        return any(keys.matches(key) for keys in self.filters)

"""The keys of a bucket whose objects are hashed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bucketsum_cli.buckets.attachments.notifications import (
    configuration_of,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.buckets.served_buckets import Via, attached_to, creates

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack


def coverage_of(stack: Stack) -> Callable[[str], bool]:
    """Return a function: key → whether an object that is put there is hashed.

    Topics count too, because one can forward its messages to the queue.
    """
    if creates(stack, stack.bucket):
        return lambda _key: True
    configuration = configuration_of(stack.client("s3"), stack.bucket)
    if sends_to_eventbridge(configuration):
        attached = attached_to(stack).get(stack.bucket)
        if attached and attached.via is Via.EVENTBRIDGE:
            return lambda _key: True
    filters = [
        entry.keys
        for entry in notifications_in(configuration)
        if entry.kind == "topic" or entry.target == stack.arrivals_queue_arn
    ]
    return lambda key: any(keys.matches(key) for keys in filters)

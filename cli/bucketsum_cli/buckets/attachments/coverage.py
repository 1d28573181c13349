"""The keys of a bucket whose objects are hashed, and what others wait for."""

from __future__ import annotations

from collections.abc import Callable

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments.notifications import (
    configuration_of,
    notifications_in,
    sends_to_eventbridge,
)
from bucketsum_cli.buckets.served_buckets import Via, attached_to, creates
from bucketsum_cli.objects.pending import Pending
from bucketsum_cli.objects.versions import ObjectVersion
from bucketsum_cli.terminal.documents import iso_text


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


def pending_of(stack: Stack) -> Callable[[ObjectVersion], Pending]:
    """Return a function: an object without a row → what it is waiting for."""
    is_covered = coverage_of(stack)
    attached = attached_to(stack).get(stack.bucket)
    since = attached.attached_at if attached else ""

    def pending(version: ObjectVersion) -> Pending:
        if not is_covered(version.key):
            return Pending.NOT_COVERED
        is_before = iso_text(version.created_at) < since
        return Pending.NEEDS_BACKFILL if is_before else Pending.NOT_HASHED_YET

    return pending

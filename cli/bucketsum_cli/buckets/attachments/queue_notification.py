"""The notification of a stack's queue: in a bucket's configuration, and in Terraform's words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from bucketsum_cli.buckets.attachments.notifications import (
    KeyFilter,
    Notification,
    keys_of,
    notifications_in,
)
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line

CREATED: Final = "s3:ObjectCreated:*"
EVENTS: Final = (
    CREATED,
    "s3:ObjectRemoved:*",
    "s3:LifecycleExpiration:*",
    "s3:ObjectRestore:Completed",
)
"""Event types that the hasher handles: template.yaml has them for the created bucket."""

_FIELD: Final = "QueueConfigurations"
_MARK: Final = "-ArrivalsQueue-"
_NAME_LENGTH_MAX: Final = 80
"""[A] SQS, CreateQueue: "A queue name can have up to 80 characters"."""


def with_queue(
    configuration: Mapping[str, Any],
    queue_arn: str,
    keys: KeyFilter,
    subscribed: Collection[str] = EVENTS,
) -> dict[str, Any]:
    """Return *configuration* with a notification of the events *subscribed* to the queue.

    It replaces one for the same keys with other events, and all of a deleted stack of this name,
    which nothing else removes. Events other than those of created objects are left out if another
    notification has them for overlapping keys: S3 would refuse them.

    Raises:
        CannotDoError: Another notification has the events of created objects for overlapping keys.
    """
    configuration = _without(configuration, _earlier_queues(configuration, queue_arn))
    ours: list[str] = []
    overlapping: list[Notification] = []
    for other in notifications_in(configuration):
        if (other.target, other.keys) == (queue_arn, keys):
            ours += other.events
        elif other.keys.overlaps(keys):
            overlapping.append(other)
    for other in overlapping:
        if _has(other, CREATED):
            raise CannotDoError(_conflict(other, queue_arn, keys))
    events = [event for event in subscribed if not any(_has(other, event) for other in overlapping)]
    if set(events) == set(ours):
        return dict(configuration)
    entry: dict[str, Any] = {
        "Id": f"bucketsum-{hashlib.sha256(repr((queue_arn, keys)).encode()).hexdigest()[:12]}",
        "QueueArn": queue_arn,
        "Events": events,
    }
    rules = [
        {"Name": name, "Value": quote_plus(value, safe="/")}  # S3 compares with encoded keys
        for name, value in (("prefix", keys.prefix), ("suffix", keys.suffix))
        if value
    ]
    if rules:
        entry["Filter"] = {"Key": {"FilterRules": rules}}
    kept = [
        other
        for other in configuration.get(_FIELD, ())
        if (other["QueueArn"], keys_of(other)) != (queue_arn, keys)
    ]
    return {**configuration, _FIELD: [*kept, entry]}


def block_of(configuration: Mapping[str, Any], queue_arn: str, keys: KeyFilter) -> Iterator[str]:
    """Yield the queue's entries for *keys*, as Terraform's `aws_s3_bucket_notification` has them.

    It is all of the bucket's configuration: without them, the next `terraform apply` of the
    bucket's owner removes the notification.
    """
    for entry in configuration.get(_FIELD, ()):
        if (entry["QueueArn"], keys_of(entry)) != (queue_arn, keys):
            continue
        yield "queue {"
        yield f"  queue_arn     = {json.dumps(queue_arn)}"
        yield f"  events        = {json.dumps(entry['Events'])}"
        for rule in entry.get("Filter", {}).get("Key", {}).get("FilterRules", ()):
            text = json.dumps(rule["Value"], ensure_ascii=False)
            escaped = text.replace("${", "$${").replace("%{", "%%{")
            yield f"  filter_{rule['Name'].lower()} = {escaped}"
        yield "}"


def missing_events(configuration: Mapping[str, Any], queue_arn: str) -> tuple[str, ...]:
    """Return those of `EVENTS` that the queue is not notified of."""
    notified = {
        event
        for notification in notifications_in(configuration)
        if notification.target == queue_arn
        for event in notification.events
    }
    return tuple(event for event in EVENTS if event not in notified)


def _has(notification: Notification, event: str) -> bool:
    """Whether, for S3, *notification* already includes *event*."""
    family = event.rpartition(":")[0]
    return any(
        other == event or (other.startswith(f"{family}:") and "*" in (other[-1], event[-1]))
        for other in notification.events
    )


def _conflict(other: Notification, queue_arn: str, keys: KeyFilter) -> str:
    if other.target == queue_arn:
        return (
            f"the queue already receives {', '.join(other.events)} for {other.keys}, which "
            f"overlaps with {keys}; run `{command_line('detach')}` first"
        )
    return (
        f"S3 allows no second notification of {CREATED} for {keys}: it overlaps with that of the "
        f"{other.kind} {other.target} ({', '.join(other.events)}, {other.keys}); use "
        "--via eventbridge, or keys that do not overlap with --prefix and --suffix"
    )


def without_queue(configuration: Mapping[str, Any], queue_arn: str) -> dict[str, Any]:
    """Return *configuration* without notifications to the queue or to those of deleted stacks."""
    return _without(configuration, {queue_arn, *_earlier_queues(configuration, queue_arn)})


def _earlier_queues(configuration: Mapping[str, Any], queue_arn: str) -> set[str]:
    """Return the queues of deleted stacks of this name, to which *configuration* has notifications.

    CloudFormation ends the name of each stack's queue with another random text. It shortens names
    that would be longer than SQS allows, and two stacks could have the same shortened name.
    """
    stem, mark, _ = queue_arn.rpartition(_MARK)
    if not mark or len(queue_arn.rpartition(":")[2]) >= _NAME_LENGTH_MAX:
        return set()
    pattern = re.compile(re.escape(stem + mark) + "[A-Za-z0-9]+")
    queues = {entry["QueueArn"] for entry in configuration.get(_FIELD, ())}
    return set(filter(pattern.fullmatch, queues)) - {queue_arn}


def _without(configuration: Mapping[str, Any], queues: Collection[str]) -> dict[str, Any]:
    kept = [entry for entry in configuration.get(_FIELD, ()) if entry["QueueArn"] not in queues]
    rest = {field: value for field, value in configuration.items() if field != _FIELD}
    return {**rest, _FIELD: kept} if kept else rest

"""S3's events as the bodies of messages: native notifications, EventBridge, SNS."""

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote_plus

from tests.simulation.schedule import Schedule
from tests.support.events import from_sns, notification

from bucketsum.events.object_events import (
    DeletedBy,
    ObjectCreated,
    ObjectDeleted,
    ObjectEvent,
    ObjectRestored,
)

_FAMILIES: Final = {
    DeletedBy.REQUEST: "ObjectRemoved",
    DeletedBy.LIFECYCLE: "LifecycleExpiration",
}
_REASONS: Final = {
    DeletedBy.REQUEST: "DeleteObject",
    DeletedBy.LIFECYCLE: "Lifecycle Expiration",
}


def bodies_of(events: Sequence[ObjectEvent], schedule: Schedule) -> list[str]:
    """One notification of all *events*, or an EventBridge event of each; at times over SNS."""
    if schedule.happens(0.1):
        return [json.dumps(_eventbridge(event)) for event in events]
    body = {"Records": [record for event in events for record in _records_of(event)]}
    return [json.dumps(from_sns(body) if schedule.happens(0.05) else body)]


def _records_of(event: ObjectEvent) -> list[Any]:
    if isinstance(event, ObjectCreated):
        return notification(event)["Records"]  # type: ignore[no-any-return] # JSON
    return [
        {
            "eventVersion": "2.3",
            "eventTime": event.event_time,
            "eventName": _name_of(event),
            "s3": {
                "bucket": {"name": event.bucket},
                "object": {"key": quote_plus(event.key, safe="/"), **_object_of(event, "")},
            },
        }
    ]


def _name_of(event: ObjectDeleted | ObjectRestored) -> str:
    if isinstance(event, ObjectRestored):
        return "ObjectRestore:Completed"
    return _FAMILIES[event.deleted_by] + (":DeleteMarkerCreated" if event.is_marker else ":Delete")


def _object_of(event: ObjectEvent, dash: str) -> dict[str, Any]:
    """The object's fields; *dash* is EventBridge's hyphen."""
    version: dict[str, Any] = {f"version{dash}{'id' if dash else 'Id'}": event.version_id}
    fields: dict[str, Any] = version if event.version_id else {}
    if not isinstance(event, ObjectDeleted):
        fields |= {"etag" if dash else "eTag": event.etag, "size": event.size_bytes}
    if not isinstance(event, ObjectRestored):
        fields["sequencer"] = event.sequencer
    return fields


def _eventbridge(event: ObjectEvent) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "bucket": {"name": event.bucket},
        "object": {"key": event.key, **_object_of(event, "-")},
    }
    kind = "Object Restore Completed"
    if isinstance(event, ObjectCreated):
        kind = "Object Created"
    elif isinstance(event, ObjectDeleted):
        kind = "Object Deleted"
        detail["reason"] = _REASONS[event.deleted_by]
        detail["deletion-type"] = (
            "Delete Marker Created" if event.is_marker else "Permanently Deleted"
        )
    return {
        "detail-type": kind,
        "source": "aws.s3",
        "time": event.event_time,
        "detail": detail,
    }

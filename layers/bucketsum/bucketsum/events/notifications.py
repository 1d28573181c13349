"""Parse queue messages: S3's notifications of created, deleted and restored objects.

Supported: native S3 notifications, EventBridge's *Object Created*, *Object Deleted* and *Object
Restore Completed* events, either of them inside an SNS envelope, and the ``s3:TestEvent`` that S3
sends on set-up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import (
    bucket_name,
    json_object,
    moment_at,
    object_key,
    optional_opaque_at,
    shown,
    size_at,
    text_at,
)
from bucketsum.events.object_events import (
    DeletedBy,
    ObjectCreated,
    ObjectDeleted,
    ObjectEvent,
    ObjectRestored,
)

_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,32}")

DETAIL_TYPES: Final = ("Object Created", "Object Deleted", "Object Restore Completed")
"""EventBridge events that are supported."""


def events_in(body: str) -> list[ObjectEvent]:
    """The events in one queue message; none in ``s3:TestEvent``.

    Raises:
        MalformedMessage: *body* is none of the envelopes above, or one of its fields is missing,
            of the wrong type or out of range. The text names the field.
    """
    envelope = json_object(body)
    if envelope.get("Type") == "Notification" and "TopicArn" in envelope:
        envelope = json_object(text_at(envelope, "Message"))
    if envelope.get("Event") == "s3:TestEvent":
        return []
    if envelope.get("detail-type") in DETAIL_TYPES:
        return [_from_eventbridge(envelope)]
    records = envelope.get("Records")
    if isinstance(records, list) and records:
        return [_from_notification(record) for record in records]
    names = [name[:40] for name in sorted(envelope)[:10]]  # the message may be large
    raise MalformedMessage(
        f"unknown envelope with the fields {names}; expected an S3 notification "
        "(Records), an EventBridge event of a created, deleted or restored object, or one of them "
        "from SNS"
    )


class _Paths(NamedTuple):
    """Places of an event's fields; keys are encoded in native notifications only."""

    parent: str
    version_id: str
    etag: str
    time: str
    key_is_encoded: bool


_NATIVE: Final = _Paths("s3", "versionId", "eTag", "eventTime", key_is_encoded=True)
_EVENTBRIDGE: Final = _Paths("detail", "version-id", "etag", "time", key_is_encoded=False)
_NATIVE_DELETIONS: Final = {
    "ObjectRemoved": DeletedBy.REQUEST,
    "LifecycleExpiration": DeletedBy.LIFECYCLE,
}
_NATIVE_MARKERS: Final = {"Delete": False, "DeleteMarkerCreated": True}
_DELETION_TYPES: Final = {"Permanently Deleted": False, "Delete Marker Created": True}


def _from_notification(record: object) -> ObjectEvent:
    if not isinstance(record, dict):
        raise MalformedMessage(f"a record is a JSON {type(record).__name__}, not an object")
    version = text_at(record, "eventVersion")
    if not version.startswith("2."):  # AWS raises the major number only for breaking changes
        raise MalformedMessage(f"eventVersion is {shown(version)}, not 2.x")
    name = text_at(record, "eventName")
    family, _, action = name.removeprefix("s3:").partition(":")
    if family == "ObjectCreated" and action:
        return _created(record, _NATIVE)
    if family in _NATIVE_DELETIONS and action in _NATIVE_MARKERS:
        deleted_by, is_marker = _NATIVE_DELETIONS[family], _NATIVE_MARKERS[action]
        return _deleted(record, _NATIVE, deleted_by, is_marker=is_marker)
    if (family, action) == ("ObjectRestore", "Completed"):
        return _restored(record, _NATIVE)
    raise MalformedMessage(
        f"eventName is {shown(name)}; subscribe the queue to s3:ObjectCreated:*, "
        "s3:ObjectRemoved:*, s3:LifecycleExpiration:* and s3:ObjectRestore:Completed alone"
    )


def _from_eventbridge(event: Mapping[str, Any]) -> ObjectEvent:
    if event["detail-type"] == "Object Created":
        return _created(event, _EVENTBRIDGE)
    if event["detail-type"] == "Object Restore Completed":
        return _restored(event, _EVENTBRIDGE)
    kind = text_at(event, "detail.deletion-type")
    if kind not in _DELETION_TYPES:
        raise MalformedMessage(
            f"detail.deletion-type is {shown(kind)}, not one of {list(_DELETION_TYPES)}"
        )
    expired = text_at(event, "detail.reason") == "Lifecycle Expiration"
    deleted_by = DeletedBy.LIFECYCLE if expired else DeletedBy.REQUEST
    return _deleted(event, _EVENTBRIDGE, deleted_by, is_marker=_DELETION_TYPES[kind])


def _created(source: Mapping[str, Any], at: _Paths) -> ObjectCreated:
    return ObjectCreated(
        *_version(source, at),
        *_content(source, at),
        sequencer=_sequencer(source, at),
        event_time=moment_at(source, at.time),
    )


def _deleted(
    source: Mapping[str, Any], at: _Paths, deleted_by: DeletedBy, *, is_marker: bool
) -> ObjectDeleted:
    return ObjectDeleted(
        *_version(source, at),
        is_marker=is_marker,
        deleted_by=deleted_by,
        sequencer=_sequencer(source, at),
        event_time=moment_at(source, at.time),
    )


def _restored(source: Mapping[str, Any], at: _Paths) -> ObjectRestored:
    return ObjectRestored(
        *_version(source, at), *_content(source, at), event_time=moment_at(source, at.time)
    )


def _version(source: Mapping[str, Any], at: _Paths) -> tuple[str, str, str | None]:
    """Bucket, key and version id."""
    bucket = bucket_name(text_at(source, f"{at.parent}.bucket.name"))
    key = text_at(source, f"{at.parent}.object.key")
    try:
        key = unquote_plus(key, errors="strict") if at.key_is_encoded else key
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"the key {shown(key)} does not decode to UTF-8") from error
    key = object_key(key)
    return bucket, key, optional_opaque_at(source, f"{at.parent}.object.{at.version_id}")


def _content(source: Mapping[str, Any], at: _Paths) -> tuple[str | None, int]:
    """Entity tag and size."""
    etag = optional_opaque_at(source, f"{at.parent}.object.{at.etag}")
    return etag, size_at(source, f"{at.parent}.object.size")


def _sequencer(source: Mapping[str, Any], at: _Paths) -> str:
    text = text_at(source, f"{at.parent}.object.sequencer")
    if not _SEQUENCER.fullmatch(text):
        raise MalformedMessage(f"the sequencer {shown(text)} is not 1 to 32 hexadecimal digits")
    return text.upper()

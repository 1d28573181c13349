"""Parse queue messages: S3's notifications of created objects.

Supported: a native S3 notification, an EventBridge *Object Created* event, either of them
inside an SNS envelope, and the ``s3:TestEvent`` that S3 sends on set-up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

from bucketsum.errors import MalformedMessage
from bucketsum.message_fields import (
    bucket_name,
    json_object,
    moment_at,
    object_key,
    optional_opaque_at,
    shown,
    size_at,
    text_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,32}")
_CREATED: Final = re.compile(r"(s3:)?ObjectCreated:\w+")


@dataclass(frozen=True, slots=True)
class ObjectCreated:
    """One created object, as its event describes it.

    Attributes:
        bucket: Bucket name; never an ARN.
        key: Object key, decoded; 1 to 1,024 bytes of UTF-8.
        version_id: Version of the object, or None if the bucket keeps no versions.
        etag: Entity tag without quotes, or None if the event has none.
        size_bytes: Size of the object.
        sequencer: Upper-case hexadecimal; orders the events of one key.
        event_time: Time at which S3 created the object, ISO 8601 in UTC.
    """

    bucket: str
    key: str
    version_id: str | None
    etag: str | None
    size_bytes: int
    sequencer: str
    event_time: str


def created_objects_in(body: str) -> list[ObjectCreated]:
    """The created objects in one queue message; none in ``s3:TestEvent``.

    Raises:
        MalformedMessage: *body* is none of the envelopes above, or one of its fields is missing,
            of the wrong type or out of range. The text names the field.
    """
    envelope = json_object(body)
    if envelope.get("Type") == "Notification" and "TopicArn" in envelope:
        envelope = json_object(text_at(envelope, "Message"))
    if envelope.get("Event") == "s3:TestEvent":
        return []
    if envelope.get("detail-type") == "Object Created":
        return [_from_eventbridge(envelope)]
    records = envelope.get("Records")
    if isinstance(records, list) and records:
        return [_from_notification(record) for record in records]
    raise MalformedMessage(
        f"unknown envelope with the fields {sorted(envelope)[:10]}; expected an S3 notification "
        "(Records), an EventBridge 'Object Created' event, or one of them from SNS"
    )


def _from_notification(record: object) -> ObjectCreated:
    if not isinstance(record, dict):
        raise MalformedMessage(f"a record is a JSON {type(record).__name__}, not an object")
    version = text_at(record, "eventVersion")
    if not version.startswith("2."):  # AWS raises the major number only for breaking changes
        raise MalformedMessage(f"eventVersion is {shown(version)}, not 2.x")
    name = text_at(record, "eventName")
    if not _CREATED.fullmatch(name):
        raise MalformedMessage(
            f"eventName is {shown(name)}; subscribe the queue to s3:ObjectCreated:* alone"
        )
    return ObjectCreated(
        bucket=bucket_name(text_at(record, "s3.bucket.name")),
        key=object_key(_decoded(text_at(record, "s3.object.key"))),
        version_id=optional_opaque_at(record, "s3.object.versionId"),
        etag=optional_opaque_at(record, "s3.object.eTag"),
        size_bytes=size_at(record, "s3.object.size"),
        sequencer=_sequencer(text_at(record, "s3.object.sequencer")),
        event_time=moment_at(record, "eventTime"),
    )


def _from_eventbridge(event: Mapping[str, Any]) -> ObjectCreated:
    """Parse EventBridge's event; its keys are not encoded, as those of notifications are."""
    return ObjectCreated(
        bucket=bucket_name(text_at(event, "detail.bucket.name")),
        key=object_key(text_at(event, "detail.object.key")),
        version_id=optional_opaque_at(event, "detail.object.version-id"),
        etag=optional_opaque_at(event, "detail.object.etag"),
        size_bytes=size_at(event, "detail.object.size"),
        sequencer=_sequencer(text_at(event, "detail.object.sequencer")),
        event_time=moment_at(event, "time"),
    )


def _decoded(key: str) -> str:
    try:
        return unquote_plus(key, errors="strict")
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"the key {shown(key)} does not decode to UTF-8") from error


def _sequencer(text: str) -> str:
    if not _SEQUENCER.fullmatch(text):
        raise MalformedMessage(f"the sequencer {shown(text)} is not 1 to 32 hexadecimal digits")
    return text.upper()

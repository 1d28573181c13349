"""Parse queue messages: S3's notifications of created objects.

Supported: a native S3 notification, an EventBridge *Object Created* event, either of them
inside an SNS envelope, and the ``s3:TestEvent`` that S3 sends on set-up.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

from bucketsum.errors import MalformedMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_MAX_BYTES: Final = 1024
"""S3's own limit on an object key, in bytes of UTF-8."""

_BUCKET: Final = re.compile(r"(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{3,255}")
"""Up to 255 characters for names from before 2018; dots alone would be a path in a URL."""

_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,32}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_CREATED: Final = re.compile(r"(s3:)?ObjectCreated:\w+")
_OPAQUE: Final = re.compile(r"[!#-~]{1,1024}")  # fits a quoted header and a sort key of the table
_SIZE_MAX_BYTES: Final = 2**63 - 1  # far above S3's limit, which grows, and within the table's


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
    envelope = _parsed(body)
    if envelope.get("Type") == "Notification" and "TopicArn" in envelope:
        envelope = _parsed(_text(envelope, "Message"))
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


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedMessage(f"a JSON {type(value).__name__}, not an object")
    return value


def _from_notification(record: object) -> ObjectCreated:
    if not isinstance(record, dict):
        raise MalformedMessage(f"a record is a JSON {type(record).__name__}, not an object")
    version = _text(record, "eventVersion")
    if not version.startswith("2."):  # AWS raises the major number only for breaking changes
        raise MalformedMessage(f"eventVersion is {_shown(version)}, not 2.x")
    name = _text(record, "eventName")
    if not _CREATED.fullmatch(name):
        raise MalformedMessage(
            f"eventName is {_shown(name)}; subscribe the queue to s3:ObjectCreated:* alone"
        )
    return ObjectCreated(
        bucket=_bucket(_text(record, "s3.bucket.name")),
        key=_key(_decoded(_text(record, "s3.object.key"))),
        version_id=_optional_opaque(record, "s3.object.versionId"),
        etag=_optional_opaque(record, "s3.object.eTag"),
        size_bytes=_size(record, "s3.object.size"),
        sequencer=_sequencer(_text(record, "s3.object.sequencer")),
        event_time=_moment(record, "eventTime"),
    )


def _from_eventbridge(event: Mapping[str, Any]) -> ObjectCreated:
    """Parse EventBridge's event; its keys are not encoded, as those of notifications are."""
    return ObjectCreated(
        bucket=_bucket(_text(event, "detail.bucket.name")),
        key=_key(_text(event, "detail.object.key")),
        version_id=_optional_opaque(event, "detail.object.version-id"),
        etag=_optional_opaque(event, "detail.object.etag"),
        size_bytes=_size(event, "detail.object.size"),
        sequencer=_sequencer(_text(event, "detail.object.sequencer")),
        event_time=_moment(event, "time"),
    )


def _field(source: Mapping[str, Any], path: str) -> object:
    value: object = source
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(source: Mapping[str, Any], path: str) -> str:
    value = _field(source, path)
    if not isinstance(value, str) or not value:
        raise MalformedMessage(f"{path} is {_shown(value)}, not a text")
    if not _is_utf8(value):
        raise MalformedMessage(f"{path} is {_shown(value)}, which is not UTF-8")
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and AWS cannot
        return False
    return True


def _optional_opaque(source: Mapping[str, Any], path: str) -> str | None:
    if _field(source, path) in (None, ""):
        return None
    value = _text(source, path)
    if not _OPAQUE.fullmatch(value):
        raise MalformedMessage(
            f"{path} is {_shown(value)}, not 1 to 1,024 ASCII characters without quotes"
        )
    return value


def _size(source: Mapping[str, Any], path: str) -> int:
    value = _field(source, path)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _SIZE_MAX_BYTES:
        return value
    raise MalformedMessage(f"{path} is {_shown(value)}, not a number of bytes")


def _moment(source: Mapping[str, Any], path: str) -> str:
    text = _text(source, path)
    if not _MOMENT.fullmatch(text):
        raise MalformedMessage(f"{path} is {_shown(text)}, not a moment as 2026-11-21T03:04:05Z")
    return text


def _bucket(name: str) -> str:
    if not _BUCKET.fullmatch(name):  # an ARN would name an access point, perhaps somebody else's
        raise MalformedMessage(f"{_shown(name)} is not a bucket name")
    return name


def _decoded(key: str) -> str:
    try:
        return unquote_plus(key, errors="strict")
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"the key {_shown(key)} does not decode to UTF-8") from error


def _key(key: str) -> str:
    size = len(key.encode())
    if size > KEY_MAX_BYTES:
        raise MalformedMessage(f"the key has {size} bytes, S3 allows {KEY_MAX_BYTES}")
    return key


def _sequencer(text: str) -> str:
    if not _SEQUENCER.fullmatch(text):
        raise MalformedMessage(f"the sequencer {_shown(text)} is not 1 to 32 hexadecimal digits")
    return text.upper()


def _shown(value: object) -> str:
    return ascii(value)[:80]

"""Events of objects: created, deleted, restored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DeletedBy(StrEnum):
    """Cause of a deletion."""

    REQUEST = "request"
    LIFECYCLE = "lifecycle"
    """An expiration rule of the bucket."""


@dataclass(frozen=True, slots=True)
class _Version:
    """The version of an object that an event is about.

    Attributes:
        bucket: Bucket name; never an ARN.
        key: Object key, decoded; 1 to 1,024 bytes of UTF-8.
        version_id: Version of the object, or None if the bucket keeps no versions.
    """

    bucket: str
    key: str
    version_id: str | None


@dataclass(frozen=True, slots=True)
class ObjectCreated(_Version):
    """One created object, as its event describes it.

    Attributes:
        etag: Entity tag without quotes, or None if the event has none.
        sequencer: Upper-case hexadecimal; orders the events of one key.
        event_time: Time at which S3 created the object, ISO 8601 in UTC.
        storage_class: Of a listed object that is not read, as it is archived; None for others.
    """

    etag: str | None
    size_bytes: int
    sequencer: str
    event_time: str
    storage_class: str | None = None

    def message(self, source: str) -> dict[str, Any]:
        """EventBridge's event of the object, from *source*; its keys are not encoded."""
        named = {
            "key": self.key,
            "size": self.size_bytes,
            "etag": self.etag,
            "sequencer": self.sequencer,
            "version-id": self.version_id,
        }
        present = {name: value for name, value in named.items() if value is not None}
        return {
            "detail-type": "Object Created",
            "source": source,
            "time": self.event_time,
            "detail": {"bucket": {"name": self.bucket}, "object": present},
        }


@dataclass(frozen=True, slots=True)
class ObjectDeleted(_Version):
    """A deleted version, or a new delete marker, as its event describes it.

    Attributes:
        is_marker: Whether a delete marker was created, which hides the key's versions.
        sequencer: Upper-case hexadecimal; orders the events of one key.
        event_time: Time of the deletion, ISO 8601 in UTC.
    """

    is_marker: bool
    deleted_by: DeletedBy
    sequencer: str
    event_time: str


@dataclass(frozen=True, slots=True)
class ObjectRestored(_Version):
    """An archived object that can be read for some days, as its event describes it.

    EventBridge's event has no sequencer, and that of a native one is the object's own.

    Attributes:
        etag: Entity tag without quotes, or None if the event has none.
        event_time: Time at which it could be read, ISO 8601 in UTC.
    """

    etag: str | None
    size_bytes: int
    event_time: str


ObjectEvent = ObjectCreated | ObjectDeleted | ObjectRestored

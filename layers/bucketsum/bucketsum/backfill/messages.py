"""Messages of listed objects: the enqueuer writes them, the hasher reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.backfill.selection import MEMBERS, Selection
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
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version
from bucketsum.hashing.ending import Purpose
from bucketsum.table.sequencer import NO_SEQUENCER

OBJECTS_MAX: Final = 10
"""Most objects of one message."""

TOTAL_BYTES_MAX: Final = 64 * 1024 * 1024
"""Most bytes of the objects of one message, so that a retry of it does not read much again."""

_BODY_BYTES_MAX: Final = 60_000  # SQS bills every 64 KB as a request
_RECORD: Final = Selection()
_BACKFILL_ID: Final = re.compile(r"[A-Za-z0-9-]{1,80}")


@dataclass(frozen=True, slots=True)
class ListedObjects:
    """Objects of one message, as a listing describes them.

    Attributes:
        objects: They; their sequencer is `NO_SEQUENCER`, their time is S3's LastModified.
        selection: What is read of recorded objects.
    """

    backfill_id: str
    objects: tuple[ObjectCreated, ...]
    selection: Selection = _RECORD


def listed_objects_in(body: str) -> ListedObjects:
    """The listed objects in one queue message.

    Raises:
        MalformedMessage: A field is missing, of the wrong type or out of range; the text names it.
    """
    message = json_object(body)
    backfill_id = text_at(message, "backfill")
    if not _BACKFILL_ID.fullmatch(backfill_id):
        raise MalformedMessage(f"backfill is {shown(backfill_id)}, not the id of a backfill")
    bucket = bucket_name(text_at(message, "bucket"))
    entries = message.get("objects")
    if not isinstance(entries, list) or not 1 <= len(entries) <= OBJECTS_MAX:
        raise MalformedMessage(
            f"objects is {shown(entries)}, not a list of 1 to {OBJECTS_MAX} objects"
        )
    objects = tuple(listed_object(bucket, entry) for entry in entries)
    return ListedObjects(backfill_id, objects, _selection_in(message))


def _selection_in(message: Mapping[str, Any]) -> Selection:
    purpose, missing = message.get("purpose", Purpose.RECORD), message.get("missing")
    if purpose not in [*Purpose]:
        raise MalformedMessage(f"purpose is {shown(purpose)}, not one of {', '.join(Purpose)}")
    if missing not in (None, MEMBERS, *EXTRA_ALGORITHMS):
        raise MalformedMessage(f"missing is {shown(missing)}, not a digest nor {MEMBERS}")
    older_than = moment_at(message, "older_than") if "older_than" in message else None
    return Selection(Purpose(purpose), older_than, missing)


def listed_object(bucket: str, entry: object) -> ObjectCreated:
    """The object of *entry*, as messages have it; raises the errors of `listed_objects_in`."""
    if not isinstance(entry, dict):
        raise MalformedMessage(
            f"an entry of objects is a JSON {type(entry).__name__}, not an object"
        )
    version_id, key = optional_opaque_at(entry, "version_id"), object_key(text_at(entry, "key"))
    if (etag := optional_opaque_at(entry, "etag")) is None:  # another content could be recorded
        raise MalformedMessage("etag is missing")
    return ObjectCreated(
        bucket=bucket,
        key=key,
        version_id=Version.of_entry(version_id).id if version_id else None,
        etag=etag,
        size_bytes=size_at(entry, "size_bytes"),
        sequencer=NO_SEQUENCER,
        event_time=moment_at(entry, "last_modified"),
        storage_class=optional_opaque_at(entry, "storage_class"),
    )


def bodies_of(
    backfill_id: str, objects: Iterable[ObjectCreated], selection: Selection = _RECORD
) -> Iterator[str]:
    """Messages that hold *objects* of one bucket, in order, as few as the limits allow."""
    batch: list[ObjectCreated] = []
    body_bytes = total_bytes = 0
    for listed in objects:
        entry_bytes = len(_json(_entry_of(listed)))
        full = (
            len(batch) == OBJECTS_MAX
            or body_bytes + entry_bytes > _BODY_BYTES_MAX
            or total_bytes + _read_bytes(listed) > TOTAL_BYTES_MAX
        )
        if batch and full:
            yield body_of(backfill_id, batch, selection)
            batch, body_bytes, total_bytes = [], 0, 0
        batch.append(listed)
        body_bytes += entry_bytes
        total_bytes += _read_bytes(listed)
    if batch:
        yield body_of(backfill_id, batch, selection)


def body_of(
    backfill_id: str, objects: Sequence[ObjectCreated], selection: Selection = _RECORD
) -> str:
    """The message that holds *objects* of one bucket, whatever their number and size."""
    message: dict[str, Any] = {"backfill": backfill_id, "bucket": objects[0].bucket}
    if selection.purpose is not Purpose.RECORD:
        named = asdict(selection)
        message |= {name: value for name, value in named.items() if value is not None}
    return _json(message | {"objects": [_entry_of(listed) for listed in objects]})


def _read_bytes(listed: ObjectCreated) -> int:
    return 0 if listed.storage_class else listed.size_bytes


def _entry_of(listed: ObjectCreated) -> dict[str, Any]:
    entry = {
        "key": listed.key,
        "version_id": listed.version_id,
        "etag": listed.etag,
        "size_bytes": listed.size_bytes,
        "last_modified": listed.event_time,
    }
    return entry | ({"storage_class": listed.storage_class} if listed.storage_class else {})


_json: Final = json.JSONEncoder(separators=(",", ":")).encode
"""ASCII, since SQS refuses some of the characters that a key may have."""

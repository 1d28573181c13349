"""Messages of the long-objects queue: an object and the offset of its next slice.

A message is also an event in EventBridge's format, with unencoded keys, of the object. So the
commands that read the dead-letter queue know its object; the hasher, if it gets one, hands the
object over again, and it continues at its last offset.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import json_object, shown, whole_at
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.hashing.job import Job
from bucketsum.long_objects.progress import Progress, progress_of
from bucketsum.table.archive_settings import Mode
from bucketsum.table.sequencer import comparable_sequencer

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


_SLICE: Final = "slice"
_SOURCE: Final = "bucketsum.long-objects"
_BEGINNING: Final = f'{{"detail-type": "Object Created", "source": "{_SOURCE}"'


def is_slice(body: str) -> bool:
    """Whether the message is one of the long-objects queue."""
    return body.startswith(_BEGINNING)


def progress_in_message(body: str) -> Progress:
    """The progress at the slice in one message of the long-objects queue, the inverse of `body_of`.

    It has neither the states of the digests nor what a worker measured.

    Raises:
        MalformedMessage: It is not such a message; the text names the field.
    """
    events = events_in(body)
    message = json_object(body)
    if len(events) != 1 or not isinstance(message.get(_SLICE), dict):
        raise MalformedMessage(f"a message without {_SLICE}, which names the next slice")
    [created] = events
    if not (isinstance(created, ObjectCreated) and created.etag):
        raise MalformedMessage("a slice message without an object-created event and its entity tag")
    offset, hop = whole_at(message, f"{_SLICE}.offset"), whole_at(message, f"{_SLICE}.hop")
    replaces_etag, mode = message[_SLICE].get("replaces_etag"), message[_SLICE].get("archive_mode")
    purpose = message[_SLICE].get("purpose", Purpose.RECORD)
    is_known = mode in (None, *Mode) and purpose in [*Purpose]
    if not (isinstance(replaces_etag, str | None) and is_known):
        raise MalformedMessage(f"{_SLICE} is {shown(message[_SLICE])}")
    progress = progress_of(Job(created, mode=mode and Mode(mode)))
    at = replace(progress, offset=offset, hop=hop, replaces_etag=replaces_etag)
    return replace(at, purpose=Purpose(purpose))


def body_of(progress: Progress) -> str:
    """The message of the slice that *progress* is at."""
    created = replace(progress.created, sequencer=comparable_sequencer(progress.sequencer))
    next_slice = {
        "offset": progress.offset,
        "hop": progress.hop,
        "replaces_etag": progress.replaces_etag,
        "archive_mode": progress.archive_mode,
        "purpose": progress.purpose,
    }
    return json.dumps({**created.message(_SOURCE), _SLICE: next_slice})


class LongObjectsQueue:
    """The queue of slices."""

    def __init__(self, sqs: SQSClient, url: str) -> None:
        self._sqs = sqs
        self._url = url

    def send(self, progress: Progress) -> None:
        """Send the message of the slice that *progress* is at.

        Raises:
            ClientError: SQS refused.
        """
        self._sqs.send_message(QueueUrl=self._url, MessageBody=body_of(progress))

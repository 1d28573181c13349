"""Rules of the parsers of messages: events, listed objects, slices of long objects."""

import json
from dataclasses import replace
from typing import Final

from tests.fuzz.session import FuzzTarget, check_refusal
from tests.support.events import LANDED, TEST_EVENT, eventbridge, from_sns, message_of, notification

from bucketsum.backfill.messages import bodies_of, listed_objects_in
from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated, ObjectDeleted, ObjectEvent, ObjectRestored
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import body_of, progress_in_message
from bucketsum.long_objects.progress import progress_of
from bucketsum.table.rows import row_key_of
from bucketsum.table.sequencer import NO_SEQUENCER

_LISTED: Final = replace(LANDED, sequencer=NO_SEQUENCER)


def check(data: bytes) -> None:
    """Parse queue messages; only MalformedMessage may be raised.

    Error texts must be short, and a message must stay the same when it is written and read back.
    """
    body = data.decode(errors="replace")
    for parse in (_check_events, _check_listed, _check_slice):
        try:
            parse(body)
        except MalformedMessage as error:
            check_refusal(error)


def _check_events(body: str) -> None:
    events = events_in(body)
    for event in events:
        _check_fields(event)
    created = [event for event in events if isinstance(event, ObjectCreated)]
    if created:
        assert events_in(message_of(*created)) == created, "an event survives its own message"


def _check_fields(event: ObjectEvent) -> None:
    assert 1 <= len(event.key.encode()) <= KEY_MAX_BYTES
    assert not {"/", ":"} & set(event.bucket), "neither a path nor an ARN"
    if isinstance(event, ObjectCreated | ObjectRestored):
        assert 0 <= event.size_bytes < 2**63
        assert event.etag is None or (event.etag.isascii() and '"' not in event.etag)
    if not isinstance(event, ObjectRestored):
        assert 1 <= len(event.sequencer) <= 32
        assert int(event.sequencer, 16) >= 0
    assert event.version_id is None or event.version_id.isascii()


def _check_listed(body: str) -> None:
    listed = listed_objects_in(body)
    for created in listed.objects:
        _check_fields(replace(created, sequencer="0"))
        assert created.etag, "another content could be recorded"
    again = [
        created
        for new in bodies_of(listed.backfill_id, listed.objects)
        for created in listed_objects_in(new).objects
    ]
    assert again == list(listed.objects)


def _check_slice(body: str) -> None:
    message = progress_in_message(body)
    created = message.created
    job = Job(replace(created, etag=created.etag or "x"))
    progress = replace(progress_of(job), offset=message.offset, hop=message.hop)
    again = progress_in_message(body_of(progress))
    assert row_key_of(again.created) == row_key_of(created)
    assert (again.offset, again.hop) == (message.offset, message.hop)
    [event] = events_in(body_of(progress))
    assert not isinstance(event, ObjectDeleted)


def _native(name: str) -> bytes:
    envelope = notification()
    envelope["Records"][0]["eventName"] = name
    return json.dumps(envelope).encode()


TARGET: Final = FuzzTarget(
    "notifications",
    check,
    (
        *map(_native, ("ObjectCreated:Put", "ObjectRemoved:Delete", "ObjectRestore:Completed")),
        json.dumps(eventbridge()).encode(),
        json.dumps(from_sns(notification(LANDED, LANDED))).encode(),
        json.dumps(TEST_EVENT).encode(),
        next(bodies_of("20261121T100000-3f9a1c", [_LISTED] * 3)).encode(),
        body_of(replace(progress_of(Job(LANDED)), offset=128, hop=1)).encode(),
    ),
    quick_cases=4000,
)

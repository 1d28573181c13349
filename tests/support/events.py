"""Messages of the queue as AWS sends them."""

import json
from typing import Any, Final
from urllib.parse import quote_plus

from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated

BUCKET: Final = "inbox"

TEST_EVENT: Final = {
    "Service": "Amazon S3",
    "Event": "s3:TestEvent",
    "Time": "2026-11-20T10:00:00.000Z",
    "Bucket": BUCKET,
    "RequestId": "5582815E1AEA5ADF",
    "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR",
}

LANDED: Final = ObjectCreated(
    bucket=BUCKET,
    key="photos/a b.jpg",
    version_id="096fKKXTRTtl3on89fVO.nfljtsv6qko",
    etag="d41d8cd98f00b204e9800998ecf8427e",
    size_bytes=1024,
    sequencer="0055AED6DCD90281E5",
    event_time="2026-11-20T10:00:00.000Z",
)


def notification(*objects: ObjectCreated) -> dict[str, Any]:
    """The notification that S3 sends of *objects*, or of `LANDED`."""
    return {"Records": [_record_of(created) for created in objects or (LANDED,)]}


def message_of(*objects: ObjectCreated) -> str:
    """The same as a message's body."""
    return json.dumps(notification(*objects))


def _record_of(created: ObjectCreated) -> dict[str, Any]:
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventTime": created.event_time,
        "eventName": "ObjectCreated:Put",
        "s3": {
            "bucket": {"name": created.bucket, "arn": f"arn:aws:s3:::{created.bucket}"},
            "object": {
                "key": quote_plus(created.key, safe="/"),
                "size": created.size_bytes,
                "eTag": created.etag,
                "versionId": created.version_id,
                "sequencer": created.sequencer,
            },
        },
    }


def created_in(body: str) -> list[ObjectCreated]:
    """The events of a message that has created objects alone."""
    events = events_in(body)
    created = [event for event in events if isinstance(event, ObjectCreated)]
    assert created == events
    return created


def eventbridge() -> dict[str, Any]:
    """An EventBridge event of `LANDED`."""
    return {
        "version": "0",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "time": LANDED.event_time,
        "detail": {
            "bucket": {"name": LANDED.bucket},
            "object": {
                "key": LANDED.key,
                "size": LANDED.size_bytes,
                "etag": LANDED.etag,
                "version-id": LANDED.version_id,
                "sequencer": LANDED.sequencer,
            },
            "reason": "PutObject",
        },
    }


def from_sns(message: object) -> dict[str, Any]:
    """*message* in the envelope that SNS puts around it."""
    return {
        "Type": "Notification",
        "MessageId": "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
        "TopicArn": "arn:aws:sns:us-east-1:111122223333:arrivals",
        "Subject": "Amazon S3 Notification",
        "Message": json.dumps(message),
    }


def with_field(envelope: dict[str, Any], path: str, value: object) -> str:
    """*envelope* as a body, with one field changed; a value of ``...`` leaves the field out."""
    *parents, name = path.split(".")
    place: Any = envelope
    for parent in parents:
        place = place[int(parent) if parent.isdigit() else parent]
    if value is ...:
        del place[name]
    else:
        place[name] = value
    return json.dumps(envelope)

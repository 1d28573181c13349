"""Queue messages as AWS sends them, and the arrival that all of them name."""

from __future__ import annotations

import json
from typing import Any

from bucketsum.notifications import ObjectCreated

TEST_EVENT = {
    "Service": "Amazon S3",
    "Event": "s3:TestEvent",
    "Time": "2026-11-20T10:00:00.000Z",
    "Bucket": "inbox",
    "RequestId": "5582815E1AEA5ADF",
    "HostId": "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR",
}

LANDED = ObjectCreated(
    bucket="inbox",
    key="photos/a b.jpg",
    version_id="096fKKXTRTtl3on89fVO.nfljtsv6qko",
    etag="d41d8cd98f00b204e9800998ecf8427e",
    size_bytes=1024,
    sequencer="0055AED6DCD90281E5",
    event_time="2026-11-20T10:00:00.000Z",
)


def notification() -> dict[str, Any]:
    """An S3 notification of `LANDED`, as S3 sends it."""
    return {
        "Records": [
            {
                "eventVersion": "2.1",
                "eventSource": "aws:s3",
                "eventTime": LANDED.event_time,
                "eventName": "ObjectCreated:Put",
                "s3": {
                    "bucket": {"name": LANDED.bucket, "arn": "arn:aws:s3:::inbox"},
                    "object": {
                        "key": "photos/a+b.jpg",
                        "size": LANDED.size_bytes,
                        "eTag": LANDED.etag,
                        "versionId": LANDED.version_id,
                        "sequencer": LANDED.sequencer,
                    },
                },
            }
        ]
    }


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

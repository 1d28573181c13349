"""What AWS tells the hasher: S3's notifications, and Lambda of its invocation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus

if TYPE_CHECKING:
    from bucketsum.notifications import ObjectCreated

BUCKET: Final = "inbox"
TEST_EVENT: Final = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": BUCKET})

_LONG_MS: Final = 900_000


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda tells a function of its invocation."""

    remaining_ms: int = _LONG_MS
    function_name: str = "hasher"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:hasher"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """How long the invocation may still take."""
        return self.remaining_ms


def message_of(*arrivals: ObjectCreated) -> str:
    """The notification that S3 sends of *arrivals*."""
    return json.dumps({"Records": [_record_of(arrival) for arrival in arrivals]})


def _record_of(arrival: ObjectCreated) -> dict[str, Any]:
    thing = {
        "key": quote_plus(arrival.key),
        "size": arrival.size_bytes,
        "eTag": arrival.etag,
        "versionId": arrival.version_id,
        "sequencer": arrival.sequencer,
    }
    return {
        "eventVersion": "2.1",
        "eventName": "ObjectCreated:Put",
        "eventTime": arrival.event_time,
        "s3": {"bucket": {"name": arrival.bucket}, "object": thing},
    }

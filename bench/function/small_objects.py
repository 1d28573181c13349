"""A hundred small objects, and the messages that announce them.

Their sizes have the minimum, maximum and average of a hundred JPEG 2000 images of a digital library
(112,336 to 10,924,380 bytes, 1,562,048 on average) and are distributed exponentially in between.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.sandbox.objects import BUCKET, StoredObject, make_object

COUNT: Final = 100
SMALLEST_BYTES: Final = 112_336
LARGEST_BYTES: Final = 10_924_380
AVERAGE_BYTES: Final = 1_562_048


_STEEPNESS: Final = 7.64523169
"""Of the distribution, so that the average comes out."""


def sizes() -> list[int]:
    """The same hundred sizes in every run; neighbours differ."""
    span, most = LARGEST_BYTES - SMALLEST_BYTES, math.expm1(_STEEPNESS)
    ordered = [
        SMALLEST_BYTES + round(span * math.expm1(_STEEPNESS * rank / (COUNT - 1)) / most)
        for rank in range(COUNT)
    ]
    ordered[COUNT // 2] += COUNT * AVERAGE_BYTES - sum(ordered)
    return [ordered[index * 37 % COUNT] for index in range(COUNT)]


def make(root: Path) -> list[StoredObject]:
    """Create the objects under *root*, a folder of buckets."""
    return [
        make_object(root, size, name=f"small-{number:03}.jp2", seed=number)
        for number, size in enumerate(sizes())
    ]


def events(
    root: Path, objects: Iterable[StoredObject], batch_size: int
) -> Iterator[dict[str, Any]]:
    """Lambda's events for an event source with this batch size."""
    messages = [_message(root, number, known) for number, known in enumerate(objects)]
    for first in range(0, len(messages), batch_size):
        yield {"Records": messages[first : first + batch_size]}


def _message(root: Path, number: int, known: StoredObject) -> dict[str, Any]:
    stat = (root / BUCKET / known.key).stat()
    created = {
        "key": known.key,
        "size": known.size_bytes,
        "eTag": f"{int(stat.st_mtime):x}-{stat.st_size:x}",  # nginx's
        "sequencer": f"{number:016X}",
    }
    record = {
        "eventVersion": "2.1",
        "eventName": "ObjectCreated:Put",
        "eventTime": "2026-11-01T00:00:00.000Z",
        "s3": {"bucket": {"name": BUCKET}, "object": created},
    }
    return {
        "messageId": f"message-{number}",
        "receiptHandle": f"handle-{number}",
        "body": json.dumps({"Records": [record]}),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:arrivals",
    }

"""A hundred small objects, and the messages that announce them.

Their sizes are those of the lab's transfers, as of the JPEG 2000 images of a digital library.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.sandbox.objects import BUCKET, StoredObject, make_object
from bucketsum_lab.workloads.transfer.data_set import file_sizes
from bucketsum_lab.workloads.transfer.model import FILE_BYTES_MEAN

COUNT: Final = 100


def make(root: Path) -> list[StoredObject]:
    """Create the objects under *root*, a folder of buckets."""
    return [
        make_object(root, size, name=f"small-{number:03}.jp2", seed=number)
        for number, size in enumerate(file_sizes(COUNT * FILE_BYTES_MEAN))
    ]


def events(
    root: Path, objects: Iterable[StoredObject], batch_size: int, key: str = ""
) -> Iterator[dict[str, Any]]:
    """Lambda's events for an event source with this batch size; *key* is how their keys begin."""
    messages = [_message(root, number, known, key) for number, known in enumerate(objects)]
    for first in range(0, len(messages), batch_size):
        yield {"Records": messages[first : first + batch_size]}


def _message(root: Path, number: int, known: StoredObject, key: str) -> dict[str, Any]:
    stat = (root / BUCKET / known.key).stat()
    created = {
        "key": f"{key}{known.key}",
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

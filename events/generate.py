"""Generate the sample events with `sam local generate-event`, corrected to match AWS.

`make events` runs this command without options. With `--bucket`, the command first uploads the
objects that the events refer to, and writes events that name this bucket and the versions of the
objects there.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus
from uuid import UUID

import boto3

from events import objects

_ACCOUNT: Final = "123456789012"
_REGION: Final = "us-east-1"
_MALFORMED: Final = "this is not a notification"


def write_events(into: Path, bucket: str, versions: Mapping[str, str]) -> list[Path]:
    """Write every event: pretty, sorted, and the same bytes for the same arguments."""
    into.mkdir(parents=True, exist_ok=True)
    bodies = _bodies(bucket, versions)
    [template] = _generated("sqs", "receive-message", "--queue-name", "bucketsum-ArrivalsQueue")
    batch = [_message(template, name, body) for name, body in bodies.items()]
    events = dict(zip(bodies, ([message] for message in batch), strict=True)) | {"batch": batch}
    paths = []
    for name, messages in events.items():
        path = into / f"sqs-{name}.json"
        text = json.dumps({"Records": messages}, indent=2, sort_keys=True, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def _bodies(bucket: str, versions: Mapping[str, str]) -> dict[str, str]:
    """Message bodies by kind of sender."""
    [record] = _generated("s3", "put", "--bucket", bucket, "--region", _REGION)

    def notification(example: objects.ExampleObject) -> str:
        return _json({"Records": [_notified(record, example, versions[example.key])]})

    return {
        "s3-put": notification(objects.PUT),
        "s3-multipart": notification(objects.MULTIPART),
        "s3-awkward-key": notification(objects.AWKWARD),
        "s3-test-event": _json(_test_event(bucket)),
        "eventbridge": _json(_eventbridge(bucket, versions[objects.FROM_EVENTBRIDGE.key])),
        "sns-s3": _json(_sns(notification(objects.FROM_SNS))),
        "malformed": _MALFORMED,
    }


@cache
def _generated(*arguments: str) -> list[dict[str, Any]]:
    """The records of one event of `sam local generate-event`."""
    sam = Path(sys.executable).with_name("sam")
    done = subprocess.run(  # noqa: S603 - this environment's SAM, with arguments from here
        [sam, "local", "generate-event", *arguments],
        check=True,
        capture_output=True,
        env=os.environ | {"SAM_CLI_TELEMETRY": "0"},
    )
    records: list[dict[str, Any]] = json.loads(done.stdout)["Records"]
    return records


def _notified(
    record: Mapping[str, Any], example: objects.ExampleObject, version_id: str
) -> dict[str, Any]:
    """Correct a generated record.

    SAM writes version 2.0, a key with ``%20`` for a space, no version id, and the same size,
    entity tag and sequencer for every object. Live events form-encode the key. Their version was
    2.1 for years; S3's manual has since shown 2.4 to 2.6, example number for all kinds of events,
    which differ by added fields only. So both a 2.1 and a 2.6 are here.
    """
    how = "CompleteMultipartUpload" if example.parts else "Put"
    s3_object = {
        "key": quote_plus(example.key, safe="/"),
        "size": example.size_bytes,
        "eTag": example.etag,
        "versionId": version_id,
        "sequencer": example.sequencer,
    }
    return {
        **record,
        "eventVersion": "2.6" if example.parts else "2.1",
        "eventTime": _iso(),
        "eventName": f"ObjectCreated:{how}",
        "s3": {**record["s3"], "object": s3_object},
    }


def _test_event(bucket: str) -> dict[str, Any]:
    """S3's message when notifications are configured; SAM cannot generate it."""
    return {
        "Service": "Amazon S3",
        "Event": "s3:TestEvent",
        "Time": _iso(),
        "Bucket": bucket,
        "RequestId": "EXAMPLE123456789",
        "HostId": "EXAMPLE123/5678abcdefghijklambdaisawesome/mnopqrstuvwxyzABCDEFGH",
    }


def _eventbridge(bucket: str, version_id: str) -> dict[str, Any]:
    """An S3 event from EventBridge, which SAM lacks: raw keys, shorter sequencers."""
    example = objects.FROM_EVENTBRIDGE
    return {
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "account": _ACCOUNT,
        "time": _iso("seconds"),
        "region": _REGION,
        "resources": [f"arn:aws:s3:::{bucket}"],
        "detail": {
            "version": "0",
            "event-version": "1.1",  # of the schema, while "version" is the envelope's
            "bucket": {"name": bucket},
            "object": {
                "key": example.key,
                "size": example.size_bytes,
                "etag": example.etag,
                "version-id": version_id,
                "sequencer": example.sequencer.removeprefix("00").lower(),
            },
            "request-id": "EXAMPLE123456789",
            "requester": _ACCOUNT,
            "source-ip-address": "127.0.0.1",
            "reason": "PutObject",
        },
    }


def _sns(message: str) -> dict[str, Any]:
    """A notification as SNS sends it to a queue; SAM's is the one for Lambda."""
    [record] = _generated("sns", "notification", "--subject", "Amazon S3 Notification")
    sns = {**record["Sns"], "Message": message, "Timestamp": _iso()}
    del sns["MessageAttributes"]
    return {name.replace("Url", "URL"): value for name, value in sns.items()}


def _message(generated: Mapping[str, Any], name: str, body: str) -> dict[str, Any]:
    """A message with its own ID: a batch's failures are reported by ID."""
    sent_ms = int(objects.WHEN.timestamp() * 1000) + 400
    attributes = {
        **generated["attributes"],
        "SentTimestamp": str(sent_ms),
        "ApproximateFirstReceiveTimestamp": str(sent_ms + 3),
    }
    return {
        **generated,
        "messageId": str(UUID(bytes=hashlib.shake_128(name.encode()).digest(16))),
        "body": body,
        "md5OfBody": objects.md5(body.encode()).hex(),
        "attributes": attributes,
    }


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _iso(precision: str = "milliseconds") -> str:
    return objects.WHEN.isoformat(timespec=precision).replace("+00:00", "Z")


def main() -> None:
    """Read the command line and write the events."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, metavar="FOLDER",
                        help="folder to write to; by default the folder events")  # fmt: skip
    parser.add_argument("--bucket", metavar="NAME",
                        help="upload the objects to this bucket, which must have "
                             "versioning")  # fmt: skip
    options = parser.parse_args()
    bucket, versions = objects.BUCKET, objects.EXAMPLE_VERSIONS
    if options.bucket:
        bucket, versions = options.bucket, objects.upload(boto3.client("s3"), options.bucket)
    for path in write_events(options.into, bucket, versions):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()

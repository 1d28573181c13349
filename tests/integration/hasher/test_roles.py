"""The roles of hasher, slicer and enqueuer: each recorded call is allowed, and no other."""

import gzip
import hashlib
import json
import os
from typing import Any, Final

import boto3
import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.test_archives import ARCHIVES
from tests.integration.hasher.test_long_objects import SHORT, slicer_of, slices
from tests.support.events import BUCKET, message_of
from tests.support.lambda_invocation import Context, loaded
from tests.support.recorded_calls import CallRecorder, Permission, role_permissions
from tests.support.sam_template import create_table
from tests.support.zip_maker import zip_of

from bucketsum.backfill import rest
from bucketsum.backfill.backfill_records import Backfill, BackfillStatus
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.table import BackfillsTable
from bucketsum.checksums.stored import StoredChecksum
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import body_of
from bucketsum.long_objects.progress import PARTITION, progress_of
from bucketsum.s3 import stored_checksums

NOT_RECORDED: Final = {
    # S3 answers 404 instead of 403 to a reader that may list:
    Permission("s3:ListBucket", "bucket"),
    Permission("s3:ListBucketVersions", "bucket"),
    # Lambda's poller asks with the function's role:
    Permission("sqs:GetQueueAttributes", "ArrivalsQueue"),
    Permission("sqs:GetQueueAttributes", "BackfillQueue"),
    Permission("sqs:GetQueueAttributes", "LongObjectsQueue"),
    # The test delivers messages of the other queue, with the same code:
    Permission("sqs:ChangeMessageVisibility", "BackfillQueue"),
    # While DynamoDB throttles, a message is sent again (tests/unit/test_fates.py); moto never does:
    Permission("sqs:SendMessage", "ArrivalsQueue"),
    Permission("sqs:SendMessage", "BackfillQueue"),
}
MOMENT: Final = "2026-11-20T10:00:00.000Z"


@pytest.fixture
def recorder(stack: HasherStack, monkeypatch: pytest.MonkeyPatch) -> CallRecorder:
    """Records calls; every test of this file also has the table of backfills.

    S3's checksums are compared, and those of parts, whose list needs a permission: moto has none.
    """
    create_table(stack.dynamodb, "BackfillsTable", "backfills")
    monkeypatch.setenv("COMPARE_CHECKSUMS", "yes")
    in_parts = StoredChecksum("crc32", bytes(4), 2)
    monkeypatch.setattr(stored_checksums, "stored_in", lambda _headers: in_parts)
    return CallRecorder(monkeypatch)


def deleted(created: ObjectCreated) -> str:
    """The message of its deletion."""
    body = json.loads(message_of(created))
    body["Records"][0]["eventName"] = "ObjectRemoved:Delete"
    body["Records"][0]["s3"]["object"]["sequencer"] = "FF"
    return json.dumps(body)


def restored(created: ObjectCreated) -> str:
    """The message of its restore."""
    body = json.loads(message_of(created))
    body["Records"][0]["eventName"] = "ObjectRestore:Completed"
    return json.dumps(body)


def test_the_hasher_calls_what_its_role_allows(stack: HasherStack, recorder: CallRecorder) -> None:
    """Each kind of event and each outcome, recorded; in a stack of default parameters."""
    url = stack.sqs.create_queue(QueueName="LongObjectsQueue")["QueueUrl"]
    small = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128", "ARCHIVE_MAX_MEMBERS": "1000"}
    app = stack.load(**ARCHIVES | small, LONG_OBJECTS_QUEUE_URL=url)
    recorder.record_handler(app)
    listed = [stack.put("listed", b"x")]
    looked_up = stack.put("large", bytes(17 * 1024 * 1024))
    stack.deliver(message_of(stack.put("small", b"x")), *bodies_of("b", listed), "malformed")
    stack.deliver(message_of(looked_up), restored(looked_up))
    for content in (b"1", b"2"):  # an overwritten archive's rows are looked for
        stack.deliver(message_of(stack.put("a.zip", zip_of({"m": content}))))
    stack.deliver(deleted(looked_up))
    stack.deliver(message_of(stack.put("long", bytes(3_000_000))), context=SHORT)
    stack.keep_versions()
    stack.deliver(message_of(stack.put("small", b"y")))
    stack.deliver(message_of(stack.put("late", b"z")), context=Context(remaining_ms=1))

    sent_again = {  # while DynamoDB throttles
        Permission("sqs:SendMessage", queue) for queue in ("ArrivalsQueue", "BackfillQueue")
    }
    assert recorder.calls == role_permissions("HasherRole") - NOT_RECORDED - sent_again


def test_the_slicer_calls_what_its_role_allows(
    stack: HasherStack, recorder: CallRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slices from the first to the last, of which one has to be tried again."""
    url = stack.sqs.create_queue(QueueName="LongObjectsQueue")["QueueUrl"]
    stack.load(LONG_OBJECTS_QUEUE_URL=url, AWS_LAMBDA_FUNCTION_MEMORY_SIZE="128")
    content = bytes(3_000_000)
    stack.deliver(message_of(stack.put("long", content)), context=SHORT)
    stack.keep_versions()
    stack.deliver(*bodies_of("run", [stack.put("long", content)]), context=SHORT)
    app = slicer_of(url, monkeypatch, "1600000")
    recorder.record_handler(app)
    stack.sqs.send_message(QueueUrl=url, MessageBody="malformed")
    without_progress = progress_of(Job(stack.put("k", content)))
    stack.sqs.send_message(QueueUrl=url, MessageBody=body_of(without_progress))

    assert slices(stack, app, url) == 8

    allowed = role_permissions("SlicerRole") - NOT_RECORDED
    assert allowed - recorder.calls == {
        Permission("sqs:ChangeMessageVisibility", "LongObjectsQueue"),  # of a failed slice
        Permission("dynamodb:Query", "DigestsTable"),  # of an object that differs
    }
    assert recorder.calls <= allowed
    for action in ("dynamodb:UpdateItem", "dynamodb:DeleteItem"):
        assert recorder.partitions[action] == {PARTITION}


DOUBTS: Final = {
    "s3:GetObject", "s3:GetObjectVersion", "s3:GetObjectAttributes",
    "s3:GetObjectVersionAttributes", "s3:ListBucket", "sns:Publish", "s3:PutObject",
    "states:DescribeExecution",
}  # fmt: skip
"""Of HEADs of rows that nobody read, of where reports go, and of schedules."""


def actions_of(
    app: Any,  # noqa: ANN401 - a module
    stack: HasherStack,
    step: dict[str, Any],
) -> list[str]:
    """The actions of a run, whose messages nobody reads: it rests all the same."""
    actions = []
    while events := app.lambda_handler(step, Context())["events"]:
        url = os.environ["BACKFILL_QUEUE_URL"]
        for message in stack.sqs.receive_message(QueueUrl=url).get("Messages", ()):
            stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        for event in events:
            actions.append(event["action"])
            assert not app.lambda_handler(event, Context())["parts"]
    return actions


def put_inventory(stack: HasherStack) -> None:
    """Put an inventory of one object."""
    rows = gzip.compress(f'"k","1","{MOMENT}","{hashlib.md5(b"x").hexdigest()}"\n'.encode())
    stack.put("rows.csv.gz", rows)
    file = {"key": "rows.csv.gz", "size": len(rows), "MD5checksum": hashlib.md5(rows).hexdigest()}
    manifest = {"sourceBucket": BUCKET, "fileFormat": "CSV", "files": [file],
                "fileSchema": "Key, Size, LastModifiedDate, ETag"}  # fmt: skip
    stack.put("manifest.json", json.dumps(manifest).encode())


@pytest.mark.parametrize("versions", [False, True])
def test_the_enqueuer_calls_what_its_role_allows(
    stack: HasherStack, recorder: CallRecorder, monkeypatch: pytest.MonkeyPatch, *, versions: bool
) -> None:
    """A listing and an inventory, each from the plan to the end."""
    if versions:
        stack.keep_versions()
    url = stack.sqs.create_queue(QueueName="BackfillQueue")["QueueUrl"]
    for name, value in (
        ("BACKFILL_QUEUE_URL", url), ("BACKFILL_CONCURRENCY", "10"),
        ("BACKFILLS_TABLE", "backfills"), ("DIGESTS_TABLE", "digests"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(rest, "QUIET_SECONDS", 0)
    stack.put("k", b"x")
    put_inventory(stack)
    app = loaded("enqueuer")
    recorder.record_handler(app)
    table = BackfillsTable(boto3.client("dynamodb"), "backfills")
    for name, inventory in (("listing", None), ("inventory", f"s3://{BUCKET}/manifest.json")):
        table.record(Backfill(name, BUCKET, BackfillStatus.RUNNING, MOMENT, inventory=inventory))
        step = {"action": "step", "backfill_id": name}
        if inventory and versions:
            with pytest.raises(Exception, match="keeps versions"):
                app.lambda_handler(step, Context())
            continue
        assert actions_of(app, stack, step) == ["enqueue", "settle", "account", "report"]

    of_inventories = Permission("s3:GetObject", "objects")  # with InventoryBucketArn alone
    of_schedules = Permission("cloudformation:GetTemplate", "objects")  # with VerifySchedule alone
    of_doubts = {p for p in role_permissions("EnqueuerRole") if p.action in DOUBTS} | {
        Permission(f"dynamodb:{operation}", "DigestsTable") for operation in ("GetItem", "Query")
    }
    allowed = role_permissions("EnqueuerRole") | {of_inventories}
    assert recorder.calls <= allowed
    assert allowed - recorder.calls <= of_doubts | {of_schedules}

"""Messages that a principal of the account forges: no digest is ever wrong, rows can be repaired.

docs/explanation/security.md has the damage that remains.
"""

import json
from dataclasses import replace
from typing import Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import arrival_of
from tests.integration.hasher.test_long_objects import slicer_of, slices
from tests.support.events import BUCKET, message_of
from tests.support.s3_server import HostileS3
from tests.support.sam_template import create_table
from tests.support.sha1 import sha1_of

from bucketsum.backfill.messages import bodies_of
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import body_of
from bucketsum.long_objects.progress import progress_of
from bucketsum.table.sequencer import NO_SEQUENCER

HIGHEST: Final = "F" * 32
LONG_AFTER: Final = "9999-12-31T23:59:59Z"


@pytest.fixture(autouse=True)
def _backfills(stack: HasherStack) -> None:
    create_table(stack.dynamodb, "BackfillsTable", "backfills")


def repair(stack: HasherStack, created: ObjectCreated) -> None:
    """Delete the row, then backfill the bucket, as docs/explanation/security.md describes."""
    key = {"object": {"S": f"{BUCKET}/{created.key}"}, "entry": {"S": "null"}}
    stack.dynamodb.delete_item(TableName="digests", Key=key)
    listed = replace(created, sequencer=NO_SEQUENCER)
    assert stack.deliver(*bodies_of("repair", [listed])) == []


def test_a_forged_sequencer_freezes_a_right_row_until_it_is_repaired(stack: HasherStack) -> None:
    """Without versions, no real event is newer; the row's digest is of the bytes that were read."""
    first = stack.put("k", b"first")
    forged = replace(first, sequencer=HIGHEST, event_time=LONG_AFTER)
    stack.deliver(message_of(forged))
    second = stack.put("k", b"second")
    stack.deliver(message_of(second))
    [row] = stack.rows().values()
    assert (row["sha1"], row["etag"], row["size_bytes"]) == (sha1_of(b"first"), first.etag, "5")

    repair(stack, second)
    assert stack.digests() == {"k": sha1_of(b"second")}


def test_a_forged_deletion_hides_a_right_row_until_it_is_repaired(stack: HasherStack) -> None:
    """The row keeps its digest, and is marked; no real event is newer."""
    created = stack.put("k", b"content")
    stack.deliver(message_of(created))
    forged = json.loads(message_of(replace(created, sequencer=HIGHEST)))
    forged["Records"][0]["eventName"] = "ObjectRemoved:Delete"
    stack.deliver(json.dumps(forged))
    [row] = stack.rows().values()
    assert (row["sha1"], row["deletion_sequencer"]) == (sha1_of(b"content"), HIGHEST)

    repair(stack, created)
    [row] = stack.rows().values()
    assert row["sha1"] == sha1_of(b"content")
    assert "deletion_sequencer" not in row


def test_with_versions_a_forged_sequencer_reaches_its_version_alone(stack: HasherStack) -> None:
    """Each version has a row of its own."""
    stack.keep_versions()
    first, second = stack.put("k", b"first"), stack.put("k", b"second")
    stack.deliver(message_of(replace(first, sequencer=HIGHEST)))
    stack.deliver(message_of(second))
    assert {row["sha1"] for row in stack.rows().values()} == {sha1_of(b"first"), sha1_of(b"second")}


def test_a_forged_size_records_nothing(stack: HasherStack) -> None:
    """S3 sends another number of bytes than the event names: the message fails."""
    message = message_of(replace(stack.put("k", b"content"), size_bytes=1))
    assert stack.deliver(message) == [message]
    assert stack.rows() == {}


@pytest.mark.parametrize("listed", [False, True])
def test_a_forged_entity_tag_records_nothing(stack: HasherStack, *, listed: bool) -> None:
    """S3 compares it before it sends a byte; in the backfill queue as in the arrivals queue."""
    forged = replace(stack.put("k", b"content"), etag="0" * 32, sequencer=HIGHEST)
    messages = bodies_of("b", [replace(forged, sequencer="")]) if listed else [message_of(forged)]
    assert stack.deliver(*messages) == []
    assert stack.rows() == {}


def test_a_message_without_its_version_makes_no_row_of_version_null(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """There is none: the bytes are those of another version."""
    hostile_stack.load()
    path = f"{BUCKET}/k"
    created = arrival_of(hostile.put(path, b"content", "v1"), path)
    assert hostile_stack.deliver(message_of(replace(created, version_id=None))) == []
    assert hostile_stack.rows() == {}
    assert hostile_stack.deliver(message_of(created)) == []
    assert list(hostile_stack.rows()) == [("k", "v1")]


def test_a_forged_slice_of_no_long_object_skips_no_byte(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the table has states: the object begins at its first byte, whatever the offset is."""
    url = stack.sqs.create_queue(QueueName="LongObjectsQueue")["QueueUrl"]
    stack.load(LONG_OBJECTS_QUEUE_URL=url)
    created = stack.put("k", b"content")
    forged = replace(progress_of(Job(created)), offset=128, hop=1)
    stack.sqs.send_message(QueueUrl=url, MessageBody=body_of(forged))
    assert slices(stack, slicer_of(url, monkeypatch), url) == 2  # it begins, and it ends
    [row] = stack.rows().values()
    assert row["sha1"] == sha1_of(b"content")


def test_a_hostile_key_stays_in_its_log_line(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Line breaks and escapes are JSON's: no key can forge a line, or a row of another key."""
    key = 'a\n{"level":"INFO","message":"object"}\r\x1b[2J/../"b'
    stack.deliver(message_of(stack.put(key, b"content")))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["key"] for line in lines if line.get("message") == "object"] == [key]
    assert stack.digests() == {key: sha1_of(b"content")}

"""The hasher through its handler: objects that can be hashed, batches, log lines and metrics."""

from dataclasses import replace
from threading import Barrier
from unittest.mock import Mock

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.integration.hasher.test_archives import ARCHIVES
from tests.support.events import BUCKET, message_of
from tests.support.lambda_invocation import Context
from tests.support.log_lines import metrics_in, objects_in
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import zip_of

from bucketsum.backfill.messages import bodies_of
from bucketsum.hashing import resources
from bucketsum.hashing.small_objects import READS_MAX
from bucketsum.invocation import clients
from bucketsum.table.sequencer import NO_SEQUENCER

KEYS = [f"small-{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("a.bin", b"content"),
        ("empty", b""),
        ("dir/with space+plus%25 ünïcode 🙂.bin", b"x" * 100_000),
    ],
)
def test_what_lands_is_hashed(stack: HasherStack, key: str, body: bytes) -> None:
    """Outcome hashed: a row under the decoded key, with the digest that hashlib computes."""
    assert stack.deliver(message_of(stack.put(key, body))) == []
    row = stack.rows()[key, "null"]
    assert (row["object"], row["status"]) == (f"{BUCKET}/{key}", "hashed")
    assert (row["sha1"], row["size_bytes"]) == (sha1_of(body), str(len(body)))
    assert (row["chunk_bytes"], row["streams"], row["memory_mb"]) == ("65536", "1", "512")


def body_of(key: str) -> bytes:
    """The content of the object at *key*."""
    return key.encode() * 1000


def test_a_new_small_object_is_one_get_and_one_write(
    hostile_stack: HasherStack, hostile: HostileS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither S3 nor DynamoDB is asked for anything that is not needed, and SQS for nothing.

    In a function's usual environment, not even botocore's session is made at the start. (It is in
    the tests when a row is written, because moto answers botocore alone.)
    """
    for client in ("_s3", "_sqs"):
        monkeypatch.setattr(resources, client, Mock(side_effect=AssertionError))
    with monkeypatch.context() as start:
        start.setattr(clients, "_session", None)
        hostile_stack.load()
    messages = [message_of(put_at(hostile, key, body_of(key))) for key in KEYS]
    assert hostile_stack.deliver(*messages) == []
    assert sorted(request.path for request in hostile.requests) == [f"inbox/{key}" for key in KEYS]
    assert hostile_stack.requests == ("PutItem",) * len(KEYS)
    assert hostile_stack.digests() == {key: sha1_of(body_of(key)) for key in KEYS}


def test_connections_are_used_again(hostile_stack: HasherStack, hostile: HostileS3) -> None:
    """A second batch finds open what the first has opened, and opens none."""
    together = Barrier(READS_MAX, timeout=60)
    hostile.script(*[Fault(pause=lambda _: together.wait())] * READS_MAX)
    for _ in range(2):
        messages = [message_of(put_at(hostile, key, body_of(key))) for key in KEYS]
        assert hostile_stack.deliver(*messages) == []
    assert hostile.connections == READS_MAX


def test_listed_objects_are_read_together_too(
    hostile_stack: HasherStack, hostile: HostileS3
) -> None:
    """A backfill's small objects take the same path, but none whose row exists is read again."""
    together = Barrier(READS_MAX, timeout=60)
    hostile.script(*[Fault(pause=lambda _: together.wait())] * READS_MAX)
    listed = [replace(put_at(hostile, key, body_of(key)), sequencer=NO_SEQUENCER) for key in KEYS]
    for _ in range(2):
        assert hostile_stack.deliver(*bodies_of("backfill", listed)) == []
        assert hostile_stack.digests() == {key: sha1_of(body_of(key)) for key in KEYS}
    assert sorted(request.path for request in hostile.requests) == [f"inbox/{key}" for key in KEYS]


def test_each_object_has_its_line_and_its_share_of_the_metrics(
    hostile_stack: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Threads mix nothing up: lines in the messages' order, each with its own digest and size."""
    messages = [message_of(put_at(hostile, key, body_of(key))) for key in KEYS]
    hostile_stack.deliver(*messages)
    output = capsys.readouterr().out
    hashed = [(line["key"], line["sha1"], line["size_bytes"]) for line in objects_in(output)]
    assert hashed == [(key, sha1_of(body_of(key)), len(body_of(key))) for key in KEYS]
    invocations = {line["function_request_id"] for line in objects_in(output)}
    assert invocations == {Context().aws_request_id}
    metrics = metrics_in(output)
    assert metrics["Messages"] == metrics["ObjectsHashed"] == [1] * len(KEYS)
    assert sorted(metrics["BytesHashed"]) == sorted(len(body_of(key)) for key in KEYS)


def test_events_of_one_key_in_one_batch_end_with_the_newest(stack: HasherStack) -> None:
    """Whichever thread writes last, the row is the newest event's."""
    bodies = [f"{number}".encode() for number in range(8)]
    arrivals = [replace(stack.put("a", body), version_id=None, etag=None) for body in bodies]
    assert stack.deliver(*(message_of(created) for created in arrivals)) == []
    assert stack.rows()["a", "null"]["sequencer"].startswith(arrivals[-1].sequencer)


def test_a_restored_object_has_its_line(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if it is hashed without a sequencer, as the objects of a backfill, which have none."""
    created = message_of(stack.put("a", b"content"))
    stack.deliver(created.replace("ObjectCreated:Put", "ObjectRestore:Completed"))
    [line] = objects_in(capsys.readouterr().out)
    assert (line["outcome"], line["size_bytes"]) == ("hashed", 7)


def test_metrics_for_the_dashboard(stack: HasherStack, capsys: pytest.CaptureFixture[str]) -> None:
    """One EMF document per invocation holds messages, outcomes, bytes and speed."""
    gone = replace(stack.put("gone", b"?"), key="never there")
    stack.deliver(message_of(stack.put("a", b"content"), stack.put("b", b"more"), gone))
    metrics = metrics_in(capsys.readouterr().out)
    assert metrics["Messages"] == [1]
    assert sum(metrics["ObjectsHashed"]) == 2
    assert sum(metrics["ObjectsGone"]) == 1
    assert sum(metrics["BytesHashed"]) == len(b"content" + b"more")
    assert len(metrics["Speed"]) == 2
    [described] = metrics["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "bucketsum"
    assert described["Dimensions"] == [["service"]]


def test_only_problems_have_a_line_if_it_is_so_set(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """A healthy object is counted as ever; one that is gone, and a broken archive, are logged."""
    stack.load(LOG_OBJECTS="problems", SHA1_INDEX="no", **ARCHIVES)
    gone = replace(stack.put("gone", b"?"), key="never there")
    no_archive = stack.put("b.zip", b"text")
    whole = stack.put("c.zip", zip_of({"x": b"x"}))
    stack.deliver(message_of(stack.put("a", b"content"), gone, no_archive, whole))
    out = capsys.readouterr().out
    assert {line["key"] for line in objects_in(out)} == {"never there", "b.zip"}
    assert sum(metrics_in(out)["ObjectsHashed"]) == 3
    rows = stack.rows()
    assert {("a", "null"), ("b.zip", "null"), ("c.zip", "null")} < set(rows)
    assert len(rows) == 4  # and the member
    assert not [row for row in rows.values() if "sha1_shard" in row]

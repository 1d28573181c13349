"""From an event to the row, through the hasher and forty slices of the slicer."""

import json
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

import pytest
from tests.integration.hasher.hasher_stack import HasherStack
from tests.integration.hasher.reading import put_at
from tests.support.events import message_of
from tests.support.lambda_invocation import Context, loaded
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3
from tests.support.sam_template import create_table
from tests.support.sha1 import sha1_of

from bucketsum.backfill.backfill_records import Tally
from bucketsum.backfill.messages import bodies_of
from bucketsum.backfill.selection import Selection
from bucketsum.backfill.table import BackfillsTable
from bucketsum.hashing.ending import Purpose
from bucketsum.long_objects.progress import PARTITION
from bucketsum.table.sequencer import NO_SEQUENCER

SIZE: Final = 4_100_000
CONTENT: Final = bytes(range(251)) * (SIZE // 251)
SHORT: Final = Context(remaining_ms=3100, memory_limit_in_mb=128)
"""An invocation in which a slow reader with 128 MB reads 2 MB."""


def slicer_of(
    queue_url: str, monkeypatch: pytest.MonkeyPatch, slice_bytes: str = "100000"
) -> ModuleType:
    """The slicer, which reads *queue_url*; the hasher must be loaded before."""
    monkeypatch.setenv("ARRIVALS_QUEUE_URL", queue_url)
    monkeypatch.setenv("SLICE_BYTES", slice_bytes)
    return loaded("slicer")


def slices(stack: HasherStack, app: ModuleType, queue_url: str) -> int:
    """Be Lambda until the queue is empty; returns how many messages were done."""
    count = 0
    while messages := stack.sqs.receive_message(
        QueueUrl=queue_url, MessageSystemAttributeNames=["All"]
    ).get("Messages", []):
        [message] = messages
        record: dict[str, Any] = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:LongObjectsQueue",
        }
        answer = app.lambda_handler({"Records": [record]}, Context())
        assert answer == {"batchItemFailures": []}
        stack.sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        count += 1
    return count


@pytest.mark.parametrize("faults", [[], [Fault(cut_after=30_000), Fault(hang_up=True)]])
def test_forty_slices_give_the_digest(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    faults: list[Fault],
) -> None:
    """The hasher reads nothing of it; each slice reads its own bytes, also if connections break."""
    queue_url = hostile_stack.sqs.create_queue(QueueName="LongObjectsQueue")["QueueUrl"]
    hostile_stack.load(
        LONG_OBJECTS_QUEUE_URL=queue_url,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE="128",
        EXTRA_ALGORITHMS="crc32",
    )
    created = put_at(hostile, "big", CONTENT)
    assert hostile_stack.deliver(message_of(created), context=SHORT) == []
    assert hostile.requests == []
    [(_, entry)] = [key for key in hostile_stack.rows() if key[0] != created.key]
    assert len(entry) == 64

    app = slicer_of(queue_url, monkeypatch)
    hostile.script(*faults)
    assert slices(hostile_stack, app, queue_url) == 42

    [row] = hostile_stack.rows().values()
    assert (row["sha1"], row["size_bytes"]) == (sha1_of(CONTENT), str(len(CONTENT)))
    assert row["object"] != PARTITION
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    outcomes = [line["outcome"] for line in lines if line.get("message") == "slice"]
    assert outcomes == ["continued"] * 41 + ["hashed"]
    [ended] = [line for line in lines if line.get("message") == "object" and line.get("sha1")]
    assert (ended["key"], ended["sha1"]) == ("big", sha1_of(CONTENT))
    assert sum(line.get("Slices", [0])[0] for line in lines) == 42


def test_the_end_of_the_last_slice_is_counted(
    hostile_stack: HasherStack, hostile: HostileS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listed object is `long` while it is read in slices, then it has its outcome: once a run."""
    create_table(hostile_stack.dynamodb, "BackfillsTable", "backfills")
    table = BackfillsTable(hostile_stack.dynamodb, "backfills")
    queue_url = hostile_stack.sqs.create_queue(QueueName="LongObjectsQueue")["QueueUrl"]
    hostile_stack.load(LONG_OBJECTS_QUEUE_URL=queue_url, AWS_LAMBDA_FUNCTION_MEMORY_SIZE="128")
    created = put_at(hostile, "big", CONTENT)
    listed = replace(created, sequencer=NO_SEQUENCER)
    ends = {"hashed": Tally(hashed=1, hashed_bytes=len(CONTENT))}
    ends["verified"] = Tally(verified=1, verified_bytes=len(CONTENT))
    ends["rotten"] = Tally(differs=1)
    app: ModuleType | None = None
    for run, end in ends.items():
        if run == "rotten":
            hostile_stack.pass_seconds(3600)  # else the row says that it was read for this message
            hostile_stack.change_row("big", {"sha1": {"S": "0" * 40}})
        purpose = Purpose.RECORD if run == "hashed" else Purpose.VERIFY
        [body] = bodies_of(run, [listed], Selection(purpose))
        for _ in range(2):  # it is received twice
            assert hostile_stack.deliver(body, context=SHORT) == []
        tally, _ = table.tally(run)
        assert replace(tally, object_hashes=0) == Tally(long=1, invocations=2)
        app = app or slicer_of(queue_url, monkeypatch, "2000000")
        slices(hostile_stack, app, queue_url)
        done = replace(end, object_hashes=tally.object_hashes, invocations=2)
        assert table.tally(run)[0] == done
        assert hostile_stack.deliver(body, context=SHORT) == []  # and once more
        assert table.tally(run)[0] == replace(done, invocations=3)

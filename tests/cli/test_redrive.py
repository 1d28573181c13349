"""`bucketsum redrive`: another try for what failed, without ever losing a message."""

from dataclasses import replace
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError
from tests.cli.aws_calls import answered, change_calls, refusal
from tests.cli.conftest import Run
from tests.cli.deployed import (
    BUCKET,
    HOSTILE,
    bodies_in,
    dead_letter,
    hashed,
    put_object,
    record_deletion,
    unreadable,
)

from bucketsum.backfill.messages import bodies_of
from bucketsum.events.notifications import events_in
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.job import Job
from bucketsum.long_objects.message import body_of
from bucketsum.long_objects.progress import progress_of
from bucketsum.queue import batches
from bucketsum.queue.dead_letters import REASON_ATTRIBUTE
from bucketsum.table.outcome import Outcome
from bucketsum.table.rows import RowKey
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.dead_letters.queue import received
from bucketsum_cli.dead_letters.redrive import send_back

BODIES = sorted(f"message {n}" for n in range(25))


@pytest.fixture
def failed(stack: Stack) -> Stack:
    """The stack, with 25 messages dead-lettered."""
    dead_letter(stack, *BODIES, reason="SourceUnavailable: S3 throttles")
    return stack


def left_aside(stack: Stack) -> list[str]:
    """The bodies in the dead-letter queue."""
    return bodies_in(stack, stack.dead_letter_queue_url)


def sent_back(stack: Stack) -> list[str]:
    """The bodies in the arrivals queue."""
    return bodies_in(stack, stack.arrivals_queue_url)


def test_all_messages_go_back_as_they_were(run: Run, failed: Stack) -> None:
    """In the arrivals queue, unchanged, and no longer in the dead-letter queue."""
    ended = run("redrive", "--yes").assert_done()
    assert ended.out.splitlines()[-1] == "25 sent back"
    assert sent_back(failed) == BODIES
    assert left_aside(failed) == []


OLD: Final = ObjectCreated("inbox", "old", None, "etag", 1, "", "2026-11-21T10:00:00Z")
BIG: Final = ObjectCreated("inbox", "big", None, "etag", 1, "05", "2026-11-21T10:00:00Z")


@pytest.mark.parametrize(
    ("body", "key", "queue"),
    [
        (*bodies_of("20261121T100000-a", [OLD]), "old", "BackfillQueueUrl"),
        (body_of(progress_of(Job(BIG))), "big", "LongObjectsQueueUrl"),
    ],
    ids=["listed", "slice"],
)
def test_messages_go_back_to_the_queue_of_their_kind(
    run: Run, stack: Stack, body: str, key: str, queue: str
) -> None:
    """Listed objects must not hold up new ones; a chain of slices goes on, or ends, in its own."""
    dead_letter(stack, body, "another", reason="why")

    ended = run("redrive", "--yes").assert_done()

    assert key in ended.out
    assert bodies_in(stack, stack.outputs[queue]) == [body]
    assert sent_back(stack) == ["another"]
    assert left_aside(stack) == []


def test_reason_stays_behind_and_other_attributes_go_along(run: Run, stack: Stack) -> None:
    """The reason was of the last failure; whatever else a message carries is its own."""
    sqs = stack.client("sqs")
    kept: Any = {"origin": {"DataType": "String", "StringValue": "S3"}}
    reason: Any = {REASON_ATTRIBUTE: {"DataType": "String", "StringValue": "why"}}
    sqs.send_message(
        QueueUrl=stack.dead_letter_queue_url, MessageBody="x", MessageAttributes=kept | reason
    )
    assert run("redrive", "--yes").status == 0
    (message,) = sqs.receive_message(
        QueueUrl=stack.arrivals_queue_url, MessageAttributeNames=["All"]
    )["Messages"]
    assert message["MessageAttributes"] == kept


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_sent(run: Run, failed: Stack, answer: str) -> None:
    """No, nothing and nobody are not yes; the messages are there for everyone at once."""
    ended = run("redrive", answer=answer).assert_no()
    assert "25 messages" in ended.err
    assert ended.out == ""
    assert sent_back(failed) == []
    assert left_aside(failed) == BODIES


def test_the_question_counts_one_message_in_the_singular(run: Run, stack: Stack) -> None:
    """It is read before a decision."""
    dead_letter(stack, BODIES[0], reason="SourceUnavailable: S3 throttles")
    assert "Send 1 message of bucketsum back?" in run("redrive", answer="n\n").err


def test_a_yes_is_asked_for_on_stderr(run: Run, failed: Stack) -> None:
    """The document on stdout stays whole."""
    ended = run("redrive", "--json", answer="y\n").assert_done()
    assert len(ended.document["sent"]) == 25
    assert (ended.document["refused"], ended.document["undeleted"]) == ([], [])
    assert sent_back(failed) == BODIES


@pytest.mark.usefixtures("stack")
def test_no_dead_letter_asks_nothing(run: Run) -> None:
    """There is nothing to confirm."""
    ended = run("redrive")
    assert (ended.status, ended.out) == (0, "nothing was sent back\n")


def test_a_limit_with_a_key_is_refused(run: Run) -> None:
    """It would be ignored: all unreadable versions of the key are queued."""
    run("redrive", "--key", "a", "--limit", 5).assert_refused("--limit cannot be used with --key")


def test_limit_is_kept_and_reported(run: Run, failed: Stack) -> None:
    """Messages above the limit stay in the dead-letter queue, unchanged."""
    ended = run("redrive", "--yes", "--limit", 11)
    assert "run it again" in ended.err
    sent, left = sent_back(failed), left_aside(failed)
    assert len(sent) == 11
    assert sorted(sent + left) == BODIES


def test_message_that_is_not_taken_is_not_deleted(
    run: Run, failed: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQS answers for each message of a batch: those it refuses stay aside, the others go."""
    sqs = failed.client("sqs")

    def refuse_first_of_each(operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        if operation != "SendMessageBatch":
            return None
        first, *rest = request["Entries"]
        for entry in rest:
            sqs.send_message(QueueUrl=request["QueueUrl"], MessageBody=entry["MessageBody"])
        return {
            "Successful": [{"Id": entry["Id"]} for entry in rest],
            "Failed": [{"Id": first["Id"], "Code": "InternalError", "Message": "\x1b[31m"}],
        }

    with monkeypatch.context() as patch:
        change_calls(patch, refuse_first_of_each)
        ended = run("redrive", "--yes", "--json")
    assert ended.status == 1
    assert len(ended.document["refused"]) == 3
    assert r"InternalError: \x1b[31m" in ended.err
    sent, left = sent_back(failed), left_aside(failed)
    assert len(left) == 3
    assert sorted(sent + left) == BODIES


@pytest.mark.parametrize("operation", ["SendMessageBatch", "DeleteMessageBatch"])
@pytest.mark.parametrize("broken_call", [1, 2, 3])
@pytest.mark.parametrize("broken_by", [KeyboardInterrupt, ClientError])
def test_interrupted_anywhere_no_message_is_lost(
    run: Run,
    failed: Stack,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    broken_call: int,
    broken_by: type[BaseException],
) -> None:
    """Ctrl-C or a refusal between any two calls: every message is in one of the queues."""
    calls = []

    def interrupt(called: str, _request: dict[str, Any]) -> None:
        if called == operation:
            calls.append(called)
            if len(calls) == broken_call:
                raise (
                    ClientError({"Error": {"Code": "InternalError"}}, called)
                    if broken_by is ClientError
                    else KeyboardInterrupt
                )

    with monkeypatch.context() as patch:
        change_calls(patch, interrupt)
        ended = run("redrive", "--yes")
    assert ended.status == (2 if broken_by is ClientError else 130)
    sent, left = sent_back(failed), left_aside(failed)
    assert left
    assert set(sent) | set(left) == set(BODIES)


def test_message_that_is_not_deleted_is_told(
    run: Run, failed: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in both queues, which is harmless, and said."""

    def keep_all(operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        if operation != "DeleteMessageBatch":
            return None
        return {"Failed": [{"Id": entry["Id"]} for entry in request["Entries"]]}

    with monkeypatch.context() as patch:
        change_calls(patch, keep_all)
        ended = run("redrive", "--yes", "--json")
    assert len(ended.document["undeleted"]) == 25
    assert "25 of them were sent, but could not be deleted" in ended.err
    assert sent_back(failed) == left_aside(failed) == BODIES


def test_large_messages_go_in_smaller_batches(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large they are, a request stays below SQS's limit, and all arrive in order."""
    monkeypatch.setattr(batches, "_BATCH_BYTES", 250)
    sizes_in = {"a": 100, "b": 100, "c": 100, "d": 300, "e": 1, "f": 1, "g": 249}
    bodies = [letter * size for letter, size in sizes_in.items()]
    dead_letter(stack, *bodies)
    sizes = []

    def measure(operation: str, request: dict[str, Any]) -> None:
        if operation == "SendMessageBatch":
            sizes.append([len(entry["MessageBody"]) for entry in request["Entries"]])

    with monkeypatch.context() as patch:
        change_calls(patch, measure)
        with received(stack, 100, 60) as messages:
            send_back(stack, messages)
    assert all(sum(batch) <= 250 or len(batch) == 1 for batch in sizes)
    assert sent_back(stack) == sorted(bodies)


def test_unreadable_version_is_queued_as_the_event_it_came_from(run: Run, stack: Stack) -> None:
    """The hasher understands it as the same arrival, and may then overwrite the row."""
    locked = RowKey(BUCKET, HOSTILE, "v2")
    row = unreadable(locked, b"12345", "archived in Glacier", "00AB")
    stack.digests_table().record(hashed(RowKey(BUCKET, HOSTILE, "v1"), b"fine", "0001"))
    stack.digests_table().record(row)
    ended = run("redrive", "--key", HOSTILE, "--json").assert_done()
    assert ended.document == {
        "queued": [{"bucket": BUCKET, "key": HOSTILE, "version": "v2"}],
        "not_unreadable": [],
    }
    (body,) = sent_back(stack)
    (arrival,) = events_in(body)
    assert arrival == ObjectCreated(
        bucket=BUCKET,
        key=HOSTILE,
        version_id="v2",
        etag=row.etag,
        size_bytes=5,
        sequencer="00AB" + "0" * 28,
        event_time=row.arrived_at,
    )
    again = hashed(locked, b"12345", arrival.sequencer)
    assert stack.digests_table().record(again) is Outcome.HASHED


def test_object_without_versions_is_queued_without_one(run: Run, stack: Stack) -> None:
    """`null` is the table's word; events of such buckets have no version."""
    stack.digests_table().record(unreadable(RowKey(BUCKET, "key", "null"), b"", "access denied"))
    ended = run("redrive", "--key", "key")
    assert ended.out == "queued  key  version null\n"
    (arrival,) = events_in(sent_back(stack)[0])
    assert arrival.version_id is None


@pytest.mark.parametrize("change", [{"etag": "weird"}, {"etag": None}, {"size_bytes": 77}])
def test_what_another_program_changed_is_queued_as_s3_has_it(
    run: Run, stack: Stack, change: dict[str, Any]
) -> None:
    """A version never changes; S3 would refuse any other entity tag for ever."""
    place = put_object(stack, "key", b"12345")
    put_object(stack, "key", b"a newer version")
    put_object(stack, "key 2", b"another key")
    row = unreadable(place, b"12345", "access denied")
    stack.digests_table().record(replace(row, **change))
    assert run("redrive", "--key", "key").status == 0
    (arrival,) = events_in(sent_back(stack)[0])
    assert isinstance(arrival, ObjectCreated)
    assert (arrival.version_id, arrival.etag, arrival.size_bytes) == (place.entry, row.etag, 5)


def test_an_object_that_was_overwritten_is_queued_as_recorded(
    run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version `null` changes: S3 says that the object is superseded, whose newer one has an event.

    Without the right to list the bucket, the row is all that is known.
    """
    s3 = stack.client("s3")
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"})
    put_object(stack, "key", b"newer")
    row = unreadable(RowKey(BUCKET, "key", "null"), b"old", "access denied")
    stack.digests_table().record(row)
    for answers in ({}, {"ListObjectVersions": refusal("ListObjectVersions")}):
        with monkeypatch.context() as patch:
            change_calls(patch, answered(answers))
            assert run("redrive", "--key", "key").status == 0
        (arrival,) = events_in(sent_back(stack)[0])
        assert isinstance(arrival, ObjectCreated)
        assert (arrival.etag, arrival.size_bytes) == (row.etag, 3)


def test_a_deleted_version_is_not_queued(run: Run, stack: Stack) -> None:
    """It cannot be read any more."""
    stack.digests_table().record(unreadable(RowKey(BUCKET, "old", "v1"), b"", "restore it"))
    record_deletion(stack, RowKey(BUCKET, "old", "v1"))
    assert run("redrive", "--key", "old").status == 1
    assert sent_back(stack) == []


def test_key_that_is_not_unreadable_is_a_no(run: Run, failed: Stack) -> None:
    """Hashed or unknown, there is nothing to queue; what is dead-lettered stays so."""
    failed.digests_table().record(hashed(RowKey(BUCKET, "fine", "v1"), b""))
    ended = run("redrive", "--key", "fine", "--key", "unknown\x1b[2J", "--yes")
    assert (ended.status, ended.out) == (1, "")
    assert "no version of fine is recorded as unreadable" in ended.err
    assert r"unknown\x1b[2J" in ended.err
    assert sent_back(failed) == []
    assert left_aside(failed) == BODIES

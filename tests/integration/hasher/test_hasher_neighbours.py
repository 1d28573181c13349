"""The hasher through its handler: neighbours that fail, of a message, of a batch, of the function.

None of it loses a message or another object's result.
"""

from __future__ import annotations

import hashlib
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from tests.integration.hasher.hasher_stack import QUEUE_ARN
from tests.integration.hasher.log_lines import failures_in, metrics_in
from tests.integration.hasher.reading import BODY, put_at
from tests.integration.hasher.refusing_dynamodb import refusing_dynamodb
from tests.support.events import BUCKET, message_of
from tests.support.lambda_invocation import Context
from tests.support.s3_faults import THROTTLED, TRIES, Fault

if TYPE_CHECKING:
    from tests.integration.hasher.hasher_stack import HasherStack
    from tests.support.s3_server import HostileS3

CHUNK_BYTES: Final = 4 * 1024 * 1024
SHA1: Final = hashlib.sha1(BODY).hexdigest()


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "AccessDeniedException",
        "ResourceNotFoundException",
        "InternalServerError",
    ],
)
def test_a_dynamodb_that_refuses_gives_the_message_back(
    stack: HasherStack, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Outcome: back on the queue; nothing is success that is not recorded."""
    message = message_of(stack.put("a", b"content"))
    with refusing_dynamodb(code) as endpoint_url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
        assert stack.deliver(message) == [message]
    assert stack.after(10) == [message]


def test_several_objects_of_one_message_tell_each_its_reason(
    hostile_stack: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: one message back, one line in the log that names both errors."""
    message = message_of(*(put_at(hostile, name) for name in ("a", "b", "c")))
    internal = Fault(refuse=(500, "InternalError", "We encountered an internal error."))
    hostile.script_of(f"{BUCKET}/a", *[THROTTLED] * TRIES)
    hostile.script_of(f"{BUCKET}/c", *[internal] * TRIES)
    assert hostile_stack.deliver(message) == [message]
    assert hostile_stack.digests() == {"b": SHA1}
    [line] = failures_in(capsys.readouterr().out)
    assert "SlowDown" in line["exception"]
    assert "InternalError" in line["exception"]


def test_running_out_of_time_gives_the_message_back(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: back on the queue, and the log tells that its turn did not come."""
    message = message_of(stack.put("a", b"content"))
    assert stack.deliver(message, context=Context(remaining_ms=2_999)) == [message]
    assert stack.digests() == {}
    [line] = failures_in(capsys.readouterr().out)
    assert line["exception_name"] == "OutOfTime"
    assert "before this object's turn; lower BatchSize" in line["exception"]
    assert "raise MemorySize" in line["exception"]


def test_sqs_that_refuses_loses_no_message(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Outcome: where its time-out cannot be changed, the message waits out the queue's own."""
    message = message_of(put_at(hostile, "a"))
    hostile.always = THROTTLED
    monkeypatch.setattr(hostile_stack, "queue_arn", f"{QUEUE_ARN}-that-is-not-there")
    assert hostile_stack.deliver(message) == [message]
    output = capsys.readouterr().out
    refusal, failure = failures_in(output)
    assert "The specified queue does not exist" in refusal["exception"]
    assert failure["exception_name"] == "SourceUnavailable"
    assert metrics_in(output)["MessagesRetried"] == [1]
    assert hostile_stack.after(60) == []
    assert hostile_stack.after(5_400) == [message]


def test_a_dead_letter_queue_that_refuses_loses_no_message(stack: HasherStack) -> None:
    """Outcome: a malformed message that cannot be dead-lettered stays on its queue."""
    stack.load(DEAD_LETTER_QUEUE_URL=stack.dead_letters_url + "-that-is-not-there")
    assert stack.deliver("hello") == ["hello"]
    assert stack.after(5_400) == ["hello"]


@pytest.mark.parametrize(
    ("faults", "remaining_ms"),
    [
        ([], 0),
        # cut off from libcurl, and refused to botocore
        (
            [*[Fault(cut_after=CHUNK_BYTES)] * 8, *[Fault(refuse=(403, "AccessDenied", ""))] * 8],
            900_000,
        ),
    ],
    ids=["out of time", "unreadable and DynamoDB refuses"],
)
def test_failures_hold_no_chunks(
    hostile_stack: HasherStack,
    hostile: HostileS3,
    monkeypatch: pytest.MonkeyPatch,
    faults: list[Fault],
    remaining_ms: int,
) -> None:
    """A batch of failures holds no bytes of its objects, so chunks never add up."""
    arrivals = [put_at(hostile, f"{number}", bytes(2 * CHUNK_BYTES)) for number in range(8)]
    messages = [message_of(replace(arrival, size_bytes=1)) for arrival in arrivals]
    hostile.script(*faults)
    with refusing_dynamodb("ThrottlingException") as endpoint_url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
        hostile_stack.load(CHUNK_BYTES=str(CHUNK_BYTES))
        context = Context(remaining_ms=remaining_ms)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            assert len(hostile_stack.deliver(*messages, context=context)) == len(messages)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < CHUNK_BYTES

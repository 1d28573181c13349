"""The hasher through its handler: bad input, and neighbours that fail.

None of it loses a message: each is recorded, or back on its queue, or set aside with its reason.
"""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from tests.integration.hasher.hasher_stack import Context, HasherStack, message_of
from tests.integration.hasher.hostile_values import Fault
from tests.integration.hasher.reading import BODY, arrival_of
from tests.integration.hasher.refusing_dynamodb import refusing_dynamodb
from tests.integration.hasher.told import failures_in, metrics_in, outcomes_in

from bucketsum.redelivery import FIRST_DELAY_SECONDS
from bucketsum.source import MAX_RESUMES

if TYPE_CHECKING:
    from tests.integration.hasher.hostile_s3 import HostileS3

    from bucketsum.arrivals import Arrival

MALFORMED: Final = {
    "not JSON": "hello",
    "unknown envelope": json.dumps({"who": "knows"}),
    "no records": json.dumps({"Records": []}),
    "a record without an object": json.dumps({"Records": [{"eventVersion": "2.1"}]}),
    "another event": json.dumps({"Records": [{"eventVersion": "2.1", "eventName": "Deleted"}]}),
    "a notification of a future kind": json.dumps({"Records": [{"eventVersion": "3.0"}]}),
}
THROTTLED: Final = Fault(refuse=(503, "SlowDown", "Please reduce your request rate."))
LAST: Final = 5  # receives, in template.yaml
SHA1: Final = hashlib.sha1(BODY).hexdigest()


def put(hostile: HostileS3, name: str, body: bytes = BODY) -> Arrival:
    """An object in the hostile S3, and its event."""
    return arrival_of(hostile.put(f"inbox/{name}", body), f"inbox/{name}")


def digests(stack: HasherStack) -> dict[str, str | None]:
    """What is recorded: key → SHA-1, or None."""
    return {key: row.get("sha1") for (key, _), row in stack.rows().items()}


@pytest.fixture
def reading(stack: HasherStack, hostile: HostileS3, monkeypatch: pytest.MonkeyPatch) -> HasherStack:
    """A hasher that reads from the hostile S3."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", hostile.endpoint_url)
    return stack


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_message_is_set_aside(stack: HasherStack, body: str) -> None:
    """Outcome: in the dead-letter queue at its first receive, whole, with the reason."""
    good = stack.put("good", b"content")
    assert stack.deliver(body, message_of(good)) == []
    assert digests(stack) == {"good": hashlib.sha1(b"content").hexdigest()}
    [(aside, reason)] = stack.set_aside().items()
    assert aside == body
    assert reason.startswith("MalformedMessage: ")
    assert stack.after(90_000) == []


def test_an_object_that_we_may_not_read_is_unreadable(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome unreadable: success for the queue, and a row that says what to grant."""
    hostile.script(Fault(refuse=(403, "AccessDenied", "Access Denied")))
    assert reading.deliver(message_of(put(hostile, "closed"))) == []
    [row] = reading.rows().values()
    assert (row["status"], row["etag"]) == ("unreadable", hashlib.md5(BODY).hexdigest())
    assert "let the hasher's role read the bucket" in row["reason"]
    output = capsys.readouterr().out
    assert outcomes_in(output) == ["unreadable"]
    assert metrics_in(output)["ObjectsUnreadable"] == [1]


@pytest.mark.parametrize("position", [0, 1, 4096, len(BODY) - 1, len(BODY)])
@pytest.mark.parametrize("gently", [False, True], ids=["reset", "truncated"])
def test_a_broken_connection_is_continued(
    reading: HasherStack, hostile: HostileS3, position: int, *, gently: bool
) -> None:
    """Outcome hashed, with the right digest, after a reset or a short body at any byte."""
    hostile.script(Fault(cut_after=position, gently=gently))
    assert reading.deliver(message_of(put(hostile, "a"))) == []
    assert digests(reading) == {"a": SHA1}


def test_a_body_that_never_ends_well_goes_back(reading: HasherStack, hostile: HostileS3) -> None:
    """Outcome: back on the queue after the last resume; hashed when S3 has recovered."""
    message = message_of(put(hostile, "a"))
    hostile.always = Fault(cut_after=0, gently=True)
    assert reading.deliver(message) == [message]
    assert len(hostile.asked) == MAX_RESUMES + 1
    assert digests(reading) == {}
    hostile.always = Fault()
    reading.pass_seconds(10)
    assert reading.deliver() == []
    assert digests(reading) == {"a": SHA1}


def test_a_throttling_s3_delays_the_message(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: back on the queue for 5 to 10 s instead of its own 90 min; nothing aside."""
    message = message_of(put(hostile, "a"))
    hostile.always = THROTTLED
    assert reading.deliver(message) == [message]
    assert len(hostile.asked) == 4
    assert (digests(reading), reading.set_aside()) == ({}, {})
    assert reading.after(10) == [message]
    output = capsys.readouterr().out
    assert metrics_in(output)["MessagesRetried"] == [1]
    [line] = failures_in(output)
    assert (line["message"], line["exception_name"]) == ("message goes back", "SourceUnavailable")
    assert "SlowDown" in line["exception"]


def test_on_its_last_receive_a_message_is_set_aside_with_its_reason(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: in the dead-letter queue on the fifth receive, before the queue moves it mutely."""
    message = message_of(put(hostile, "a"))
    hostile.always = THROTTLED
    assert reading.deliver(message) == [message]
    for receive in range(2, LAST):
        reading.pass_seconds(FIRST_DELAY_SECONDS << (receive - 2))
        assert reading.deliver() == [message]
    assert reading.set_aside() == {}
    reading.pass_seconds(FIRST_DELAY_SECONDS << (LAST - 2))
    capsys.readouterr()
    assert reading.deliver() == []
    [(aside, reason)] = reading.set_aside().items()
    assert (aside, reason.partition(":")[0]) == (message, "SourceUnavailable")
    assert "SlowDown" in reason
    assert metrics_in(capsys.readouterr().out)["MessagesSetAside"] == [1]


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


def test_one_object_does_not_keep_the_others_of_its_message(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: the message goes back for the one that failed, the others are recorded."""
    message = message_of(*(put(hostile, name) for name in ("a", "b", "c")))
    hostile.script(Fault(), *[THROTTLED] * 4)
    assert reading.deliver(message) == [message]
    assert digests(reading) == {"a": SHA1, "c": SHA1}
    assert outcomes_in(capsys.readouterr().out) == ["hashed", "hashed"]


def test_several_objects_of_one_message_tell_each_its_reason(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: one message back, one line in the log that names both errors."""
    message = message_of(*(put(hostile, name) for name in ("a", "b", "c")))
    internal = Fault(refuse=(500, "InternalError", "We encountered an internal error."))
    hostile.script(*[THROTTLED] * 4, Fault(), *[internal] * 4)
    assert reading.deliver(message) == [message]
    assert digests(reading) == {"b": SHA1}
    [line] = failures_in(capsys.readouterr().out)
    assert "SlowDown" in line["exception"]
    assert "InternalError" in line["exception"]


def test_one_message_does_not_keep_the_others_of_its_batch(
    reading: HasherStack, hostile: HostileS3
) -> None:
    """Outcome: only the message that failed goes back."""
    messages = [message_of(put(hostile, name)) for name in ("a", "b", "c")]
    hostile.script(Fault(), *[THROTTLED] * 4)
    assert reading.deliver(*messages) == [messages[1]]
    assert digests(reading) == {"a": SHA1, "c": SHA1}


def test_a_batch_that_fails_whole_goes_back_whole(reading: HasherStack, hostile: HostileS3) -> None:
    """Outcome: every message back by its id, and no exception, which would say nothing of any."""
    messages = [message_of(put(hostile, name)) for name in ("a", "b", "c")]
    hostile.always = THROTTLED
    assert sorted(reading.deliver(*messages)) == sorted(messages)


def test_running_out_of_time_gives_the_message_back(
    stack: HasherStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: back on the queue, and the log says how far it came and what to change."""
    message = message_of(stack.put("a", b"content"))
    assert stack.deliver(message, context=Context(remaining_ms=2_999)) == [message]
    assert digests(stack) == {}
    [line] = failures_in(capsys.readouterr().out)
    assert line["exception_name"] == "OutOfTime"
    assert "0 of 7 bytes were read" in line["exception"]
    assert "raise MemorySize" in line["exception"]


def test_sqs_that_refuses_loses_no_message(
    reading: HasherStack, hostile: HostileS3, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcome: where its time-out cannot be changed, the message waits out the queue's own."""
    message = message_of(put(hostile, "a"))
    hostile.always = THROTTLED
    reading.load(ARRIVALS_QUEUE_URL=reading.arrivals_url + "-that-is-not-there")
    assert reading.deliver(message) == [message]
    output = capsys.readouterr().out
    names = [line["exception_name"] for line in failures_in(output)]
    assert names == ["QueueDoesNotExist", "SourceUnavailable"]
    assert metrics_in(output)["MessagesRetried"] == [1]
    assert reading.after(60) == []
    assert reading.after(5_400) == [message]


def test_a_dead_letter_queue_that_refuses_loses_no_message(stack: HasherStack) -> None:
    """Outcome: a malformed message that cannot be set aside stays on its queue."""
    stack.load(DEAD_LETTER_QUEUE_URL=stack.dead_letters_url + "-that-is-not-there")
    assert stack.deliver("hello") == ["hello"]
    assert stack.after(5_400) == ["hello"]


def test_failures_hold_no_chunks(reading: HasherStack, hostile: HostileS3) -> None:
    """A batch of failures holds no bytes of its objects, so chunks never add up."""
    chunk_bytes = 4 * 1024 * 1024
    reading.load(CHUNK_BYTES=str(chunk_bytes))
    arrivals = [put(hostile, f"{number}", bytes(2 * chunk_bytes)) for number in range(8)]
    messages = [message_of(replace(arrival, size_bytes=1)) for arrival in arrivals]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        assert len(reading.deliver(*messages, context=Context(remaining_ms=0))) == len(messages)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < chunk_bytes

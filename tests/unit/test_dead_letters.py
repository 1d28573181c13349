"""Failed messages wait longer each time, or are dead-lettered; none is lost."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws
from mypy_boto3_sqs import SQSClient
from tests.support.settings import SETTINGS

from bucketsum.errors import (
    MalformedMessage,
    NotRetryable,
    Released,
    Retryable,
    SourceUnavailable,
    TableBusy,
)
from bucketsum.queue.dead_letters import (
    REASON_ATTRIBUTE,
    SENT_ATTRIBUTE,
    DeadLetters,
    Fate,
    ReceivedMessage,
    message_of,
)
from bucketsum.settings import Settings
from bucketsum.throttling import THROTTLED

MAX_RECEIVES: Final = 5
LEGAL: Final = re.compile(r"[\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]+")
"""What SQS allows in a text; see SendMessage."""

AWKWARD: Final = "\0\x1b\r\n\x85\u2028\ud800\udfff\ufffe\uffff\U0001fffe\U0010ffff"
"""Controls, line breaks, lone surrogates and noncharacters: what SQS refuses, and then some."""

ANY_TEXT: Final = st.text(st.characters(codec=None)) | st.text(f"{AWKWARD} x")


def settings(max_receives: int = MAX_RECEIVES, dead: str = "dead") -> Settings:
    """Settings of a stack whose queue gives up after *max_receives*."""
    return replace(SETTINGS, max_receives=max_receives, dead_letter_queue_url=dead)


@pytest.fixture(scope="module")
def sqs() -> Iterator[SQSClient]:
    """Moto's SQS, which keeps what it is sent."""
    with mock_aws():
        yield boto3.client("sqs")


@pytest.fixture(scope="module")
def dead_letters(sqs: SQSClient) -> str:
    """The URL of an empty dead-letter queue."""
    return sqs.create_queue(QueueName="dead")["QueueUrl"]


def dead_lettered(sqs: SQSClient, dead_letters: str, error: Exception, receives: int) -> str:
    """Settle a message that failed with *error*; return the reason it then has in the DLQ."""
    redelivery = DeadLetters(sqs, settings(dead=dead_letters))
    delivery = ReceivedMessage("the body", "handle", receives, "id", "arrivals")
    assert redelivery.settle(delivery, error) is Fate.DEAD_LETTERED
    answer = sqs.receive_message(QueueUrl=dead_letters, MessageAttributeNames=["All"])
    [message] = answer["Messages"]
    sqs.delete_message(QueueUrl=dead_letters, ReceiptHandle=message["ReceiptHandle"])
    assert message["Body"] == "the body"
    return message["MessageAttributes"][REASON_ATTRIBUTE]["StringValue"]


@pytest.mark.parametrize("error", [NotRetryable("hopeless"), MalformedMessage("hopeless")])
@pytest.mark.parametrize("receives", [1, MAX_RECEIVES, MAX_RECEIVES + 1])
def test_what_no_retry_helps_goes_aside_at_once(
    sqs: SQSClient, dead_letters: str, error: Exception, receives: int
) -> None:
    """The message is in the dead-letter queue, whole and with its reason, on any receive."""
    reason = dead_lettered(sqs, dead_letters, error, receives)
    assert reason == f"{type(error).__name__}: hopeless"


@pytest.mark.parametrize("error", [Retryable("busy"), SourceUnavailable("busy"), KeyError("busy")])
@pytest.mark.parametrize("receives", [MAX_RECEIVES, MAX_RECEIVES + 1])
def test_last_receive_goes_aside_with_its_reason(
    sqs: SQSClient, dead_letters: str, error: Exception, receives: int
) -> None:
    """The queue's own redrive would move it without telling why."""
    assert "busy" in dead_lettered(sqs, dead_letters, error, receives)


def test_group_of_errors_tells_each_of_them(sqs: SQSClient, dead_letters: str) -> None:
    """A message of several objects says what became of each that failed."""
    error = ExceptionGroup("2 failed", [Retryable("slow"), ExceptionGroup("x", [OSError("gone")])])
    reason = dead_lettered(sqs, dead_letters, error, MAX_RECEIVES)
    assert reason == "Retryable: slow; OSError: gone"


BUSY: Final = [
    *(ClientError({"Error": {"Code": code}}, "PutItem") for code in THROTTLED),
    TableBusy("25 rows"),
]


@pytest.mark.parametrize("error", [*BUSY, ExceptionGroup("2", BUSY[:2])], ids=str)
def test_a_throttled_table_makes_no_dead_letter(sqs: SQSClient, error: Exception) -> None:
    """It waits for minutes; a copy of it follows its last receive, while SQS would keep it."""
    url = sqs.create_queue(QueueName="busy")["QueueUrl"]
    sent_ms = int((time.time() - 12 * 24 * 3600) * 1000)
    redelivery = DeadLetters(sqs, settings(dead="none"))
    sqs.send_message(QueueUrl=url, MessageBody="the body")
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    handle = message["ReceiptHandle"]
    last = ReceivedMessage("the body", handle, MAX_RECEIVES, "id", url, sent_ms)
    assert redelivery.settle(last, error) is Fate.RELEASED
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert counts["ApproximateNumberOfMessagesDelayed"] == "1"
    assert counts["ApproximateNumberOfMessagesNotVisible"] == "0"
    strict = StrictSqs()
    patient = DeadLetters(cast("SQSClient", strict), settings(), lambda: 1.0)
    assert patient.settle(replace(last, receive_count=1), error) is Fate.RELEASED
    assert strict.delays_seconds == [150]
    sqs.delete_queue(QueueUrl=url)


@pytest.mark.parametrize(
    ("error", "days"),
    [(BUSY[0], 14), (ExceptionGroup("2", [BUSY[0], SourceUnavailable("busy")]), 1)],
)
def test_only_throttling_keeps_a_message_and_not_for_ever(error: Exception, days: int) -> None:
    """After two weeks it is a dead letter, as is what failed for another reason too."""
    strict = StrictSqs()
    redelivery = DeadLetters(cast("SQSClient", strict), settings())
    sent_ms = int((time.time() - days * 24 * 3600) * 1000)
    last = ReceivedMessage("the body", "handle", MAX_RECEIVES, "id", "arrivals", sent_ms)
    assert redelivery.settle(last, error) is Fate.DEAD_LETTERED


def test_a_copy_is_as_old_as_its_message() -> None:
    """SQS's own time is that of the copy."""
    record = {
        "body": "b", "receiptHandle": "h", "messageId": "m", "eventSourceARN": "arn:q",
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "9000"},
    }  # fmt: skip
    assert message_of(record, SETTINGS).sent_ms == 9000
    copy = record | {"messageAttributes": {SENT_ATTRIBUTE: {"stringValue": "5"}}}
    assert message_of(copy, SETTINGS).sent_ms == 5


class StrictSqs:
    """An SQS that refuses what SQS refuses, and keeps the rest."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.delays_seconds: list[int] = []

    def send_message(self, *, MessageAttributes: dict[str, Any], **_: str) -> None:  # noqa: N803 - boto3's
        """Take a message whose attribute is legal."""
        reason: str = MessageAttributes[REASON_ATTRIBUTE]["StringValue"]
        assert LEGAL.fullmatch(reason)
        self.reasons.append(reason)

    def change_message_visibility(self, *, VisibilityTimeout: int, **_: str) -> None:  # noqa: N803 - as above
        """Take a time-out in range."""
        assert 0 <= VisibilityTimeout <= 43_200
        self.delays_seconds.append(VisibilityTimeout)


def settled(receives: int, error: Exception, chance: float = 0.0) -> StrictSqs:
    """The reason that SQS receives after *error*, with a high limit on receives."""
    sqs = StrictSqs()
    redelivery = DeadLetters(cast("SQSClient", sqs), settings(1000), lambda: chance)
    redelivery.settle(ReceivedMessage("the body", "handle", receives, "id", "arrivals"), error)
    return sqs


@given(text=ANY_TEXT)
def test_reason_is_always_legal(text: str) -> None:
    """SQS accepts the text of any error; a refusal would return the message forever."""
    [reason] = settled(1, NotRetryable(text)).reasons
    assert len(reason.splitlines()) == 1
    assert reason.startswith("NotRetryable: ")


@pytest.mark.parametrize("free_bytes", [0, 20, 60])
def test_reason_makes_room_for_the_longest_messages(free_bytes: int) -> None:
    """Beside a body of nearly 1 MiB the reason is shortened, or left out: the message is kept."""
    sent: list[dict[str, Any]] = []

    class _Sqs:
        def send_message(self, **message: Any) -> None:  # noqa: ANN401 - as boto3 has it
            sent.append(message)

    body = "x" * (1_048_576 - free_bytes)
    redelivery = DeadLetters(cast("SQSClient", _Sqs()), settings())
    delivery = ReceivedMessage(body, "handle", 1, "id", "arrivals")
    assert redelivery.settle(delivery, MalformedMessage("é" * 500)) is Fate.DEAD_LETTERED

    [message] = sent
    attributes = message["MessageAttributes"]
    used_bytes = sum(
        len(text.encode())
        for name, value in attributes.items()
        for text in (name, value["DataType"], value["StringValue"])
    )
    assert used_bytes <= free_bytes
    assert bool(attributes) is (free_bytes == 60)
    assert message["MessageBody"] == body


def test_reason_is_cut() -> None:
    """An error may quote what it got; its reason is still a thousand characters at most."""
    [reason] = settled(1, NotRetryable("文" * 300_000)).reasons
    assert len(reason) == 1000
    assert reason.startswith("NotRetryable: 文文")


@pytest.mark.parametrize(("receives", "seconds"), [(1, 10), (2, 20), (3, 40), (4, 80)])
def test_each_failure_doubles_the_wait(receives: int, seconds: int) -> None:
    """Without chance, 10, 20, 40 and 80 s; with all of it, half of that."""
    assert settled(receives, Retryable("busy"), chance=0.0).delays_seconds == [seconds]
    assert settled(receives, Retryable("busy"), chance=1.0).delays_seconds == [seconds // 2]


@given(receives=st.integers(1, 999), chance=st.floats(0, 1, exclude_max=True))
def test_wait_stays_within_its_bounds(receives: int, chance: float) -> None:
    """Between half and all of the doubled delay, and never more than SQS takes."""
    full = 10 * 2 ** (receives - 1)
    [seconds] = settled(receives, Retryable("busy"), chance).delays_seconds
    assert min(full // 2, 43_200) <= seconds <= min(full, 43_200)


def test_waiting_message_is_named_by_its_receipt() -> None:
    """Only this receive of this message waits, in the arrivals queue."""
    sqs = boto3.client("sqs")
    with Stubber(sqs) as stub:
        stub.add_response(
            "change_message_visibility",
            {},
            {"QueueUrl": "arrivals", "ReceiptHandle": "this one", "VisibilityTimeout": 10},
        )
        delivery = ReceivedMessage("the body", "this one", 1, "id", "arrivals")
        letters = DeadLetters(sqs, settings(), lambda: 0.0)
        assert letters.settle(delivery, Retryable("busy")) is Fate.RETRIED
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("operation", "error"),
    [("send_message", NotRetryable("hopeless")), ("change_message_visibility", Retryable("busy"))],
)
def test_refusal_of_sqs_leaves_the_message_where_it_is(operation: str, error: Exception) -> None:
    """It is not settled: raising leaves it to the queue's own time-out and redrive."""
    sqs = boto3.client("sqs")
    redelivery = DeadLetters(sqs, settings())
    with Stubber(sqs) as stub:
        stub.add_client_error(operation, "Throttled")
        with pytest.raises(ClientError, match="Throttled"):
            redelivery.settle(ReceivedMessage("the body", "handle", 1, "id", "arrivals"), error)


def test_a_released_message_is_never_hidden_for_longer_than_sqs_takes() -> None:
    """SQS counts its 12 hours from the receive, an invocation ago at most."""
    [seconds] = settled(1, Released(99_999_999_999)).delays_seconds
    assert seconds == 43_200 - 900

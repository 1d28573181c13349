"""Any other message is a `MalformedMessage`, and nothing else."""

import json
from typing import Any

import pytest
from tests.support.events import eventbridge, from_sns, notification, with_field

from bucketsum.errors import MalformedMessage
from bucketsum.events.notifications import events_in

NOT_A_TEXT = [..., None, "", 0, 1.5, True, ["x"], {"x": "y"}, "\ud800"]
BAD_SIZES = [..., None, "", "1024", -1, 1.0, True, False, [1], {"x": 1}]
BAD_SIZES += [2**63, 10**130, float("nan"), float("inf")]


NOT_A_MOMENT = [
    "now",
    "\x1b[31m",
    "A" * 500_000,
    "2026-11-21T03:04:05+01:00",
    "2026-11-21",
    "2026-11-21T03:04:79Z",
]


def _bad(path: str, values: list[Any]) -> list[Any]:
    return [pytest.param(path, value, id=f"{path}={ascii(value)[:20]}") for value in values]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *_bad("eventVersion", [*NOT_A_TEXT, "1.0", "3.0", "20.0"]),
        *_bad("eventName", [*NOT_A_TEXT, "ObjectTagging:Put", "s3:ObjectRestore:Post"]),
        *_bad("eventTime", [*NOT_A_TEXT, *NOT_A_MOMENT]),
        *_bad("s3", [..., None, 1, "text", []]),
        *_bad("s3.bucket", [..., None, "inbox", []]),
        *_bad("s3.bucket.name", [*NOT_A_TEXT, "ab", "a b c", "a/b", "...", "arn:aws:s3:::inbox"]),
        *_bad("s3.object", [..., None, 7, []]),
        *_bad("s3.object.key", [*NOT_A_TEXT, "%FF%FE", "a%ED%A0%80", "k" * 1025]),
        *_bad("s3.object.size", BAD_SIZES),
        *_bad("s3.object.sequencer", [*NOT_A_TEXT, "xyz", "0 1", "-1", "0" * 33]),
        *_bad("s3.object.versionId", [0, False, ["x"], "\ud800", "a b", "ü", "v" * 1025]),
        *_bad("s3.object.eTag", [0, False, {}, "\udfff", 'a"b', "a\nb", "e" * 1025]),
    ],
)
def test_native_field_out_of_range_is_named(path: str, value: object) -> None:
    """A field that is missing, of the wrong type or out of range keeps the message aside."""
    with pytest.raises(MalformedMessage) as caught:
        events_in(with_field(notification(), f"Records.0.{path}", value))
    name = path.rpartition(".")[2]
    assert name.lower() in str(caught.value).lower()
    str(caught.value).encode()  # a reason that cannot be sent on would lose the message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *_bad("time", [*NOT_A_TEXT, *NOT_A_MOMENT]),
        *_bad("detail", [..., None, 1, []]),
        *_bad("detail.bucket.name", [*NOT_A_TEXT, "arn:aws:s3:us-east-1:1:accesspoint/x"]),
        *_bad("detail.object.key", [*NOT_A_TEXT, "k" * 1025]),
        *_bad("detail.object.size", BAD_SIZES),
        *_bad("detail.object.sequencer", [*NOT_A_TEXT, "xyz"]),
        *_bad("detail.object.version-id", [0, ["x"], "\ud800"]),
        *_bad("detail.object.etag", [0, ["x"], '"quoted"']),
    ],
)
def test_eventbridge_field_out_of_range_is_refused(path: str, value: object) -> None:
    """An EventBridge event is held to the same rules."""
    with pytest.raises(MalformedMessage):
        events_in(with_field(eventbridge(), path, value))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("", "not JSON", id="empty"),
        pytest.param("{'Records': []}", "not JSON", id="python"),
        pytest.param("[" * 100_000 + "]" * 100_000, "not JSON", id="deep"),
        pytest.param('{"Records": ' + "9" * 5000 + "}", "not JSON", id="huge-number"),
        pytest.param("[]", "a JSON list, not an object", id="list"),
        pytest.param("7", "a JSON int, not an object", id="number"),
        pytest.param("NaN", "a JSON float, not an object", id="nan"),
        pytest.param("null", "a JSON NoneType, not an object", id="null"),
        pytest.param("{}", "unknown envelope", id="no-fields"),
        pytest.param('{"Records": []}', "unknown envelope", id="no-records"),
        pytest.param('{"Records": {"s3": 1}}', "unknown envelope", id="records-an-object"),
        pytest.param('{"Records": 7}', "unknown envelope", id="records-a-number"),
        pytest.param('{"Records": [[]]}', "a record is a JSON list", id="record-a-list"),
        pytest.param('{"detail-type": "Object Deleted"}', "deletion-type is None", id="deleted"),
        pytest.param('{"detail-type": "Object Tags Added"}', "unknown envelope", id="tagged"),
        pytest.param('{"detail-type": []}', "unknown envelope", id="detail-type-a-list"),
        pytest.param('{"Type": "SubscriptionConfirmation", "TopicArn": "x"}', "unknown", id="sns"),
        pytest.param('{"Type": "Notification", "TopicArn": "x"}', "Message is None", id="no-sns"),
        pytest.param(json.dumps(from_sns("text")), "a JSON str", id="sns-text"),
        pytest.param(json.dumps(from_sns(from_sns(notification()))), "unknown", id="sns-in-sns"),
    ],
)
def test_other_messages_are_refused_with_a_reason(body: str, reason: str) -> None:
    """The error for an unknown envelope describes it."""
    with pytest.raises(MalformedMessage, match=reason):
        events_in(body)


def test_the_text_of_an_error_is_short() -> None:
    """A message has up to 1 MiB; its names must not fill the log."""
    with pytest.raises(MalformedMessage, match="unknown envelope") as error:
        events_in(json.dumps({f"{n}" * 20_000: 1 for n in range(10)}))
    assert len(str(error.value)) < 1000

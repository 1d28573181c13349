"""Notifications in every envelope that AWS sends, with every key that S3 accepts."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.events import (
    LANDED,
    TEST_EVENT,
    created_in,
    eventbridge,
    from_sns,
    notification,
    with_field,
)

from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum.events.notifications import events_in

SAMPLE = Path(__file__).parents[2] / "events" / "sqs-eventbridge.json"
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda key: len(key.encode()) <= KEY_MAX_BYTES
)


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param(notification(), id="s3"),
        pytest.param(eventbridge(), id="eventbridge"),
        pytest.param(from_sns(notification()), id="s3-in-sns"),
        pytest.param(from_sns(eventbridge()), id="eventbridge-in-sns"),
    ],
)
def test_every_envelope_names_the_same_object(envelope: dict[str, Any]) -> None:
    """However an event travels, the arrival is the same."""
    assert events_in(json.dumps(envelope)) == [LANDED]


@pytest.mark.parametrize("envelope", [TEST_EVENT, from_sns(TEST_EVENT)], ids=["s3", "sns"])
def test_test_event_names_nothing(envelope: dict[str, Any]) -> None:
    """The test event that S3 sends on set-up names no objects."""
    assert events_in(json.dumps(envelope)) == []


def test_several_records_keep_their_order() -> None:
    """A notification of several objects names each of them, in order."""
    records = [notification()["Records"][0] for _ in range(3)]
    for number, record in enumerate(records):
        record["s3"]["object"]["key"] = f"key-{number}"
    body = json.dumps({"Records": records})
    assert [created.key for created in events_in(body)] == ["key-0", "key-1", "key-2"]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("a%2Fb%252Fc", "a/b%2Fc"),
        ("über.txt", "über.txt"),
        ("plain%zz", "plain%zz"),
    ],
)
def test_native_keys_are_form_decoded_once(sent: str, key: str) -> None:
    """S3 form-encodes the keys in its own notifications."""
    body = with_field(notification(), "Records.0.s3.object.key", sent)
    assert events_in(body)[0].key == key


@given(KEYS)
def test_any_key_survives_the_journey(key: str) -> None:
    """Every key that S3 accepts survives every envelope."""
    encoded = quote_plus(key, safe="/")
    native = with_field(notification(), "Records.0.s3.object.key", encoded)
    assert events_in(native)[0].key == key
    assert events_in(json.dumps(from_sns(json.loads(native))))[0].key == key
    assert events_in(with_field(eventbridge(), "detail.object.key", key))[0].key == key


@pytest.mark.parametrize("character", ["k", "é", "文", "🙂"])
def test_key_may_have_1024_bytes_and_no_more(character: str) -> None:
    """The limit counts bytes of UTF-8, not characters."""
    longest = character * (KEY_MAX_BYTES // len(character.encode()))
    longest += "k" * (KEY_MAX_BYTES - len(longest.encode()))
    path = "detail.object.key"
    assert events_in(with_field(eventbridge(), path, longest))[0].key == longest
    with pytest.raises(MalformedMessage, match="1025 bytes, S3 allows 1024"):
        events_in(with_field(eventbridge(), path, longest + "k"))


@pytest.mark.parametrize("absent", [..., None, ""])
@pytest.mark.parametrize("name", ["versionId", "eTag"])
def test_version_and_etag_may_be_absent(name: str, absent: object) -> None:
    """A bucket without versions sends no version, and some events send no entity tag."""
    arrival = created_in(with_field(notification(), f"Records.0.s3.object.{name}", absent))[0]
    assert (arrival.version_id if name == "versionId" else arrival.etag) is None


def test_newer_minor_event_versions_are_read() -> None:
    """AWS raises the minor number for what does not break readers, and adds fields freely."""
    record = notification()["Records"][0] | {"eventVersion": "2.9", "new": {"field": [1]}}
    record["eventName"] = "s3:ObjectCreated:CompleteMultipartUpload"
    assert events_in(json.dumps({"Records": [record]})) == [LANDED]


def test_eventbridge_events_have_a_version_of_their_own() -> None:
    """The sample has what S3 documents; a later minor version adds fields, which are ignored."""
    [message] = json.loads(SAMPLE.read_bytes())["Records"]
    event = json.loads(message["body"])
    assert event["detail"]["event-version"] == "1.1"
    later = with_field(event, "detail.bucket.aws-generated-tags", {"stack": "x"})
    later = with_field(json.loads(later), "detail.event-version", "1.9")
    assert events_in(later) == events_in(message["body"])


def test_sequencer_is_upper_case() -> None:
    """One way to write a number, so that comparing texts compares events."""
    body = with_field(notification(), "Records.0.s3.object.sequencer", "00aBcDeF")
    assert created_in(body)[0].sequencer == "00ABCDEF"

"""The files of events/ are what their generator makes, and say what AWS says."""

import contextlib
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from events import objects
from events.generate import main, write_events
from tests.build.local_aws import LocalAws
from tests.support.events import created_in

from bucketsum.errors import MalformedMessage

EVENTS: Final = Path(objects.__file__).parent
NAMES: Final = sorted(path.name for path in EVENTS.glob("sqs-*.json"))


def messages_of(name: str) -> list[dict[str, Any]]:
    """The queue messages of one event."""
    messages: list[dict[str, Any]] = json.loads((EVENTS / name).read_bytes())["Records"]
    return messages


def test_events_are_as_generated(tmp_path: Path) -> None:
    """`make events` changes nothing: no file was edited by hand, added or left behind."""
    written = write_events(tmp_path, objects.BUCKET, objects.EXAMPLE_VERSIONS)
    assert sorted(path.name for path in written) == NAMES
    assert {path.name: path.read_bytes() for path in written} == {
        name: (EVENTS / name).read_bytes() for name in NAMES
    }


def test_batch_carries_every_message() -> None:
    """The batch is all the other events' messages, each under an id of its own."""
    others = [
        message for name in NAMES if name != "sqs-batch.json" for message in messages_of(name)
    ]
    batch = messages_of("sqs-batch.json")
    by_id = {message["messageId"]: message for message in batch}
    assert len(by_id) == len(batch)
    assert by_id == {message["messageId"]: message for message in others}


@pytest.mark.parametrize(
    "message", messages_of("sqs-batch.json"), ids=lambda message: message["messageId"]
)
def test_message_has_its_checksum(message: dict[str, Any]) -> None:
    """SQS sends the MD5 of each body with it."""
    digest = hashlib.md5(message["body"].encode(), usedforsecurity=False)
    assert message["md5OfBody"] == digest.hexdigest()


def test_events_tell_the_objects_as_they_are() -> None:
    """The events describe an object as S3 would: decoded key, size, entity tag, version."""
    parsed = set()
    for message in messages_of("sqs-batch.json"):
        try:
            parsed |= {
                (created.bucket, created.key, created.size_bytes, created.etag, created.version_id)
                for created in created_in(message["body"])
            }
        except MalformedMessage:
            assert message == messages_of("sqs-malformed.json")[0]
    assert parsed == {
        (objects.BUCKET, example.key, len(example.content), example.etag, example.version_id)
        for example in objects.OBJECTS
    }


def test_native_keys_are_form_encoded() -> None:
    """A native notification writes a space as ``+`` and a plus as ``%2B``, as live S3 does."""
    [message] = messages_of("sqs-s3-awkward-key.json")
    [record] = json.loads(message["body"])["Records"]
    key = record["s3"]["object"]["key"]
    assert key.isascii()
    assert "+%26+100%25/" in key
    assert "+%2B+" in key
    assert "%20" not in key


def test_sequencers_grow() -> None:
    """Objects that landed later have higher sequencers, of sixteen digits and more."""
    sequencers = [example.sequencer for example in objects.OBJECTS]
    assert sequencers == sorted(set(sequencers))
    assert {len(sequencer) for sequencer in sequencers} == {18}


def test_events_can_be_made_for_any_bucket(
    local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a bucket of one's own the objects are uploaded, and the events name their versions."""
    local_aws.s3.create_bucket(Bucket="mine")
    local_aws.s3.put_bucket_versioning(Bucket="mine", VersioningConfiguration={"Status": "Enabled"})
    monkeypatch.setenv("AWS_ENDPOINT_URL", local_aws.endpoint)
    monkeypatch.setattr(sys, "argv", ["generate", "--bucket", "mine", "--into", str(tmp_path)])
    main()
    listed = local_aws.s3.list_object_versions(Bucket="mine")["Versions"]
    stored = {
        (version["Key"], version["VersionId"], version["ETag"].strip('"'), version["Size"])
        for version in listed
    }
    parsed = set()
    for message in json.loads((tmp_path / "sqs-batch.json").read_bytes())["Records"]:
        with contextlib.suppress(MalformedMessage):
            parsed |= {
                (created.key, created.version_id, created.etag, created.size_bytes)
                for created in created_in(message["body"])
                if created.bucket == "mine"
            }
    assert parsed == stored
    assert {key for key, *_ in stored} == {example.key for example in objects.OBJECTS}

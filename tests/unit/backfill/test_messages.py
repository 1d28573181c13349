"""Messages of listed objects: what is written is read, and nothing else."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.backfill import is_listed
from bucketsum.backfill.messages import (
    OBJECTS_MAX,
    TOTAL_BYTES_MAX,
    bodies_of,
    listed_objects_in,
)
from bucketsum.backfill.selection import MEMBERS, Selection
from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import KEY_MAX_BYTES
from bucketsum.events.object_events import ObjectCreated
from bucketsum.hashing.ending import Purpose
from bucketsum.table.sequencer import NO_SEQUENCER

ID: Final = "20261121T100000-3f9a1c"
KEYS: Final = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200).filter(
    lambda key: len(key.encode()) <= KEY_MAX_BYTES
)
OBJECTS: Final = st.builds(
    ObjectCreated,
    bucket=st.just("inbox"),
    key=KEYS,
    version_id=st.none() | st.just("096fKKXTRTtl3on89fVO.nfljtsv6qko"),
    etag=st.just("d41d8cd98f00b204e9800998ecf8427e-3"),
    size_bytes=st.integers(0, 50 * 10**12),
    sequencer=st.just(NO_SEQUENCER),
    event_time=st.just("2026-11-20T10:00:00Z"),
)
GOOD: Final[dict[str, Any]] = {
    "backfill": ID,
    "bucket": "inbox",
    "objects": [
        {"key": "a", "version_id": None, "etag": "e", "size_bytes": 1,
         "last_modified": "2026-11-20T10:00:00Z"},
    ],
}  # fmt: skip


@given(
    objects=st.lists(OBJECTS, max_size=40),
    selection=st.just(Selection())
    | st.builds(
        Selection,
        st.just(Purpose.VERIFY),
        st.none() | st.just("2026-08-22T00:00:00Z"),
        st.sampled_from([None, MEMBERS, *EXTRA_ALGORITHMS]),
    ),
)
def test_what_is_written_is_read(objects: list[ObjectCreated], selection: Selection) -> None:
    """All objects arrive, in order, in messages that SQS takes and a retry can bear."""
    bodies = list(bodies_of(ID, objects, selection))
    messages = [listed_objects_in(body) for body in bodies]

    assert [listed for message in messages for listed in message.objects] == objects
    for body, message in zip(bodies, messages, strict=True):
        assert (message.backfill_id, message.selection) == (ID, selection)
        assert is_listed(body)
        assert body.isascii()
        assert len(body) < 64 * 1024
        assert 1 <= len(message.objects) <= OBJECTS_MAX
        total = sum(listed.size_bytes for listed in message.objects)
        assert total <= TOTAL_BYTES_MAX or len(message.objects) == 1


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (("backfill",), "", "backfill"),
        (("backfill",), "a/b", "not the id of a backfill"),
        (("bucket",), "arn:aws:s3:::x", "bucket name"),
        (("bucket",), 3, "bucket is 3"),
        (("purpose",), "certify", "not one of record, verify"),
        (("missing",), "sha3", "not a digest nor members"),
        (("missing",), ["sha256"], "not a digest nor members"),
        (("older_than",), "90d", "not a moment"),
        (("objects",), [], "1 to 10"),
        (("objects",), {}, "1 to 10"),
        (("objects",), GOOD["objects"] * 11, "1 to 10"),
        (("objects", 0), "a", "not an object"),
        (("objects", 0, "key"), "", "key"),
        (("objects", 0, "key"), "k" * 1025, "1025 bytes"),
        (("objects", 0, "key"), "\ud800", "UTF-8"),
        (("objects", 0, "version_id"), 'a"b', "version_id"),
        (("objects", 0, "etag"), None, "etag is missing"),
        (("objects", 0, "etag"), "a b", "etag"),
        (("objects", 0, "size_bytes"), -1, "size_bytes"),
        (("objects", 0, "size_bytes"), True, "size_bytes"),
        (("objects", 0, "last_modified"), "yesterday", "last_modified"),
    ],
)
def test_a_field_that_is_not_valid_is_named(
    path: tuple[str | int, ...], value: object, text: str
) -> None:
    """Such a message goes to the dead-letter queue, and its reason says which field it is."""
    message: Any = json.loads(json.dumps(GOOD))
    *way, last = path
    place = message
    for step in way:
        place = place[step]
    place[last] = value

    with pytest.raises(MalformedMessage, match=text):
        listed_objects_in(json.dumps(message))


def test_the_null_version_is_none() -> None:
    """As in an event of a bucket without versions, so that both have one row."""
    message = json.loads(json.dumps(GOOD))
    message["objects"][0]["version_id"] = "null"
    assert listed_objects_in(json.dumps(message)).objects[0].version_id is None

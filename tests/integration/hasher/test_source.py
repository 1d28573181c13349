"""Objects read without a break: bytes, refusals, memory."""

import gzip
import threading
import tracemalloc
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from mypy_boto3_s3 import S3Client
from tests.integration.hasher.reading import (
    BODY,
    PATH,
    Reader,
    Reading,
    arrival_of,
    every_reader,
    put_at,
)
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3

from bucketsum.digest import digest_of
from bucketsum.s3.curl_connections import HELD_BYTES

pytestmark = every_reader

MIB: Final = 1024 * 1024
SLACK_BYTES: Final = MIB // 2  # the server's own pieces, headers, what boto3 makes on the way


@given(size=st.integers(0, 200_000), chunk_bytes=st.integers(1, 70_000))
@hypothesis_settings(max_examples=40)
def test_any_object_size(
    running: tuple[HostileS3, S3Client], size: int, chunk_bytes: int, reader: Reader
) -> None:
    """Every byte is yielded once and in order, in chunks that are never empty."""
    s3, client = running
    stored = s3.put(PATH, (BODY * 20)[:size])
    chunks = list(reader.source(client, chunk_bytes).open(arrival_of(stored)).chunks)
    assert b"".join(chunks) == stored.body
    assert all(chunks)
    assert reader.streams or all(len(chunk) <= chunk_bytes for chunk in chunks)  # its memory


def test_an_open_object_says_what_it_is(reading: Reading) -> None:
    """Size and entity tag are those of what S3 sends."""
    stored = reading.s3.put(PATH, BODY, "v1")
    opened = reading.source(4096).open(arrival_of(stored))
    opened.chunks.close()
    assert (opened.size_bytes, opened.etag) == (len(BODY), stored.etag)


def test_exactly_what_arrived_is_asked_for(reading: Reading) -> None:
    """Every request names key, version and entity tag, so that no other object can answer."""
    stored = reading.s3.put(PATH, BODY, "v1")
    reading.content_of(stored)
    assert len(reading.s3.requests) == (3 if reading.reader.streams > 1 else 1)
    for request in reading.s3.requests:
        assert (request.path, request.version_id) == (PATH, "v1")
        assert request.headers["if-match"] == f'"{stored.etag}"'


def test_an_older_version_is_read_for_its_own_event(reading: Reading) -> None:
    """Where a bucket keeps versions, each is read as it was, whatever came later."""
    versions = [reading.s3.put(PATH, b"first", "v1"), reading.s3.put(PATH, b"second", "v2")]
    assert [reading.content_of(version) for version in versions] == [b"first", b"second"]


def test_an_event_without_etag_reads_what_is_there(reading: Reading) -> None:
    """Nothing is compared where the event has nothing to compare with."""
    arrival = replace(arrival_of(reading.s3.put(PATH, BODY)), etag=None)
    opened = reading.source(4096).open(arrival)
    assert b"".join(opened.chunks) == BODY
    assert "if-match" not in reading.s3.requests[0].headers


@pytest.mark.parametrize(
    "key", ["a/../b", "./a/./b", "//a//", "a?b&c=d#e", "ünï/☃ +%2F", "~-_.!*'()", "a\\b"]
)
def test_a_key_is_a_key(reading: Reading, key: str) -> None:
    """Nothing in a key is taken for a path to be tidied up, a query or an escape."""
    arrival = put_at(reading.s3, key)
    assert b"".join(reading.source().open(arrival).chunks) == BODY
    assert {request.path for request in reading.s3.requests} == {f"inbox/{key}"}


def test_encoded_objects_are_read_as_stored(reading: Reading) -> None:
    """Content-Encoding is the business of who downloads: the stored bytes are what is hashed."""
    packed = gzip.compress(BODY)
    assert reading.content_of(reading.s3.put(PATH, packed, content_encoding="gzip")) == packed


def test_it_streams(reading: Reading) -> None:
    """The first chunk is yielded while S3 has not sent the last."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.script(
        Fault(piece_bytes=1024, pause=lambda sent: reading.s3.stall(sent) if sent else None)
    )
    chunks = reading.source(1024).open(arrival_of(stored)).chunks
    assert next(chunks) == BODY[:1024]
    reading.s3.resume()
    assert b"".join(chunks) == BODY[1024:]


def test_a_trickle_is_not_a_break(reading: Reading) -> None:
    """Bytes that come one by one make the same chunks."""
    reading.s3.script(Fault(piece_bytes=1))
    assert reading.content_of(reading.s3.put(PATH, BODY[:500])) == BODY[:500]
    assert len(reading.s3.requests) == 1


def test_one_connection_serves_object_after_object(reading: Reading) -> None:
    """An object read to its end, even an empty one, leaves its connections open for the next."""
    source = reading.source()
    for body in (BODY, b"", BODY[:1], b"", BODY):
        assert b"".join(source.open(arrival_of(reading.s3.put(PATH, body))).chunks) == body
    assert reading.s3.connections <= max(reading.reader.streams, 1)


def test_stopping_early_ends_the_connection(reading: Reading) -> None:
    """Closing the chunks tells S3 at once, even while something still refers to the body."""
    given_up, bodies = threading.Event(), []

    def keep(parsed: dict[str, Any], **_: object) -> None:  # as a failure's traceback would
        bodies.append(parsed["Body"])

    reading.client.meta.events.register("after-call.s3.GetObject", keep)
    stored = reading.s3.put(PATH, bytes(64 * MIB))  # more than the buffers of two sockets take
    reading.s3.script(Fault(afterwards=given_up.set))
    chunks = reading.source(4096).open(arrival_of(stored)).chunks
    next(chunks)
    chunks.close()
    assert given_up.wait(30)
    assert bodies or reading.reader.streams  # else nothing referred to it


@pytest.mark.parametrize("chunk_bytes", [MIB, 8 * MIB])
@pytest.mark.parametrize("cut_after", [None, 20 * MIB + 1])
def test_memory_is_as_promised(reading: Reading, chunk_bytes: int, cut_after: int | None) -> None:
    """Reading and hashing 64 MiB holds what the readers say, also where a connection breaks."""
    source = reading.source(chunk_bytes)
    for chunk in source.open(put_at(reading.s3, "warm up")).chunks:
        del chunk  # what is made only once is not counted
    stored = reading.s3.put(PATH, bytes(64 * MIB))
    reading.s3.script(Fault(cut_after=cut_after))
    tracemalloc.start()
    try:
        digest_of(source.open(arrival_of(stored)).chunks)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    promised = {0: 2 * chunk_bytes, 1: HELD_BYTES, 3: 4 * chunk_bytes}[reading.reader.streams]
    assert peak <= promised + SLACK_BYTES

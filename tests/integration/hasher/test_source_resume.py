"""Broken connections: the same bytes or an error, never anything between."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from botocore.config import Config
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
    one_stream,
    s3_client,
)
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3, hostile_s3
from tests.support.tls import own_tls

from bucketsum.errors import (
    BucketsumError,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    SourceInterrupted,
    SourceUnavailable,
)
from bucketsum.s3.source import MAX_RESUMES

pytestmark = one_stream


@given(
    cuts=st.lists(
        st.sampled_from([0, len(BODY)]) | st.integers(0, len(BODY)), max_size=MAX_RESUMES
    ),
    gently=st.booleans(),
    chunk_bytes=st.sampled_from([1000, 4096, 20_000]),
)
@hypothesis_settings(max_examples=40)
def test_breaks_upon_breaks_change_nothing(
    running: tuple[HostileS3, S3Client],
    cuts: list[int],
    chunk_bytes: int,
    reader: Reader,
    *,
    gently: bool,
) -> None:
    """However often it breaks and wherever, up to the limit, every byte comes once, in order."""
    s3, client = running
    stored = s3.put(PATH, BODY)
    s3.script(*(Fault(cut_after=cut, gently=gently) for cut in cuts))
    assert reader.content_of(client, stored, chunk_bytes) == BODY
    s3.forget_script()


def test_resuming_is_bounded_and_pauses_longer_each_time(reading: Reading) -> None:
    """After ten resumes the message goes back, and the error names the byte."""
    pauses: list[float] = []
    reading.s3.always = Fault(cut_after=5, gently=True)
    with pytest.raises(SourceInterrupted, match=r"broke 11 times, last at byte 55 of 10240"):
        reading.content_of(reading.s3.put(PATH, BODY), 5, pauses.append)
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0, 2.0, 2.0]


def test_an_object_that_never_comes_is_given_up(reading: Reading) -> None:
    """A connection that is reset before any byte, always, ends as a retry for later."""
    reading.s3.always = Fault(cut_after=0)
    with pytest.raises((SourceInterrupted, SourceUnavailable)):
        reading.content_of(reading.s3.put(PATH, BODY))


def test_a_resume_asks_for_the_rest_of_the_same_object(reading: Reading) -> None:
    """It names the next byte, the version and the entity tag."""
    stored = reading.s3.put(PATH, BODY, "v1")
    reading.s3.script(Fault(cut_after=4500, gently=True))
    reading.content_of(stored, 1000)
    first, again = reading.s3.requests
    assert "range" not in first.headers
    assert (again.path, again.version_id) == (PATH, "v1")
    assert again.headers["range"] == "bytes=4500-"  # a short chunk was yielded before the break
    assert again.headers["if-match"] == f'"{stored.etag}"'


def test_a_resume_compares_even_where_the_event_could_not(reading: Reading) -> None:
    """Without an entity tag in the event, the one of the first answer guards the rest."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.script(Fault(cut_after=100, afterwards=lambda: reading.s3.put(PATH, BODY[::-1])))
    arrival = replace(arrival_of(stored), etag=None)
    with pytest.raises(ObjectSuperseded):
        list(reading.source(10, lambda _seconds: None).open(arrival).chunks)


def test_a_version_is_continued_though_newer_ones_came(reading: Reading) -> None:
    """Where versions are kept, the break is continued in the version that was begun."""
    stored = reading.s3.put(PATH, BODY, "v1")
    reading.s3.script(
        Fault(cut_after=100, afterwards=lambda: reading.s3.put(PATH, BODY[::-1], "v2"))
    )
    assert reading.content_of(stored) == BODY


LIES: Final = {
    "range ignored": Fault(ignore_range=True),
    "other start": Fault(headers={"Content-Range": "bytes 0-99/10240"}),
    "other end": Fault(headers={"Content-Range": "bytes 4096-10000/10240"}),
    "other size": Fault(headers={"Content-Range": "bytes 4096-10239/10241"}),
    "size unknown": Fault(headers={"Content-Range": "bytes 4096-10239/*"}),
    "nonsense": Fault(headers={"Content-Range": "all of it"}),
    "fewer bytes than the range": Fault(body=lambda body: body[:-1]),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_wrong_continuation_is_refused(reading: Reading, lie: Fault) -> None:
    """A response that does not continue at the next byte is an error, not a digest."""
    reading.s3.script(Fault(cut_after=4096, gently=True))
    reading.s3.always = lie
    with pytest.raises(SourceInterrupted, match="not the requested one"):
        reading.content_of(reading.s3.put(PATH, BODY))


def test_a_continuation_with_another_etag_is_refused(reading: Reading) -> None:
    """A store that ignores If-Match and has another object now is found out by its answer."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.script(Fault(cut_after=100, afterwards=lambda: reading.s3.put(PATH, BODY[::-1])))
    reading.s3.always = Fault(ignore_conditions=True)
    with pytest.raises(SourceInterrupted, match=stored.etag):
        reading.content_of(stored)


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (403, "AccessDenied", ObjectUnreadable),
        (404, "NoSuchKey", ObjectGone),
        (503, "SlowDown", SourceUnavailable),
        (416, "InvalidRange", SourceUnavailable),
    ],
)
def test_a_refused_resume_means_what_a_refusal_means(
    reading: Reading, status: int, code: str, error: type[BucketsumError]
) -> None:
    """In the middle of an object the error codes mean the same as at its beginning."""
    is_gone = error is ObjectGone
    reading.s3.script(
        Fault(cut_after=100, afterwards=lambda: reading.s3.delete(PATH) if is_gone else None)
    )
    reading.s3.always = Fault(refuse=(status, code, "because"))
    with pytest.raises(error, match=code):
        reading.content_of(reading.s3.put(PATH, BODY))


def test_a_silent_connection_is_a_broken_one(hostile: HostileS3, reader: Reader) -> None:
    """When no byte comes for the read time-out, the object is continued on another connection."""
    stored = hostile.put(PATH, BODY)
    hostile.script(Fault(piece_bytes=100, pause=lambda sent: hostile.stall(sent) if sent else None))
    impatient = Config(read_timeout=2, retries={"total_max_attempts": 1, "mode": "standard"})
    with s3_client(hostile.endpoint_url, impatient) as client:
        assert reader.content_of(client, stored) == BODY
    assert len(hostile.requests) == 2


def test_a_garbled_tls_record_is_a_broken_connection(tmp_path: Path, reader: Reader) -> None:
    """Bytes that fail TLS's own check are never hashed; the object is continued."""
    context, authority = own_tls(tmp_path)
    trusting = replace(reader, verify=str(authority))
    with (
        hostile_s3(context) as s3,
        s3_client(s3.endpoint_url, verify=str(authority)) as client,
    ):
        s3.script(Fault(piece_bytes=1000, garble_after=3000))
        assert trusting.content_of(client, s3.put(PATH, BODY), 1000) == BODY
        assert [request.headers.get("range") for request in s3.requests] == [None, "bytes=3000-"]
        assert {request.by_libcurl for request in s3.requests} == {reader.streams > 0}

"""Refusals of S3: the meaning of each, and its text for a person."""

import socket
from dataclasses import replace
from typing import Final

import pytest
from botocore.config import Config
from tests.integration.hasher.reading import BODY, PATH, Reader, Reading, every_reader, s3_client
from tests.support.s3_faults import Fault
from tests.support.s3_server import HostileS3

from bucketsum.errors import (
    BucketsumError,
    ObjectArchived,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    SourceInterrupted,
    SourceUnavailable,
)

pytestmark = every_reader

REFUSALS: Final = [
    (404, "NoSuchKey", ObjectGone),
    (404, "NoSuchVersion", ObjectGone),
    (404, "NoSuchBucket", ObjectGone),
    (404, "", SourceUnavailable),
    (405, "MethodNotAllowed", ObjectGone),
    (412, "PreconditionFailed", ObjectSuperseded),
    (412, "", SourceUnavailable),
    (403, "InvalidObjectState", ObjectArchived),
    (403, "AccessDenied", ObjectUnreadable),
    (403, "", SourceUnavailable),
    (403, "AllAccessDisabled", ObjectUnreadable),
    (400, "InvalidRequest", ObjectUnreadable),
    (400, "KMS.DisabledException", ObjectUnreadable),
    (400, "KMS.NotFoundException", ObjectUnreadable),
    (400, "KMS.KMSInvalidStateException", ObjectUnreadable),
    (400, "KMS.ThrottlingException", SourceUnavailable),
    (500, "KMS.KMSInternalException", SourceUnavailable),
    (503, "AccessDenied", SourceUnavailable),
    (503, "SlowDown", SourceUnavailable),
    (500, "InternalError", SourceUnavailable),
    (503, "", SourceUnavailable),
    (403, "ExpiredToken", SourceUnavailable),
    (403, "RequestTimeTooSkewed", SourceUnavailable),
    (301, "PermanentRedirect", SourceUnavailable),
    (400, "RequestTimeout", SourceUnavailable),
]


@pytest.mark.parametrize(("status", "code", "error"), REFUSALS)
def test_every_refusal_has_its_meaning(
    reading: Reading, status: int, code: str, error: type[BucketsumError]
) -> None:
    """An error code says whether the object is gone, replaced, closed to us, or S3 unwell."""
    stored = reading.s3.put(PATH, BODY)
    if issubclass(error, (ObjectGone, ObjectSuperseded)):  # else a HEAD shows that it is there
        reading.s3.delete(PATH)
    reading.s3.always = Fault(refuse=(status, code, "because"))
    with pytest.raises(error) as caught:
        reading.content_of(stored)
    assert type(caught.value) is error
    assert (code or str(status)) in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (403, "InvalidObjectState", "restore it"),
        (403, "AccessDenied", "let the hasher's role read"),
        (400, "InvalidRequest", "customer's own key"),
        (400, "KMS.DisabledException", "KMS key"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(
    reading: Reading, status: int, code: str, advice: str
) -> None:
    """A person learns from the reason what to do, and S3's own words."""
    reading.s3.always = Fault(refuse=(status, code, "the words of S3"))
    with pytest.raises(ObjectUnreadable, match=advice) as caught:
        reading.content_of(reading.s3.put(PATH, BODY))
    assert "the words of S3" in str(caught.value)


@pytest.mark.parametrize("storage_class", ["DEEP_ARCHIVE", "GLACIER", None])
def test_a_refusal_names_the_storage_class(reading: Reading, storage_class: str | None) -> None:
    """S3's document has it, if the object is archived; that of other servers may not."""
    known = f"</Message><StorageClass>{storage_class}</StorageClass><Message>"
    message = f"not valid{known if storage_class else ''}"
    reading.s3.always = Fault(refuse=(403, "InvalidObjectState", message))
    with pytest.raises(ObjectArchived) as caught:
        reading.content_of(reading.s3.put(PATH, BODY))
    assert caught.value.storage_class == storage_class


def test_a_delete_marker_hides_no_version(reading: Reading) -> None:
    """A version under a delete marker is still read; the marker itself is nothing to read."""
    stored = reading.s3.put(PATH, BODY, "v1")
    reading.s3.delete(PATH, marker_id="v2")
    assert reading.content_of(stored) == BODY
    with pytest.raises(ObjectGone):
        reading.content_of(replace(stored, version_id="v2"))


def test_an_object_from_before_versioning_is_read(reading: Reading) -> None:
    """Its event has no version; it stays as version null below newer versions and a marker."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.put(PATH, b"its successor", "v1")
    assert reading.content_of(stored) == BODY
    reading.s3.delete(PATH, marker_id="v2")
    assert reading.content_of(stored) == BODY


def test_a_newer_version_of_the_same_bytes_is_not_version_null(reading: Reading) -> None:
    """Without a version in the request, S3 sends the newest; the entity tags are equal."""
    reading.s3.put(PATH, BODY)
    reading.s3.delete(PATH)
    newer = reading.s3.put(PATH, BODY, "v1")
    with pytest.raises(ObjectSuperseded):
        reading.content_of(replace(newer, version_id=None))


def test_an_overwritten_version_null_below_the_same_bytes_is_superseded(reading: Reading) -> None:
    """The newest version has the event's entity tag; only the second refusal is about ``null``."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.put(PATH, b"its successor")
    reading.s3.put(PATH, BODY, "v1")
    with pytest.raises(ObjectSuperseded):
        reading.content_of(stored)


@pytest.mark.parametrize("version_id", [None, "null"])
def test_an_overwritten_object_is_superseded(reading: Reading, version_id: str | None) -> None:
    """Where no versions are kept, also as version null, the successor is never read instead."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.put(PATH, b"its successor")
    with pytest.raises(ObjectSuperseded):
        reading.content_of(replace(stored, version_id=version_id))


def test_a_store_that_ignores_if_match_deceives_nobody(reading: Reading) -> None:
    """The entity tag of the answer is compared too; as it cannot be, it is tried again."""
    stored = reading.s3.put(PATH, BODY)
    reading.s3.put(PATH, b"its successor")
    reading.s3.always = Fault(ignore_conditions=True)
    with pytest.raises(SourceInterrupted, match=stored.etag):
        reading.content_of(stored)


def test_an_error_that_breaks_off_is_no_answer(reading: Reading) -> None:
    """A refusal whose text never arrives says nothing of the object: try again later."""
    reading.s3.always = Fault(refuse=(403, "AccessDenied", "because"), cut_after=10)
    with pytest.raises(SourceUnavailable):
        reading.content_of(reading.s3.put(PATH, BODY))


def test_an_endpoint_that_refuses_connections(hostile: HostileS3, reader: Reader) -> None:
    """Where nobody listens, the object is as it was: try again later."""
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))  # bound but not listening, so that nobody else can
        with (
            s3_client(f"http://127.0.0.1:{occupied.getsockname()[1]}") as client,
            pytest.raises(SourceUnavailable, match="could not be reached"),
        ):
            reader.content_of(client, hostile.put(PATH, BODY))


def test_a_throttle_that_passes_is_waited_out(hostile: HostileS3, reader: Reader) -> None:
    """The hasher's own client tries four times before an object goes back to the queue."""
    hostile.script(*[Fault(refuse=(503, "SlowDown", "Please reduce your request rate."))] * 3)
    with s3_client(hostile.endpoint_url, Config()) as client:
        assert reader.content_of(client, hostile.put(PATH, BODY)) == BODY

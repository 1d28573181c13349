"""S3's checksum comes from the response, a HEAD, or a list of parts; else the reason is kept."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from tests.support.checksums import Kept, base64_of, crc32, whole

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.stored_checksums import StoredChecksums
from bucketsum.table.checksum_values import ChecksumResult, Compared

ETAG = "0123456789abcdef0123456789abcdef-2"
CREATED = ObjectCreated(
    bucket="photos", key="a b.tif", version_id="v1", etag=ETAG, size_bytes=8,
    sequencer="0A", event_time="2026-11-28T06:00:00.000Z",
)  # fmt: skip
NAMES = {"Bucket": "photos", "Key": "a b.tif", "VersionId": "v1"}


COMPOSITE = Kept([b"abcde", b"fgh"]).text
WHOLE = whole(b"abcdefgh").text


def page(*parts: tuple[int, bytes], etag: str = ETAG, **listed: object) -> dict[str, Any]:
    """An output of GetObjectAttributes."""
    content = [
        {"PartNumber": number, "Size": len(data), "ChecksumCRC32": base64_of(crc32(data))}
        for number, data in parts
    ]
    return {"ETag": etag, "ObjectParts": {"Parts": content, **listed}}


@pytest.fixture
def s3() -> Iterator[Stubber]:
    """A client that answers nothing but what a test adds."""
    client = boto3.client(
        "s3", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def checksums_of(s3: Stubber) -> StoredChecksums:
    """The checksums that *s3* answers with."""
    client: Any = s3.client
    return StoredChecksums(client)


def compared(s3: Stubber, headers: dict[str, str], *chunks: bytes) -> Compared:
    """The result for *chunks*, in which the comparison has begun by *headers*."""
    witness = checksums_of(s3).witness(CREATED, headers)
    for chunk in chunks:
        witness.update(chunk)
    return witness.compared({})


def attributes(**more: object) -> dict[str, Any]:
    """The parameters of GetObjectAttributes."""
    return {**NAMES, "ObjectAttributes": ["ETag", "ObjectParts"], **more}


def test_a_checksum_in_the_response_needs_no_request(s3: Stubber) -> None:
    """A full-object checksum is compared without a further request."""
    headers = {"x-amz-checksum-crc32": WHOLE, "x-amz-checksum-type": "FULL_OBJECT"}
    assert compared(s3, headers, b"abcdefgh").result is ChecksumResult.EQUAL
    assert compared(s3, headers, b"abcdefgx").result is ChecksumResult.DIFFERS


def test_an_object_in_ranges_needs_a_head(s3: Stubber) -> None:
    """Without headers, a HEAD under the same entity tag asks for the object's checksum."""
    response = {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {
        "etag": f'"{ETAG}"', "x-amz-checksum-crc32": WHOLE}}}  # fmt: skip
    request = {**NAMES, "ChecksumMode": "ENABLED", "IfMatch": f'"{ETAG}"'}
    s3.add_response("head_object", response, request)
    assert compared(s3, {}, b"abcdefgh").result is ChecksumResult.EQUAL


def test_parts_come_in_pages(s3: Stubber) -> None:
    """A composite checksum is compared by the parts of all pages."""
    first = page((1, b"abcde"), IsTruncated=True, NextPartNumberMarker=1)
    s3.add_response("get_object_attributes", first, attributes())
    s3.add_response("get_object_attributes", page((2, b"fgh")),
                            attributes(PartNumberMarker=1))  # fmt: skip
    headers = {"x-amz-checksum-crc32": COMPOSITE, "x-amz-checksum-type": "COMPOSITE"}
    result = compared(s3, headers, b"abcdexgh")
    assert result.result is ChecksumResult.DIFFERS
    assert (result.reason or "").startswith("part 2 has crc32:")


@pytest.mark.parametrize("headers", [{"x-amz-version-id": "null"}, {}], ids=["versions", "none"])
def test_version_null_is_named(s3: Stubber, headers: dict[str, str]) -> None:
    """By the key alone, S3 would answer for a newer version, of the same bytes or of others."""
    metadata = {"HTTPStatusCode": 200, "HTTPHeaders": {
        **headers, "x-amz-checksum-crc32": COMPOSITE}}  # fmt: skip
    null = NAMES | {"VersionId": "null"}
    s3.add_response("head_object", {"ResponseMetadata": metadata},
                    null | {"ChecksumMode": "ENABLED", "IfMatch": f'"{ETAG}"'})  # fmt: skip
    names = null if headers else {"Bucket": "photos", "Key": "a b.tif"}  # there is no other version
    requested = names | {"ObjectAttributes": ["ETag", "ObjectParts"]}
    s3.add_response("get_object_attributes", page((1, b"abcde"), (2, b"fgh")), requested)
    witness = checksums_of(s3).witness(replace(CREATED, version_id=None), {})
    witness.update(b"abcdefgh")
    assert witness.compared({}).result is ChecksumResult.EQUAL


def test_parts_of_another_object_are_not_compared(s3: Stubber) -> None:
    """GetObjectAttributes has no condition, so the entity tag in its answer counts."""
    other = page((1, b"abcde"), (2, b"fgh"), etag="f" * 32)
    s3.add_response("get_object_attributes", other, attributes())
    result = compared(s3, {"x-amz-checksum-crc32": COMPOSITE})
    assert result.result is ChecksumResult.NOT_COMPARED
    assert "another object" in (result.reason or "")


def test_a_list_of_parts_without_end_is_not_followed(s3: Stubber) -> None:
    """A hostile list of parts costs a bounded number of requests."""
    endless = page(IsTruncated=True, NextPartNumberMarker=1)
    s3.add_response("get_object_attributes", endless, attributes())
    for _ in range(19):
        s3.add_response("get_object_attributes", endless, attributes(PartNumberMarker=1))
    result = compared(s3, {"x-amz-checksum-crc32": COMPOSITE})
    assert result.reason == "the list of parts does not end"


@pytest.mark.parametrize("operation", ["head_object", "get_object_attributes"])
def test_without_the_permission_the_reason_is_kept(s3: Stubber, operation: str) -> None:
    """A refusal of S3 does not keep the object from being hashed."""
    s3.add_client_error(operation, "AccessDenied", "x" * 500_000, http_status_code=403)
    headers = {"x-amz-checksum-crc32": COMPOSITE} if operation != "head_object" else {}
    result = compared(s3, headers)
    assert result.result is ChecksumResult.NOT_COMPARED
    assert "AccessDenied" in (result.reason or "")
    assert len(result.reason or "") < 200  # a row has at most 400 kB
    assert result.checksum == (f"crc32:{COMPOSITE}" if headers else None)


def test_an_object_without_a_checksum_says_so(s3: Stubber) -> None:
    """An object that has an entity tag only is not compared, and no problem."""
    result = compared(s3, {"etag": f'"{ETAG}"'})
    assert result == Compared(ChecksumResult.NOT_COMPARED, None, "S3 keeps no checksum of it")

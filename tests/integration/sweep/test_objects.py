"""Test objects: the same bytes every time, made once, and never half of one."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import pytest
from botocore.exceptions import ClientError
from tests.integration.sweep.conftest import BUCKET, Aws
from tests.support.sweeps import HASH

from bucketsum_lab.plan import generated_objects
from bucketsum_lab.plan.generated_objects import FRESH_FOR, GeneratedObjects
from bucketsum_lab.protocol.objects import content
from bucketsum_lab.protocol.probe import KnownObject


def body_of(aws: Aws, known: KnownObject) -> bytes:
    """The content of the object in the bucket."""
    return aws.s3.get_object(Bucket=BUCKET, Key=known["key"])["Body"].read()


@pytest.mark.parametrize(("parts", "rest"), [(0, 1), (1, -1), (1, 0), (1, 1), (2, 5)])
def test_an_object_has_its_size_and_its_sha1(
    aws: Aws, small_parts: int, parts: int, rest: int
) -> None:
    """Size and SHA-1 are right for any number of parts."""
    size_bytes = parts * small_parts + rest
    known = GeneratedObjects(aws.s3, BUCKET).ensured("objects/made", size_bytes, HASH)
    body = body_of(aws, known)
    assert len(body) == known["size_bytes"] == size_bytes
    assert known["sha1"] == hashlib.sha1(body, usedforsecurity=False).hexdigest()


def test_content_is_the_same_every_time(small_parts: int) -> None:
    """Sweeps on different days read the same bytes; no two parts are alike."""
    first, second = content(2 * small_parts)
    assert [first, second] == list(content(2 * small_parts))
    assert first != second


def test_an_object_that_is_about_to_expire_is_generated_again(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep does not start on an object that expires before it ends."""
    objects = GeneratedObjects(aws.s3, BUCKET)
    objects.ensured("objects/made", 10, HASH)
    etag = aws.s3.head_object(Bucket=BUCKET, Key="objects/made")["ETag"]
    aws.s3.put_object(Bucket=BUCKET, Key="objects/made", Body=b"0123456789", Metadata={"sha1": "x"})
    assert objects.ensured("objects/made", 10, HASH)["sha1"] == "x"  # still fresh: trusted

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Later:
            assert tz is UTC
            return cls.fromtimestamp((datetime.now(UTC) + FRESH_FOR).timestamp() + 1, UTC)

    monkeypatch.setattr(generated_objects, "datetime", Later)
    assert objects.ensured("objects/made", 10, HASH)["sha1"] != "x"
    assert aws.s3.head_object(Bucket=BUCKET, Key="objects/made")["ETag"] == etag


@pytest.mark.parametrize("metadata", [{}, {"sha1": "x"}])
def test_a_wrong_object_is_replaced(aws: Aws, metadata: dict[str, str]) -> None:
    """An object of another size, or without a digest in its metadata, is not used."""
    body = b"0123456789" if not metadata else b"short"
    aws.s3.put_object(Bucket=BUCKET, Key="objects/made", Body=body, Metadata=metadata)
    known = GeneratedObjects(aws.s3, BUCKET).ensured("objects/made", 10, HASH)
    assert body_of(aws, known) == next(content(10))


def test_an_upload_that_fails_leaves_nothing(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an object nor parts that cost money unseen."""

    def refuse(**_: object) -> NoReturn:
        raise ClientError({"Error": {"Code": "SlowDown"}}, "UploadPart")

    monkeypatch.setattr(aws.s3, "upload_part", refuse)
    with pytest.raises(ClientError, match="SlowDown"):
        GeneratedObjects(aws.s3, BUCKET).ensured("objects/made", 10, HASH)
    assert "Uploads" not in aws.s3.list_multipart_uploads(Bucket=BUCKET)
    assert "Contents" not in aws.s3.list_objects_v2(Bucket=BUCKET)


def test_a_refusal_is_not_taken_for_a_missing_object(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that may not be looked at is not written over."""

    def refuse(**_: object) -> NoReturn:
        raise ClientError(
            {"Error": {"Code": "403"}, "ResponseMetadata": {"HTTPStatusCode": 403}},  # type: ignore[typeddict-item] # the rest is not looked at
            "HeadObject",
        )

    monkeypatch.setattr(aws.s3, "head_object", refuse)
    with pytest.raises(ClientError, match="403"):
        GeneratedObjects(aws.s3, BUCKET).ensured("objects/made", 10, HASH)


def test_objects_stay_fresh_for_less_than_they_live() -> None:
    """The template's lifecycle takes them after 7 days; the longest sweep fits in between."""
    assert timedelta(days=6) >= FRESH_FOR

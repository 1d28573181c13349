"""Objects for sweeps to read: the same bytes every time, their SHA-1 beside them, made once."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum.errors import BadSweep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

SHA1_METADATA: Final = "sha1"
"""Where an object's known SHA-1 is kept, in hexadecimal."""

PART_BYTES: Final = 16 * 1024 * 1024
"""[A] S3 takes at most 10,000 parts: up to 167 GB."""

FRESH_FOR: Final = timedelta(days=5)
"""The bucket's lifecycle removes objects after 7 days, and no sweep may lose one while it runs."""


@dataclass(frozen=True, slots=True)
class KnownObject:
    """An object whose digest is known.

    Attributes:
        key: Its key.
        size_bytes: Its size.
        sha1: 40 lower-case hexadecimal characters.
    """

    key: str
    size_bytes: int
    sha1: str


def content(size_bytes: int) -> Iterator[bytes]:
    """The bytes of the test object of this size, in parts; no compression makes them smaller."""
    for number in range(-(-size_bytes // PART_BYTES)):
        length = min(PART_BYTES, size_bytes - number * PART_BYTES)
        yield random.Random(number).randbytes(length)  # noqa: S311 - not a secret


class TestObjects:
    """The objects in the sweeps' bucket, which notifies nobody."""

    __test__ = False  # pytest would take the name for a test's

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3 = s3
        self._bucket = bucket

    def named(self, key: str) -> KnownObject:
        """An object that somebody put there.

        Raises:
            BadSweep: It is not there, empty, or does not carry its SHA-1.
        """
        head = self._head(key)
        if head is None:
            raise BadSweep(
                f"keys names {key!r}, which is not in the bucket {self._bucket}; copy it there: "
                f"aws s3 cp FILE s3://{self._bucket}/{key} --metadata sha1=ITS_SHA1"
            )
        sha1 = head["Metadata"].get(SHA1_METADATA, "")
        if not head["ContentLength"] or not sha1:
            raise BadSweep(
                f"keys names {key!r}, which is empty or has no {SHA1_METADATA!r} in its metadata "
                "to check samples against; copy it with --metadata sha1=ITS_SHA1"
            )
        return KnownObject(key, head["ContentLength"], sha1)

    def ensured(self, key: str, size_bytes: int) -> KnownObject:
        """The test object of *size_bytes* at *key*, made now unless a fresh one is there."""
        head = self._head(key)
        if head is not None and self._usable(head, size_bytes):
            return KnownObject(key, size_bytes, head["Metadata"][SHA1_METADATA])
        sha1 = hashlib.sha1(usedforsecurity=False)
        for part in content(size_bytes):  # metadata is fixed before the first part is sent
            sha1.update(part)
        self._upload(key, size_bytes, sha1.hexdigest())
        return KnownObject(key, size_bytes, sha1.hexdigest())

    @staticmethod
    def _usable(head: dict[str, Any], size_bytes: int) -> bool:
        fresh: bool = datetime.now(UTC) - head["LastModified"] < FRESH_FOR
        known = SHA1_METADATA in head["Metadata"]
        return fresh and known and head["ContentLength"] == size_bytes

    def _head(self, key: str) -> dict[str, Any] | None:
        try:
            return dict(self._s3.head_object(Bucket=self._bucket, Key=key))
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == _NOT_FOUND:
                return None
            raise

    def _upload(self, key: str, size_bytes: int, sha1: str) -> None:
        """Multipart, as large objects land; what is not completed does not stay."""
        begun = self._s3.create_multipart_upload(
            Bucket=self._bucket, Key=key, Metadata={SHA1_METADATA: sha1}
        )
        upload_id = begun["UploadId"]
        try:
            parts = [
                self._part(key, upload_id, number, part)
                for number, part in enumerate(content(size_bytes), start=1)
            ]
            self._s3.complete_multipart_upload(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload_id,
                MultipartUpload={"Parts": parts},
            )
        except BaseException:
            self._s3.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload_id)
            raise

    def _part(self, key: str, upload_id: str, number: int, part: bytes) -> CompletedPartTypeDef:
        sent = self._s3.upload_part(
            Bucket=self._bucket, Key=key, UploadId=upload_id, PartNumber=number, Body=part
        )
        return {"PartNumber": number, "ETag": sent["ETag"]}


_NOT_FOUND: Final = 404

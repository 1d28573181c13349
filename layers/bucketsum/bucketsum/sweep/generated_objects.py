"""Generated objects for sweeps: the same bytes every time, written once, with a known digest."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum.errors import BadSweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

    from bucketsum.sweep.probe import KnownObject
    from bucketsum.sweep.workloads.protocol import Workload

SHA1_METADATA: Final = "sha1"
"""Metadata that holds an object's known SHA-1, in hexadecimal."""

PART_BYTES: Final = 16 * 1024 * 1024
"""[A] S3 takes at most 10,000 parts: up to 167 GB."""

FRESH_FOR: Final = timedelta(days=5)
"""The bucket's lifecycle removes objects after 7 days, and no sweep may lose one while it runs."""


_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Generated:
    """The content of an object that a sweep generates."""

    parts: Callable[[], Iterator[bytes]]
    """Its parts for an upload, from the first on, whenever it is called."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Facts about its content, besides its SHA-1."""


def content(size_bytes: int) -> Iterator[bytes]:
    """Random bytes, in parts; no compression makes them smaller."""
    for number in range(-(-size_bytes // PART_BYTES)):
        length = min(PART_BYTES, size_bytes - number * PART_BYTES)
        yield random.Random(number).randbytes(length)  # noqa: S311 - not a secret


def in_parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes as parts of an upload, each but the last of `PART_BYTES`."""
    part = bytearray()
    for chunk in chunks:
        part += chunk
        while len(part) >= PART_BYTES:
            yield bytes(part[:PART_BYTES])
            del part[:PART_BYTES]
    if part:
        yield bytes(part)


class GeneratedObjects:
    """The objects in the sweeps' bucket, which notifies nobody."""

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3 = s3
        self._bucket = bucket

    def named(self, key: str, workload: Workload) -> KnownObject:
        """An object that somebody put there, for *workload*.

        Raises:
            BadSweep: It is not there, empty, or does not carry its SHA-1.
        """
        head = self._head(key)
        if head is None:
            raise BadSweep(
                f"keys names {key!r}, which is not in the bucket {self._bucket}; copy it there: "
                f"aws s3 cp FILE s3://{self._bucket}/{key} --metadata sha1=ITS_SHA1"
            )
        if not head["ContentLength"] or not head["Metadata"].get(SHA1_METADATA, ""):
            raise BadSweep(
                f"keys names {key!r}, which is empty or has no {SHA1_METADATA!r} in its metadata "
                "to check samples against; copy it with --metadata sha1=ITS_SHA1"
            )
        return _known(key, head["ContentLength"], head["Metadata"], workload)

    def ensured(self, key: str, size_bytes: int, workload: Workload) -> KnownObject:
        """The object of *size_bytes* at *key*, generated now unless a fresh one is there."""
        head = self._head(key)
        if head is not None and self._usable(head, size_bytes):
            return _known(key, size_bytes, head["Metadata"], workload)
        generated = workload.generate(size_bytes)
        sha1 = hashlib.sha1(usedforsecurity=False)
        for part in generated.parts():  # metadata is fixed before the first part is sent
            sha1.update(part)
        metadata = {SHA1_METADATA: sha1.hexdigest(), **generated.metadata}
        self._upload(key, metadata, generated.parts())
        return _known(key, size_bytes, metadata, workload)

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

    def _upload(self, key: str, metadata: Mapping[str, str], parts: Iterable[bytes]) -> None:
        """Multipart, as large objects are uploaded; an upload that fails is aborted."""
        begun = self._s3.create_multipart_upload(Bucket=self._bucket, Key=key, Metadata=metadata)
        upload_id = begun["UploadId"]
        try:
            sent = [
                self._part(key, upload_id, number, part)
                for number, part in enumerate(parts, start=1)
            ]
            self._s3.complete_multipart_upload(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload_id,
                MultipartUpload={"Parts": sent},
            )
        except BaseException:
            self._s3.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload_id)
            raise

    def _part(self, key: str, upload_id: str, number: int, part: bytes) -> CompletedPartTypeDef:
        sent = self._s3.upload_part(
            Bucket=self._bucket, Key=key, UploadId=upload_id, PartNumber=number, Body=part
        )
        return {"PartNumber": number, "ETag": sent["ETag"]}


def _known(
    key: str, size_bytes: int, metadata: Mapping[str, str], workload: Workload
) -> KnownObject:
    return {
        "key": key,
        "size_bytes": size_bytes,
        "sha1": metadata[SHA1_METADATA],
        "contents": workload.contents(key, metadata),
    }

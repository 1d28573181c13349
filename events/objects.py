"""The objects that the events refer to: the same bytes on every machine."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

BUCKET: Final = "bucketsum-example"
PART_BYTES: Final = 5 * 1024 * 1024
"""S3's smallest part; the multipart example has a part of this size and a smaller one."""

WHEN: Final = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
"""Creation time of all objects."""


@dataclass(frozen=True, slots=True)
class ExampleObject:
    """An object that the events refer to; all its properties follow from key and size.

    Attributes:
        key: Object key, decoded.
        size_bytes: Size; from `PART_BYTES` on it is uploaded in parts.
        number: Which object this is; later ones have higher sequencers.
    """

    key: str
    size_bytes: int
    number: int

    @property
    def content(self) -> bytes:
        """The same bytes on every machine."""
        return hashlib.shake_128(self.key.encode()).digest(self.size_bytes)

    @property
    def parts(self) -> list[bytes]:
        """The parts of a multipart upload; none if one PUT is enough."""
        content = self.content
        if len(content) < PART_BYTES:
            return []
        return [content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES)]

    @property
    def etag(self) -> str:
        """The entity tag that S3 gives it, without quotes."""
        parts = self.parts
        if not parts:
            return md5(self.content).hex()
        return f"{md5(b''.join(map(md5, parts))).hex()}-{len(parts)}"

    @property
    def version_id(self) -> str:
        """A version ID that looks like S3's."""
        seed = hashlib.shake_128(f"version of {self.key}".encode())
        return base64.b64encode(seed.digest(24), altchars=b"._").decode()

    @property
    def sequencer(self) -> str:
        """The time in seconds, then a number, as in current sequencers."""
        return f"00{int(WHEN.timestamp()):08X}{0x51A3D000 + self.number:08X}"


PUT: Final = ExampleObject("reports/first-quarter.csv", 1536, 1)
MULTIPART: Final = ExampleObject("backups/orders.dump", PART_BYTES + 70_000, 2)
AWKWARD: Final = ExampleObject("Größe & 100%/été + 日本 😀.txt", 300, 3)
FROM_EVENTBRIDGE: Final = ExampleObject("from eventbridge/100%+1.txt", 200, 4)
FROM_SNS: Final = ExampleObject("from-sns/_SUCCESS", 0, 5)
OBJECTS: Final = (PUT, MULTIPART, AWKWARD, FROM_EVENTBRIDGE, FROM_SNS)

EXAMPLE_VERSIONS: Final = {example.key: example.version_id for example in OBJECTS}


def upload(s3: S3Client, bucket: str) -> dict[str, str]:
    """Put the objects into *bucket*, which keeps versions; returns key → version id."""
    return {example.key: _uploaded(s3, bucket, example) for example in OBJECTS}


def _uploaded(s3: S3Client, bucket: str, example: ExampleObject) -> str:
    place: Any = {"Bucket": bucket, "Key": example.key}
    if not example.parts:
        return s3.put_object(Body=example.content, **place)["VersionId"]
    place["UploadId"] = s3.create_multipart_upload(**place)["UploadId"]
    parts: list[CompletedPartTypeDef] = [
        {"PartNumber": n, "ETag": s3.upload_part(Body=part, PartNumber=n, **place)["ETag"]}
        for n, part in enumerate(example.parts, start=1)
    ]
    return s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **place)["VersionId"]


def md5(content: bytes) -> bytes:
    """S3's entity tags and SQS's `md5OfBody` are made of these."""
    return hashlib.md5(content, usedforsecurity=False).digest()

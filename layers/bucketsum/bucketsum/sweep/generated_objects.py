"""Objects for sweeps to read: the same bytes every time, made once, with what is known of them."""

from __future__ import annotations

import hashlib
import random
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum.errors import BadSweep
from bucketsum.sweep.axes import Workload
from bucketsum.sweep.generated_archive import ArchiveContents, GeneratedArchive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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
class GeneratedObject:
    """An object whose digest is known.

    Attributes:
        key: Its key.
        size_bytes: Its size.
        sha1: 40 lower-case hexadecimal characters.
        contents: Of an archive, what is known of its members: all of `ArchiveContents` where the
            sweep made it, as much as its metadata say where somebody put it there.
    """

    key: str
    size_bytes: int
    sha1: str
    contents: Mapping[str, int | str] | None = None


def content(size_bytes: int) -> Iterator[bytes]:
    """The bytes of the test object of this size, in parts; no compression makes them smaller."""
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

    __test__ = False  # pytest would take the name for a test's

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3 = s3
        self._bucket = bucket

    def named(self, key: str) -> GeneratedObject:
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
        if not head["ContentLength"] or not head["Metadata"].get(SHA1_METADATA, ""):
            raise BadSweep(
                f"keys names {key!r}, which is empty or has no {SHA1_METADATA!r} in its metadata "
                "to check samples against; copy it with --metadata sha1=ITS_SHA1"
            )
        return _known(key, head["ContentLength"], head["Metadata"])

    def ensured(
        self, key: str, size_bytes: int, workload: Workload = Workload.HASH
    ) -> GeneratedObject:
        """The test object of *size_bytes* at *key*, made now unless a fresh one is there."""
        head = self._head(key)
        if head is not None and self._usable(head, size_bytes):
            return _known(key, size_bytes, head["Metadata"])
        made = _MADE[workload](size_bytes)
        sha1 = hashlib.sha1(usedforsecurity=False)
        for part in made.parts():  # metadata is fixed before the first part is sent
            sha1.update(part)
        metadata = {SHA1_METADATA: sha1.hexdigest(), **made.metadata()}
        self._upload(key, metadata, made.parts())
        return _known(key, size_bytes, metadata)

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
        """Multipart, as large objects land; what is not completed does not stay."""
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


class _Random:
    """Bytes of which nothing is to be known but their SHA-1."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes

    def parts(self) -> Iterator[bytes]:
        return content(self._size_bytes)

    def metadata(self) -> dict[str, str]:
        return {}


class _Archive:
    """An archive, with what its members must come to."""

    def __init__(self, size_bytes: int) -> None:
        self._archive = GeneratedArchive(size_bytes)

    def parts(self) -> Iterator[bytes]:
        return in_parts(self._archive.chunks())

    def metadata(self) -> dict[str, str]:
        known = asdict(self._archive.contents)
        return {_metadata_name(name): str(value) for name, value in known.items()}


_MADE: Final[Mapping[Workload, type[_Random | _Archive]]] = {
    Workload.HASH: _Random,
    Workload.UNZIP: _Archive,
}


def _known(key: str, size_bytes: int, metadata: Mapping[str, str]) -> GeneratedObject:
    contents = {
        one.name: text if one.name == "members_sha1" else _count(key, one.name, text)
        for one in fields(ArchiveContents)
        if (text := metadata.get(_metadata_name(one.name)))
    }
    return GeneratedObject(key, size_bytes, metadata[SHA1_METADATA], contents or None)


def _count(key: str, name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadSweep(
            f"{key!r} has {_metadata_name(name)}={text!r} in its metadata, not a whole number"
        )
    return int(text)


def _metadata_name(name: str) -> str:
    """S3 sends metadata as headers, in which some proxies drop names with ``_``."""
    return name.replace("_", "-")


_NOT_FOUND: Final = 404

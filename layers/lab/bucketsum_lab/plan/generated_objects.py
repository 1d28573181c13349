"""Generated objects for sweeps: the same bytes every time, written once, with a known digest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from bucketsum.digest import digest_of
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.objects import PART_BYTES, DataFile, file_key, whole_in
from bucketsum_lab.protocol.probe import KnownObject
from bucketsum_lab.protocol.workload import DataSetWorkload, Workload

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef


SHA1_METADATA: Final = "sha1"
"""Metadata that holds an object's known SHA-1, in hexadecimal."""

FRESH_FOR: Final = timedelta(days=5)
"""The bucket's lifecycle removes objects after 7 days, and no sweep may lose one while it runs."""

SET_BYTES_METADATA: Final = "data-set-bytes"
"""Metadata of a data set's main object: the size of the set."""

_FILES_AT_ONCE: Final = 8
"""Files of a data set that are uploaded at once; each thread holds one part of its file."""

_NOT_FOUND: Final = 404


class GeneratedObjects:
    """The objects in the sweeps' bucket, which notifies nobody."""

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3 = s3
        self._bucket = bucket

    def known(
        self, planned: Mapping[str, Any], workload: Workload, prefix: str = ""
    ) -> KnownObject:
        """A *planned* object, ensured below *prefix* if the sweep generates it; else as `named`."""
        if not planned["generated"]:
            return self.named(planned["key"], workload)
        key = prefix + planned["key"]
        return self.ensured(key, planned["size_bytes"], workload, planned.get("parts"))

    def named(self, key: str, workload: Workload) -> KnownObject:
        """An object that somebody put there, for *workload*.

        Raises:
            BadSweep: It is not there, empty, or does not carry its SHA-1, or the size of its set.
        """
        head = self._head(key)
        if head is None:
            raise BadSweep(
                FieldPlace("keys"),
                f" names {key!r}, which is not in the bucket {self._bucket}; copy it there: "
                f"aws s3 cp FILE s3://{self._bucket}/{key} --metadata sha1=ITS_SHA1",
            )
        if not head["ContentLength"] or not head["Metadata"].get(SHA1_METADATA, ""):
            raise BadSweep(
                FieldPlace("keys"),
                f" names {key!r}, which is empty or has no {SHA1_METADATA!r} in its metadata "
                "to check samples against; copy it with --metadata sha1=ITS_SHA1",
            )
        return known_object(key, _planned_bytes(key, head, workload), head["Metadata"], workload)

    def sizes_of(self, keys: Iterable[str], workload: Workload) -> list[int]:
        """Sizes of the objects *keys*; errors as of `named`."""
        return [self.named(key, workload)["size_bytes"] for key in keys]

    def ensured(
        self, key: str, size_bytes: int, workload: Workload, parts: Collection[str] | None = None
    ) -> KnownObject:
        """The object of *size_bytes* at *key*, generated now unless a fresh one is there.

        Of a data set, the files of *parts*, by default of all, are there too.
        """
        if isinstance(workload, DataSetWorkload):
            workload.prepare(size_bytes, parts or ())
            self._write_files(key, workload.files_of(size_bytes, parts))
        head = self._head(key)
        if head is not None and self._usable(head, size_bytes, workload):
            return known_object(key, size_bytes, head["Metadata"], workload)
        generated = workload.generate(size_bytes)
        is_set = isinstance(workload, DataSetWorkload)
        of_set = {SET_BYTES_METADATA: str(size_bytes)} if is_set else {}
        metadata = {**_sha1_of(generated.chunks()), **generated.metadata, **of_set}
        self._upload(key, metadata, generated.chunks())
        return known_object(key, size_bytes, metadata, workload)

    @staticmethod
    def _usable(head: dict[str, Any], size_bytes: int, workload: Workload) -> bool:
        metadata, stored_bytes = head["Metadata"], str(head["ContentLength"])
        if isinstance(workload, DataSetWorkload):
            stored_bytes = metadata.get(SET_BYTES_METADATA, "")
        return _is_fresh(head) and SHA1_METADATA in metadata and stored_bytes == str(size_bytes)

    def _write_files(self, key: str, files: Iterable[DataFile]) -> None:
        """Write those of *files* that are not there, or too old."""
        fresh = self._fresh_sizes(file_key(key, ""))
        named = ((file_key(key, file.name), file) for file in files)
        missing = (pair for pair in named if fresh.get(pair[0]) != pair[1].size_bytes)
        pool = ThreadPoolExecutor(_FILES_AT_ONCE)
        try:
            for _ in pool.map(lambda pair: self._write_file(*pair), missing):
                pass
        finally:
            pool.shutdown(cancel_futures=True)  # the first failure ends the rest

    def _fresh_sizes(self, prefix: str) -> dict[str, int]:
        """Key → size of the fresh objects whose keys begin with *prefix*."""
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=prefix
        )
        objects = (entry for page in pages for entry in page.get("Contents", ()))
        return {entry["Key"]: entry["Size"] for entry in objects if _is_fresh(entry)}

    def _write_file(self, key: str, file: DataFile) -> None:
        metadata = _sha1_of(file.chunks())
        if file.size_bytes > PART_BYTES:
            self._upload(key, metadata, file.chunks())
        else:
            body = b"".join(file.chunks())
            self._s3.put_object(Bucket=self._bucket, Key=key, Metadata=metadata, Body=body)

    def _head(self, key: str) -> dict[str, Any] | None:
        try:
            return dict(self._s3.head_object(Bucket=self._bucket, Key=key))
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == _NOT_FOUND:
                return None
            raise

    def _upload(self, key: str, metadata: Mapping[str, str], chunks: Iterable[bytes]) -> None:
        """Multipart, as large objects are uploaded; an upload that fails is aborted."""
        begun = self._s3.create_multipart_upload(Bucket=self._bucket, Key=key, Metadata=metadata)
        upload: Any = {"Bucket": self._bucket, "Key": key, "UploadId": begun["UploadId"]}
        try:
            sent: list[CompletedPartTypeDef] = []
            for number, part in enumerate(_in_parts(chunks), start=1):
                response = self._s3.upload_part(**upload, PartNumber=number, Body=part)
                sent.append({"PartNumber": number, "ETag": response["ETag"]})
            self._s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": sent})
        except BaseException:
            self._s3.abort_multipart_upload(**upload)
            raise


def _is_fresh(stored: Mapping[str, Any]) -> bool:
    """Whether the object of a HEAD or a listing stays for as long as a sweep may run."""
    age: timedelta = datetime.now(UTC) - stored["LastModified"]
    return age < FRESH_FOR


def _in_parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in parts, each but the last of `PART_BYTES`."""
    part = bytearray()
    for chunk in chunks:
        if len(chunk) == PART_BYTES and not part:
            yield chunk
            continue
        part += chunk
        while len(part) >= PART_BYTES:
            yield bytes(part[:PART_BYTES])
            del part[:PART_BYTES]
    if part:
        yield bytes(part)


def _sha1_of(chunks: Iterable[bytes]) -> dict[str, str]:
    """The SHA-1 as an object's metadata, which must be set before the first part is sent."""
    return {SHA1_METADATA: digest_of(chunks).sha1}


def _planned_bytes(key: str, head: Mapping[str, Any], workload: Workload) -> int:
    """The size of the object or data set at *key*, from the response *head* of HeadObject.

    Raises:
        BadSweep: It is the main object of a data set and does not name the set's size.
    """
    if not isinstance(workload, DataSetWorkload):
        return int(head["ContentLength"])
    size_bytes = whole_in(head["Metadata"], SET_BYTES_METADATA)
    if not size_bytes:
        raise BadSweep(
            FieldPlace("keys"),
            f" names {key!r}, which has {SET_BYTES_METADATA}="
            f"{head['Metadata'].get(SET_BYTES_METADATA, '')!r} in its metadata, not the total size "
            "of its files",
        )
    return size_bytes


def known_object(
    key: str, size_bytes: int, metadata: Mapping[str, str], workload: Workload
) -> KnownObject:
    """An object or data set with the *metadata* of its object."""
    return {
        "key": key,
        "size_bytes": size_bytes,
        "sha1": metadata[SHA1_METADATA],
        "contents": workload.contents(key, metadata),
    }

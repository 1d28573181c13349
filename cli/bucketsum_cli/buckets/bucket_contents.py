"""Every version, delete marker and unfinished upload of a bucket, for its deletion."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from botocore.exceptions import ClientError

from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ListObjectVersionsOutputTypeDef, ObjectIdentifierTypeDef

    from bucketsum_cli.buckets.s3_place import S3Place

_PAGE: Final = 1000
"""Keys of a listing, and of a deletion: S3's own limit for versions and markers together."""

_REQUESTS_AT_A_TIME: Final = 8
_REFUSALS_SHOWN: Final = 3
_BUSY: Final = frozenset({"SlowDown", "InternalError", "ServiceUnavailable"})
"""Codes of single keys in an answer with status 200, which botocore does not repeat."""

_ATTEMPTS: Final = 10
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 30.0
_NOT_IN_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that a key may have and a request for several keys, which is XML 1.0, may not."""


@dataclass(frozen=True, slots=True)
class BucketContents:
    """Counts of one bucket.

    Attributes:
        versions: Object versions; in a bucket without versioning, objects.
        delete_markers: Markers that hide deleted keys.
        size_bytes: Of all versions.
        is_exact: Whether they were counted by listing.
    """

    versions: int = 0
    delete_markers: int = 0
    size_bytes: int = 0
    is_exact: bool = True


class BucketHead(NamedTuple):
    """The status of HeadBucket: 200, 403 or 404; and the Region, if S3 names it."""

    status: int
    region: str | None


def head(s3: S3Client, bucket: str, **owner: str) -> BucketHead:
    """Ask for *bucket*; with ExpectedBucketOwner, that of another account is 403."""
    try:
        answer: Any = s3.head_bucket(Bucket=bucket, **owner)
    except ClientError as error:
        answer = error.response
        if answer["ResponseMetadata"]["HTTPStatusCode"] not in (403, 404):
            raise
    status, headers = map(answer["ResponseMetadata"].get, ("HTTPStatusCode", "HTTPHeaders"))
    return BucketHead(status, headers.get("x-amz-bucket-region"))


def exists(s3: S3Client, bucket: str) -> bool:
    """Whether the bucket exists."""
    return head(s3, bucket).status != HTTPStatus.NOT_FOUND


def counted(s3: S3Client, bucket: str) -> Iterator[BucketContents]:
    """Yield the counts so far after each page of the listing; the last are of the whole bucket."""
    versions = markers = size_bytes = 0
    for page in _pages(s3, bucket):
        versions += len(page.get("Versions", ()))
        markers += len(page.get("DeleteMarkers", ()))
        size_bytes += sum(version["Size"] for version in page.get("Versions", ()))
        yield BucketContents(versions, markers, size_bytes)


def emptied(s3: S3Client, bucket: str) -> Iterator[int]:
    """Delete everything in *bucket*, several requests at a time; yield the count of each request.

    Stopped half-way, what is deleted stays deleted, and a second call goes on with the rest.

    Raises:
        CannotDoError: S3 refuses to delete some keys, for example because of an object lock.
    """
    yield from _deleted(s3, bucket, "")


def emptied_folder(s3: S3Client, folder: S3Place, name: str) -> Iterator[int]:
    """As `emptied`, but only the *folder*, which must have the last part *name*.

    Raises:
        CannotDoError: It has another name, so it is not the caller's own; nothing is deleted.
    """
    if not name or not f"/{folder.key}".endswith(f"/{name}/"):
        raise CannotDoError(
            f"{folder} is not deleted: it must be a folder of bucketsum's own, named {name}/"
        )
    yield from _deleted(s3, folder.bucket, folder.key)


def _deleted(s3: S3Client, bucket: str, prefix: str) -> Iterator[int]:
    uploads = s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, Prefix=prefix)
    for upload in filter(None, uploads.search("Uploads[]")):
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    with ThreadPoolExecutor(_REQUESTS_AT_A_TIME) as threads:
        # The next listing starts from the beginning: no marker names a key that is gone.
        while pages := list(islice(_pages(s3, bucket, prefix), _REQUESTS_AT_A_TIME)):
            listed = [keys for keys in map(_identifiers, pages) if keys]
            if not listed:
                return
            yield from threads.map(lambda keys: _delete(s3, bucket, keys), listed)


def _pages(
    s3: S3Client, bucket: str, prefix: str = ""
) -> Iterator[ListObjectVersionsOutputTypeDef]:
    pages = s3.get_paginator("list_object_versions")
    yield from pages.paginate(Bucket=bucket, Prefix=prefix, PaginationConfig={"PageSize": _PAGE})


def _identifiers(page: ListObjectVersionsOutputTypeDef) -> list[ObjectIdentifierTypeDef]:
    entries = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
    return [{"Key": entry["Key"], "VersionId": entry["VersionId"]} for entry in entries]


def _delete(s3: S3Client, bucket: str, keys: Sequence[ObjectIdentifierTypeDef]) -> int:
    together = []
    for identifier in keys:
        if _NOT_IN_XML.search(identifier["Key"]):
            s3.delete_object(
                Bucket=bucket, Key=identifier["Key"], VersionId=identifier["VersionId"]
            )
        else:
            together.append(identifier)
    if together:
        _delete_together(s3, bucket, together)
    return len(keys)


def _delete_together(s3: S3Client, bucket: str, keys: Sequence[ObjectIdentifierTypeDef]) -> None:
    """Delete *keys*; after growing pauses, retry those for which S3 was too busy."""
    left, pause_seconds = keys, _FIRST_PAUSE_SECONDS
    for attempt in range(_ATTEMPTS):
        answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": left, "Quiet": True})
        refusals = answer.get("Errors", ())
        busy = [refusal for refusal in refusals if refusal.get("Code") in _BUSY]
        if not refusals:
            return
        if len(busy) < len(refusals) or attempt == _ATTEMPTS - 1:
            break
        names = {(refusal.get("Key"), refusal.get("VersionId")) for refusal in busy}
        left = [  # an Error of S3 may leave out the version
            key for key in left if {(key["Key"], key["VersionId"]), (key["Key"], None)} & names
        ]
        time.sleep(pause_seconds * random.uniform(0.5, 1))  # noqa: S311 - threads drift apart
        pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)
    others = [refusal for refusal in refusals if refusal not in busy] or busy
    shown = "; ".join(
        f"{refusal.get('Key')}: {refusal.get('Message') or refusal.get('Code')}"
        for refusal in others[:_REFUSALS_SHOWN]
    )
    advice = (
        "S3 is busy: run the command again"
        if others == busy
        else "Remove the cause (such as an object lock or a bucket policy), and run the command "
        "again"
    )
    raise CannotDoError(
        f"S3 does not delete {len(others)} of {len(keys)} keys in {bucket}: {shown}. {advice}"
    )

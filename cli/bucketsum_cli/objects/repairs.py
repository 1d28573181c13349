"""Repair of an object: a copy with the recorded digest becomes the newest version of its key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from bucketsum.backfill.accounting import Head, head_of
from bucketsum.backfill.selection import ARCHIVED
from bucketsum.events.version import Version
from bucketsum.table.rows import Row, RowKey
from bucketsum.table.state import ObjectState, Presence, state_of
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.files import LocalFile
from bucketsum_cli.objects.upload import Upload, answers_by_key
from bucketsum_cli.objects.versions import listed_key
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner

_BROKEN: Final = (ObjectState.DIFFERS, ObjectState.LOST)
_COPY_BYTES_MAX: Final = 5 * 1024**3
"""[A] S3 copies more in parts alone."""
_PART_BYTES: Final = 512 * 1024**2
_KEPT: Final = (
    "CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType",
    "Metadata", "StorageClass", "ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Broken:
    """A version that must be repaired.

    Attributes:
        is_current: Whether its copy would hide no other version of the key, nor its deletion.
    """

    row: Row
    state: ObjectState
    is_current: bool


def broken_version(stack: Stack, key: str) -> Broken | None:
    """The newest version of *key* that differs or is lost; None if there is none.

    Raises:
        CannotDoError: Nothing is recorded for *key*.
    """
    rows = stack.digests_table().versions_of(stack.bucket, key)
    if not rows:
        raise CannotDoError(f"nothing is recorded for {key} in {stack.bucket}")
    listed = listed_key(stack, stack.bucket, key)
    latest = listed.latest
    for row in rows:
        state = listed.state_of(row)
        if state in _BROKEN:
            if latest is None or latest["VersionId"] == row.entry:
                return Broken(row, state, is_current=True)
            is_gone = row.entry not in listed.rows
            is_later = is_gone and latest["LastModified"] < datetime.fromisoformat(row.arrived_at)
            return Broken(row, state, is_later)
    return None


def copies_of(stack: Stack, row: Row) -> Iterator[tuple[dict[str, str], str, str | None]]:
    """Yield the places of copies of *row* with their entity tags; the nearest first.

    Each comes with the reason why it cannot be copied, or None.
    """
    same = [
        other
        for other in stack.digests_table().with_sha1(row.sha1 or "")
        if other.member is None and not other.deletion and state_of(other) is ObjectState.HASHED
        and all(row.digests.get(name, value) == value for name, value in other.digests.items())
    ]  # fmt: skip
    near = sorted(same, key=lambda r: (r.bucket != row.bucket, r.key != row.key, r.bucket, r.key))
    for other in near:
        head = head_of(stack.client("s3"), other)
        refusal = None
        if head.presence is not Presence.LISTED:
            refusal = head.refusal or "S3 no longer has it"
        elif head.is_archived:
            refusal = f"it is archived ({head.storage_class})"
        elif not other.etag:
            refusal = "it has no entity tag"
        yield _place_of(other, head), other.etag or "", refusal


def _place_of(row: Row, head: Head) -> dict[str, str]:
    """The version of *row* as S3's requests name it."""
    version = {"VersionId": head.version_id} if head.version_id else {}
    return {"Bucket": row.bucket, "Key": row.key, **version}


def require_equal(stack: Stack, source: dict[str, str], row: Row) -> str:
    """Read the object *source*; returns its entity tag.

    Raises:
        CannotDoError: Its SHA-1 is not that of *row*.
        ClientError: S3 refused, as for an archived object.
    """
    answer = stack.client("s3").get_object(**source)  # type: ignore[arg-type] # names
    with spinner("reading the copy ..."):
        digest = hashlib.file_digest(answer["Body"], "sha1").hexdigest()  # type: ignore[arg-type]  # its stub
    if digest != row.sha1:
        raise CannotDoError(
            f"the copy has the SHA-1 {digest}, not the recorded {row.sha1}: nothing was copied"
        )
    return answer["ETag"].strip('"')


def copied(stack: Stack, broken: Broken, source: dict[str, str], etag: str) -> Upload:
    """Copy *source*, which must still have *etag*, to the key in S3; nothing is deleted.

    Metadata, tags, storage class and encryption are those of the broken version, or else of
    *source*.

    Raises:
        ClientError: S3 refused.
    """
    from boto3.s3.transfer import TransferConfig, create_transfer_manager  # noqa: PLC0415 - boto3 takes a third of a second

    s3, row = stack.client("s3"), broken.row
    is_there = broken.state is ObjectState.DIFFERS
    known: Any = _place_of(row, head_of(s3, row)) if is_there else source
    head: Mapping[str, Any] = s3.head_object(**known)
    extra = {name: head[name] for name in _KEPT if name in head}
    if extra.get("StorageClass") in ARCHIVED:  # it could not be read, and so not be compared
        del extra["StorageClass"]
    if tags := s3.get_object_tagging(**known)["TagSet"]:
        extra["Tagging"] = urlencode({tag["Key"]: tag["Value"] for tag in tags})
    extra |= {"MetadataDirective": "REPLACE", "TaggingDirective": "REPLACE"}
    extra["CopySourceIfMatch"] = f'"{etag}"'
    answers = answers_by_key(s3)
    in_parts = TransferConfig(_COPY_BYTES_MAX, multipart_chunksize=_PART_BYTES)
    with create_transfer_manager(s3, in_parts) as transfers:
        transfers.copy(source, row.bucket, row.key, extra, source_client=s3).result()
    answer = answers[row.key]
    result = answer.get("CopyObjectResult", answer)
    row_key = RowKey(row.bucket, row.key, Version(answer.get("VersionId")).entry)
    file = LocalFile(Path(row.key), row.key, row.size_bytes)
    return Upload(file, row_key, result["ETag"].strip('"'))

"""S3's checksums of objects that are being read: from the response, or looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from bucketsum.algorithms import SHA1
from bucketsum.checksums.comparison import ChecksumComparison, NotCompared, Witness
from bucketsum.checksums.stored import (
    NotComparedError,
    StoredChecksum,
    StoredPart,
    parts_in,
    stored_in,
)
from bucketsum.errors import BucketsumError
from bucketsum.events.message_fields import shown
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import Version
from bucketsum.s3.response_head import ResponseHead, if_match
from bucketsum.s3.source import OpenObject, Source

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


_REFUSALS: Final = (BotoCoreError, ClientError, ResponseParserError, ValueError)
"""Also of answers that S3 never sends: botocore's parsers let Python's own errors through."""

_PAGES_MAX: Final = 20
"""Most requests for the parts of an object; S3 lists 1,000 parts in each."""


class StoredChecksums:
    """Finds the witness of each object.

    Digests that each object gets anyway, SHA-1 and *extra_algorithms*, are not computed again.
    """

    def __init__(self, s3: S3Client, extra_algorithms: Iterable[str] = ()) -> None:
        self._s3 = s3
        self._computed = (SHA1.name, *extra_algorithms)

    def at_once(self, created: ObjectCreated, headers: Mapping[str, str]) -> Witness | None:
        """The witness by *headers*, which answer a request with `MODE_HEADER`.

        None if the checksum is composite: a list of the parts must be requested.
        """
        try:
            stored = stored_in(headers)
            if stored and stored.parts:
                return None
            return self._begun(created, stored)
        except NotComparedError as error:
            return NotCompared(str(error))

    def witness(
        self, created: ObjectCreated, headers: Mapping[str, str], state: str | None = None
    ) -> Witness:
        """The witness for the bytes of *created*, as `at_once`; or for those after *state*.

        Without any *headers*, the object comes in ranges, and one HEAD asks for the checksum of all
        of it. A composite one needs the list of the parts, which the role may read with
        s3:GetObjectAttributes.
        """
        stored = None
        try:
            headers = headers or _headers_of(self._s3, _named(created))
            stored = stored_in(headers)
            if "x-amz-version-id" in headers:  # the bucket keeps versions
                created = _named(created)
            begun = self._begun(created, stored)
            if state is not None and isinstance(begun, ChecksumComparison):
                begun.resume(state)
        except NotComparedError as error:
            return NotCompared(str(error), stored)
        except _REFUSALS as error:  # the object's own digest does not need it
            return NotCompared(f"S3 did not send its checksum: {shown(str(error))}", stored)
        return begun

    def _begun(self, created: ObjectCreated, stored: StoredChecksum | None) -> Witness:
        if stored is None:
            return NotCompared("S3 keeps no checksum of it")
        parts: Sequence[StoredPart] = ()
        if stored.parts:
            parts = parts_in(_pages_of(self._s3, created), stored, created.size_bytes)
        return ChecksumComparison(stored, created.size_bytes, parts, self._computed)


class ComparingSource:
    """A source that compares the bytes of whole objects with S3's checksums."""

    def __init__(self, source: Source, checksums: StoredChecksums) -> None:
        self._source = source
        self._checksums = checksums

    def open(
        self, created: ObjectCreated, offset: int = 0, doubt: BucketsumError | None = None
    ) -> OpenObject:
        """See `Source.open` for the contract."""
        opened = self._source.open(created, offset, doubt)
        if offset:
            return opened
        as_read = replace(created, etag=opened.etag)
        witness, chunks = self._checksums.witness(as_read, opened.headers), opened.chunks
        if isinstance(witness, ChecksumComparison):
            chunks = witness.passing(chunks)
        return replace(opened, witness=witness, chunks=chunks)

    def another(self) -> ComparingSource:
        """See `Source.another` for the contract."""
        return ComparingSource(self._source.another(), self._checksums)


def _named(created: ObjectCreated) -> ObjectCreated:
    """*created* by its version: by its key alone, S3 may answer for a newer one."""
    return replace(created, version_id=Version(created.version_id).entry)


def _headers_of(s3: S3Client, created: ObjectCreated) -> Mapping[str, str]:
    request: dict[str, Any] = {**_names(created), "ChecksumMode": "ENABLED"}
    if condition := if_match(created):
        request["IfMatch"] = condition
    return ResponseHead.of_response(s3.head_object(**request)).headers


def _pages_of(s3: S3Client, created: ObjectCreated) -> Iterator[Mapping[str, Any]]:
    """The lists of the parts of *created*; S3 has no condition here, so their entity tag counts."""
    marker: dict[str, Any] = {}
    for _ in range(_PAGES_MAX):
        page: Any = s3.get_object_attributes(
            **_names(created), **marker, ObjectAttributes=["ETag", "ObjectParts"]
        )
        if created.etag and page.get("ETag", created.etag).strip('"') != created.etag:
            raise NotComparedError("the parts that S3 lists are those of another object")
        yield page
        listed = page.get("ObjectParts", {})
        if not listed.get("IsTruncated"):
            return
        marker = {"PartNumberMarker": listed.get("NextPartNumberMarker", 0)}
    raise NotComparedError("the list of parts does not end")


def _names(created: ObjectCreated) -> dict[str, Any]:
    version = {"VersionId": created.version_id} if created.version_id else {}
    return {"Bucket": created.bucket, "Key": created.key, **version}

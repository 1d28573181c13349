"""GetObject: the request through botocore, and each wrong answer as an error of bucketsum.

============================================================  ========================
S3's response                                                 error
============================================================  ========================
status 500 and above, whatever the code; no response at all   `SourceUnavailable`
NoSuchKey, NoSuchVersion, NoSuchBucket, MethodNotAllowed      `ObjectGone`
PreconditionFailed                                            `ObjectSuperseded`
InvalidObjectState                                            `ObjectArchived`
AccessDenied, AllAccessDisabled, InvalidRequest; KMS.*        `ObjectUnreadable`
except throttling
everything else, such as throttling, or a GET's 404 without   `SourceUnavailable`
S3's document: what stands between may have sent it
bytes other than those requested; see `ResponseHead.mismatch` `SourceInterrupted`
============================================================  ========================

An object is called gone or superseded, and its event is then done, only if two answers agree: the
GET's, and that of one HEAD. It costs as much as the GET, but such events are few, and a false 404
or 412 would lose the object without a word. The same HEAD finds an object that is older than the
bucket's versions. Another entity tag in spite of ``If-Match`` is not S3's answer. After such a GET
a HEAD's 404, which has no document, settles nothing; another GET does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from urllib3.exceptions import HTTPError

from bucketsum.errors import (
    BucketsumError,
    NotHashed,
    ObjectArchived,
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    SourceInterrupted,
    SourceUnavailable,
)
from bucketsum.events.object_events import ObjectCreated
from bucketsum.events.version import NULL, Version
from bucketsum.s3.response_head import ResponseHead, if_match

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef


T = TypeVar("T")

# botocore passes some of urllib3's own errors on as they are: a broken TLS record in a body, a
# connection that ends in the middle of an error's text.
BROKEN: Final = (ReadTimeoutError, ResponseStreamingError, IncompleteReadError, HTTPError)
"""Errors raised by reading a body when its connection breaks."""

ERROR_BYTES_MAX: Final = 64 * 1024
"""Longest refusal that is looked at; S3's have some hundred bytes."""

_CODE: Final = re.compile(rb"<Code>([^<]+)</Code>")
_MESSAGE: Final = re.compile(rb"<Message>([^<]*)</Message>")
_STORAGE_CLASS: Final = re.compile(rb"<StorageClass>([A-Z_]{1,40})</StorageClass>")
_SERVER_ERROR: Final = 500
_ABSENT: Final[Mapping[str, type[NotHashed]]] = {
    "NoSuchKey": ObjectGone,
    "NoSuchVersion": ObjectGone,
    "NoSuchBucket": ObjectGone,
    "MethodNotAllowed": ObjectGone,
    "PreconditionFailed": ObjectSuperseded,
}
_CODES_OF_HEAD: Final = {"404": "NoSuchKey", "405": "MethodNotAllowed"}
_ARCHIVED: Final = "InvalidObjectState"
_INVALID: Final = "InvalidRequest"
_UNREADABLE: Final = {
    "AccessDenied": "access denied; let the hasher's role read the bucket and use the object's "
    "KMS key, then `bucketsum redrive --key` it",
    "AllAccessDisabled": "S3 has disabled access to this bucket",
    _INVALID: "S3 refuses to read it as asked (encrypted with a customer's own key?)",
}


def error_in(
    head: ResponseHead, body: bytes, created: ObjectCreated, first: int = 0, end: int | None = None
) -> BucketsumError | None:
    """The error in a response to libcurl; None if botocore should ask again.

    It knows redirects, retries, and the sources of credentials. `_INVALID` counts if S3 repeats it.
    """
    if head.status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        return SourceInterrupted(_mismatch_text(head.mismatch(created, first, end)))
    from html import unescape  # noqa: PLC0415 - a cold start needs no table of entities

    code, message = (field.search(body) for field in (_CODE, _MESSAGE))
    if not code:
        return None
    text = unescape(message[1].decode(errors="replace")) if message else ""
    name = code[1].decode(errors="replace")
    storage_class = _STORAGE_CLASS.search(body)
    error = _refusal(head.status, name, text, storage_class[1].decode() if storage_class else None)
    return None if isinstance(error, SourceUnavailable) or name == _INVALID else error


def get_object(
    s3: S3Client,
    created: ObjectCreated,
    first: int = 0,
    end: int | None = None,
    *,
    or_whole: bool = False,
    doubt: BucketsumError | None = None,
) -> GetObjectOutputTypeDef:
    """Request *created*, or with an *end* its bytes *first* to *end* (exclusive).

    The caller closes the response's body. With *or_whole*, it may be the whole object: HTTP lets a
    server ignore a range. S3 never does; the local emulator does for versions. A *doubt* is the
    error of such a GET that libcurl has sent, see `error_in`.

    Without a version ID, S3 reads the current version. If that is not the object, it may still
    exist as the version ``null``, if versioning was enabled after it was put: that is read then.
    Raises the errors of the table above.
    """
    get = _Get(s3, created, first, end, or_whole)
    if doubt is None:
        try:
            return get.response(created.version_id)
        except (ObjectGone, ObjectSuperseded, ObjectArchived, SourceInterrupted) as error:
            doubt = error
    if isinstance(doubt, ObjectUnreadable):
        return get.response_below(doubt)
    try:
        if (absence := get.absence(doubt)) is None:
            return get.response(Version(created.version_id).entry)
    except (ObjectGone, ObjectSuperseded) as error:
        # Another version was the current one: only now S3 has said that this one is not there.
        is_confirmed = isinstance(doubt, SourceInterrupted)
        absence = get.absence(doubt, is_confirmed=True) if is_confirmed else None
        if absence is None:
            text = f"S3's answers contradict each other: {doubt}; {error}"
            raise SourceInterrupted(text) from error
    raise absence from doubt


@dataclass(frozen=True, slots=True)
class _Get:
    s3: S3Client
    created: ObjectCreated
    first: int
    end: int | None
    or_whole: bool

    def response(self, version_id: str | None) -> GetObjectOutputTypeDef:
        """The response, if it is the one that was requested.

        The request names version *and* entity tag: the version ``null`` can be overwritten.
        """
        created, end = self.created, self.end
        request: GetObjectRequestTypeDef = {"Bucket": created.bucket, "Key": created.key}
        if version_id:
            request["VersionId"] = version_id
        if condition := if_match(created):
            request["IfMatch"] = condition
        if end is not None:
            last = "" if end == created.size_bytes else end - 1
            request["Range"] = f"bytes={self.first}-{last}"
        response = _answer(lambda: self.s3.get_object(**request))
        head = ResponseHead.of_response(response)
        mismatch = head.mismatch(created, self.first, end)
        if mismatch and not (self.or_whole and not head.mismatch(created)):
            response["Body"].close()
            raise SourceInterrupted(_mismatch_text(mismatch))
        return response

    def response_below(self, refusal: ObjectUnreadable) -> GetObjectOutputTypeDef:
        """The version ``null``, if *refusal* may be of a newer version of the same bytes."""
        if self.created.version_id or not isinstance(refusal, ObjectArchived):
            raise refusal
        try:
            return self.response(NULL.entry)
        except (ObjectGone, ObjectSuperseded):
            raise refusal from None

    def absence(self, doubt: BucketsumError, *, is_confirmed: bool = False) -> NotHashed | None:
        """The error if a HEAD agrees with *doubt*, a GET's error, that the object is not there.

        A version with an ID is never overwritten. An impossible answer is a doubt only if another
        GET confirmed it.
        """
        created, version = self.created, Version(self.created.version_id)
        may_be_overwritten = version.is_null and not isinstance(doubt, ObjectGone)
        is_impossible = isinstance(doubt, SourceInterrupted) and not is_confirmed
        try:
            response = _answer(
                lambda: self.s3.head_object(
                    Bucket=created.bucket, Key=created.key, VersionId=version.entry
                )
            )
        except ObjectGone:
            if is_impossible:
                return None
            return (ObjectSuperseded if may_be_overwritten else ObjectGone)(str(doubt))
        head = ResponseHead.of_response(response)
        is_possible = version.is_null and not (created.etag and is_impossible)
        is_superseded = is_possible and head.is_of_another(created)
        return ObjectSuperseded(str(doubt)) if is_superseded else None


def _answer(request: Callable[[], T]) -> T:
    """The answer to *request*, whose errors become those of bucketsum."""
    try:
        return request()
    except ClientError as error:
        raise _error_of(error) from error
    except (BotoCoreError, HTTPError) as error:
        raise SourceUnavailable(f"S3 could not be reached: {error}") from error


def _mismatch_text(mismatch: str) -> str:
    return f"S3's answer is not the requested one: {mismatch}"


def _error_of(error: ClientError) -> BucketsumError:
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    refusal = error.response["Error"]
    code = refusal["Code"]
    if error.operation_name == "HeadObject":  # it has no document
        code = _CODES_OF_HEAD.get(code, code)
    storage_class: Any = error.response.get("StorageClass")
    return _refusal(status, code, refusal.get("Message", ""), storage_class)


def _refusal(
    status: int, code: str, message: str, storage_class: str | None = None
) -> BucketsumError:
    """The error for S3's refusal; see the table above."""
    text = f"{code}: {message}"
    if status >= _SERVER_ERROR:
        return SourceUnavailable(text)  # says nothing about the object, whatever its code
    if absence := _ABSENT.get(code):
        return absence(text)
    if code == _ARCHIVED:
        return ObjectArchived(storage_class, text)
    if code.startswith("KMS.") and "Throttling" not in code:
        return ObjectUnreadable(f"its KMS key cannot be used ({text})")
    if code in _UNREADABLE:
        return ObjectUnreadable(f"{_UNREADABLE[code]} ({text})")
    return SourceUnavailable(text)

"""GetObject through botocore: the request, and each refusal as an error of bucketsum.

============================================================  ========================
S3's response                                                 error
============================================================  ========================
status 500 and above, whatever the code; no response at all   `SourceUnavailable`
NoSuchKey, NoSuchVersion, NoSuchBucket, MethodNotAllowed, 404 `ObjectGone`
PreconditionFailed, 412; another entity tag than requested    `ObjectSuperseded`
InvalidObjectState, AccessDenied, AllAccessDisabled,          `ObjectUnreadable`
InvalidRequest, 403; KMS.* except throttling
everything else, such as throttling                           `SourceUnavailable`
============================================================  ========================
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

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
    ObjectGone,
    ObjectSuperseded,
    ObjectUnreadable,
    SourceUnavailable,
)
from bucketsum.events.version import NULL

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef

    from bucketsum.events.object_events import ObjectCreated

# botocore passes some of urllib3's own errors on as they are: a broken TLS record in a body, a
# connection that ends in the middle of an error's text.
BROKEN: Final = (ReadTimeoutError, ResponseStreamingError, IncompleteReadError, HTTPError)
"""Errors raised by reading a body when its connection breaks."""

_SERVER_ERROR: Final = 500
_GONE: Final = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchBucket", "MethodNotAllowed", "404"})
_SUPERSEDED: Final = frozenset({"PreconditionFailed", "412"})
_UNREADABLE: Final = {
    "InvalidObjectState": "archived in Glacier; restore it, then it is hashed",
    "AccessDenied": "access denied; let the hasher's role read the bucket and use the object's "
    "KMS key, then `bucketsum redrive --key` it",
    "AllAccessDisabled": "S3 has disabled access to this bucket",
    "InvalidRequest": "S3 refuses to read it as asked (encrypted with a customer's own key?)",
    "403": "access denied",
}


def if_match(created: ObjectCreated) -> str | None:
    """The value of ``If-Match``, the entity tag in quotes; None if there is none."""
    return f'"{created.etag}"' if created.etag else None


def request_for(created: ObjectCreated) -> GetObjectRequestTypeDef:
    """The parameters of GetObject, by version *and* entity tag.

    Both are needed: the version ``null`` can be overwritten.
    """
    request: GetObjectRequestTypeDef = {"Bucket": created.bucket, "Key": created.key}
    if created.version_id:
        request["VersionId"] = created.version_id
    if condition := if_match(created):
        request["IfMatch"] = condition
    return request


def get_object(s3: S3Client, request: GetObjectRequestTypeDef) -> GetObjectOutputTypeDef:
    """Send *request*; the caller closes the response's body.

    Without a version ID, S3 reads the current version. If that is not the object, it may still
    exist as the version ``null``, if versioning was enabled after it was put: that is read then.
    Raises the errors of the table above.
    """
    try:
        return _response_to(s3, request)
    except (ObjectGone, ObjectSuperseded):
        if "VersionId" in request:
            raise
        with suppress(ObjectGone, ObjectSuperseded):
            return _response_to(s3, {**request, "VersionId": NULL.entry})
        raise


def _response_to(s3: S3Client, request: GetObjectRequestTypeDef) -> GetObjectOutputTypeDef:
    try:
        response = s3.get_object(**request)
    except ClientError as error:
        raise _error_of(error) from error
    except (BotoCoreError, HTTPError) as error:
        raise SourceUnavailable(f"S3 could not be reached: {error}") from error
    requested, received = request.get("IfMatch"), response["ETag"]
    if requested and received != requested:  # not with S3, but stores exist that ignore If-Match
        response["Body"].close()
        raise ObjectSuperseded(f"asked for the entity tag {requested}, S3 sent {received}")
    version = response.get("VersionId", NULL.entry)
    if "VersionId" not in request and version != NULL.entry:
        response["Body"].close()
        raise ObjectSuperseded(f"the current version is {version}, not {NULL.entry}")
    return response


def _error_of(error: ClientError) -> BucketsumError:
    """The error for S3's refusal; see the table above."""
    code = error.response["Error"]["Code"]
    text = f"{code}: {error.response['Error'].get('Message', '')}"
    if error.response["ResponseMetadata"]["HTTPStatusCode"] >= _SERVER_ERROR:
        return SourceUnavailable(text)  # says nothing about the object, whatever its code
    if code in _GONE:
        return ObjectGone(text)
    if code in _SUPERSEDED:
        return ObjectSuperseded(text)
    if code.startswith("KMS.") and "Throttling" not in code:
        return ObjectUnreadable(f"its KMS key cannot be used ({text})")
    if code in _UNREADABLE:
        return ObjectUnreadable(f"{_UNREADABLE[code]} ({text})")
    return SourceUnavailable(text)

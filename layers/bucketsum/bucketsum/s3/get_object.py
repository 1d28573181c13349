"""Asking S3 for exactly what arrived, and what its refusals mean. Every reader does it so."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef

    from bucketsum.notifications import ObjectCreated

# botocore passes some of urllib3's own errors on as they are: a broken TLS record in a body, a
# connection that ends inside of an error's text.
BROKEN: Final = (ReadTimeoutError, ResponseStreamingError, IncompleteReadError, HTTPError)
"""What reading a body raises when its connection breaks."""

_SERVER_ERROR: Final = 500
_GONE: Final = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchBucket", "MethodNotAllowed", "404"})
_SUPERSEDED: Final = frozenset({"PreconditionFailed", "412"})
_UNREADABLE: Final = {
    "InvalidObjectState": "archived in Glacier; restore it, then `bucketsum redrive --key` it",
    "AccessDenied": "access denied; let the hasher's role read the bucket and use the object's "
    "KMS key, then `bucketsum redrive --key` it",
    "AllAccessDisabled": "S3 has disabled access to this bucket",
    "InvalidRequest": "S3 refuses to read it as asked (encrypted with a customer's own key?)",
    "403": "access denied",
}


def if_match(arrival: ObjectCreated, etag: str | None = None) -> str | None:
    """The entity tag to ask for, in quotes: *etag*, else the event's; None where neither is."""
    known = etag or arrival.etag  # events carry it without quotes
    return f'"{known}"' if known else None


def request_for(arrival: ObjectCreated, etag: str | None = None) -> GetObjectRequestTypeDef:
    """The version *and* the entity tag: the version ``null`` can be overwritten."""
    request: GetObjectRequestTypeDef = {"Bucket": arrival.bucket, "Key": arrival.key}
    if arrival.version_id:
        request["VersionId"] = arrival.version_id
    if condition := if_match(arrival, etag):
        request["IfMatch"] = condition
    return request


class Asking:
    """Asks S3 through botocore."""

    def __init__(self, s3: S3Client) -> None:
        self._s3 = s3

    def ask(self, request: GetObjectRequestTypeDef) -> GetObjectOutputTypeDef:
        """Send *request*; the answer is of the object that it names, and its body is to be closed.

        Raises:
            ObjectGone: It was deleted.
            ObjectSuperseded: It was overwritten.
            ObjectUnreadable: It is archived, encrypted with another's key, or denied to us.
            SourceUnavailable: S3 throttles, fails or cannot be reached.
        """
        try:
            response = self._s3.get_object(**request)
        except ClientError as error:
            raise _refusal(error) from error
        except (BotoCoreError, HTTPError) as error:
            raise SourceUnavailable(f"S3 could not be reached: {error}") from error
        asked, got = request.get("IfMatch"), response["ETag"]
        if asked and got != asked:  # S3 never does; a store that ignores If-Match does
            response["Body"].close()
            raise ObjectSuperseded(f"asked for the entity tag {asked}, S3 sent {got}")
        return response


def _refusal(error: ClientError) -> BucketsumError:
    """What S3's answer means for the object: an outcome, or a reason to try again."""
    code = error.response["Error"]["Code"]
    told = f"{code}: {error.response['Error'].get('Message', '')}"
    if error.response["ResponseMetadata"]["HTTPStatusCode"] >= _SERVER_ERROR:
        return SourceUnavailable(told)  # says nothing of the object, whatever its code
    if code in _GONE:
        return ObjectGone(told)
    if code in _SUPERSEDED:
        return ObjectSuperseded(told)
    if code.startswith("KMS.") and "Throttling" not in code:
        return ObjectUnreadable(f"its KMS key cannot be used ({told})")
    if code in _UNREADABLE:
        return ObjectUnreadable(f"{_UNREADABLE[code]} ({told})")
    return SourceUnavailable(told)

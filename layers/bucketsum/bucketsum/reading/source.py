"""An object → a stream of its chunks, in order and complete, or an error that says why not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from botocore.config import Config
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
    SourceInterrupted,
    SourceUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef

    from bucketsum.arrivals import Arrival

CLIENT_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=20,  # S3 answers in 0.1-0.2 s; a silent connection is broken, so resume early
    retries={"mode": "standard", "total_max_attempts": 4},
    # By default botocore checks a full read against S3's stored checksum, computing a second
    # digest in line (CRC-64 or SHA-1 again). TLS, the length and If-Match already guard it.
    response_checksum_validation="when_required",
    tcp_keepalive=True,
)
"""How the S3 client of a source is to be configured."""

MAX_RESUMES: Final = 10
"""How often one object is continued after a broken connection before the message goes back."""

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0

# botocore passes some of urllib3's own errors on as they are: a broken TLS record in a body, a
# connection that ends inside of an error's text.
_BROKEN: Final = (ReadTimeoutError, ResponseStreamingError, IncompleteReadError, HTTPError)
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


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An object that S3 has begun to send.

    Attributes:
        size_bytes: How many bytes *chunks* will yield.
        etag: Entity tag of what is being read, without quotes.
        version_id: Version of what is being read, or None where the bucket keeps none.
        chunks: The bytes in order. Yields all of them or raises; can be iterated once. Close it
            if you stop early: its connection is given up then and not when memory is.
    """

    size_bytes: int
    etag: str
    version_id: str | None
    chunks: Generator[bytes]


class Source(Protocol):
    """Where an arrival's bytes come from; one stream today, ordered parallel ranges tomorrow."""

    def open(self, arrival: Arrival) -> OpenObject:
        """Ask S3 for exactly the object that arrived.

        Raises:
            ObjectGone: It was deleted.
            ObjectSuperseded: It was overwritten.
            ObjectUnreadable: It is archived, encrypted with another's key, or denied to us.
            SourceUnavailable: S3 throttles, fails or cannot be reached.

        Iterating the chunks raises these too, and `SourceInterrupted`.
        """
        ...


class SingleStream:
    """Reads an object over one connection at a time, and continues where it broke.

    Peak memory is ``2 × chunk_bytes``: the chunk being hashed, and the next one being read.
    """

    def __init__(
        self, s3: S3Client, chunk_bytes: int, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._s3 = s3
        self._chunk_bytes = chunk_bytes
        self._pause = pause

    def open(self, arrival: Arrival) -> OpenObject:
        """See `Source.open`."""
        response = self._get(_request_for(arrival))
        etag = response["ETag"].strip('"')
        return OpenObject(
            size_bytes=response["ContentLength"],
            etag=etag,
            version_id=response.get("VersionId"),
            chunks=self._chunks(_request_for(arrival, etag), response),
        )

    def _chunks(
        self, request: GetObjectRequestTypeDef, response: GetObjectOutputTypeDef
    ) -> Generator[bytes]:
        size_bytes = response["ContentLength"]
        offset = resumes = 0
        while True:
            broken = "the body ended early"
            try:
                while chunk := response["Body"].read(self._chunk_bytes):
                    offset += len(chunk)
                    yield chunk
            except _BROKEN as error:  # what came of the unfinished chunk is lost, and not counted
                broken = str(error)
            finally:
                response["Body"].close()
            if offset == size_bytes:
                return
            if resumes == MAX_RESUMES:
                raise SourceInterrupted(
                    f"the connection broke {resumes + 1} times, last at byte {offset} of "
                    f"{size_bytes}: {broken}"
                )
            self._pause(min(_FIRST_PAUSE_SECONDS * 2**resumes, _LONGEST_PAUSE_SECONDS))
            resumes += 1
            response = self._resume(request, offset, size_bytes)

    def _resume(
        self, request: GetObjectRequestTypeDef, offset: int, size_bytes: int
    ) -> GetObjectOutputTypeDef:
        response = self._get({**request, "Range": f"bytes={offset}-"})
        expected = f"bytes {offset}-{size_bytes - 1}/{size_bytes}", size_bytes - offset
        got = response.get("ContentRange"), response["ContentLength"]
        if got != expected:
            response["Body"].close()
            raise SourceInterrupted(
                f"asked to continue with {expected[0]!r} of {expected[1]} bytes, S3 sent "
                f"{got[0]!r} of {got[1]} bytes"
            )
        return response

    def _get(self, request: GetObjectRequestTypeDef) -> GetObjectOutputTypeDef:
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


def _request_for(arrival: Arrival, etag: str | None = None) -> GetObjectRequestTypeDef:
    """The version *and* the entity tag: the version ``null`` can be overwritten."""
    request: GetObjectRequestTypeDef = {"Bucket": arrival.bucket, "Key": arrival.key}
    if arrival.version_id:
        request["VersionId"] = arrival.version_id
    if etag or arrival.etag:
        request["IfMatch"] = f'"{etag or arrival.etag}"'  # events carry it without quotes
    return request


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

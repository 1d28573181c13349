"""Single-stream reader over botocore.

The fallback for unusual responses, and the only reader without libcurl.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from bucketsum.errors import SourceInterrupted
from bucketsum.s3.get_object import BROKEN, get_object, request_for
from bucketsum.s3.source import OpenObject, ResumeBudget

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef

    from bucketsum.events.object_events import ObjectCreated


class BotocoreReader:
    """Reads an object over one connection at a time, and resumes after a broken connection.

    Peak memory is ``2 × chunk_bytes``: the chunk being hashed, and the next one being read.
    """

    def __init__(
        self,
        s3: Callable[[], S3Client],
        chunk_bytes: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Read with the client that *s3* returns, which is called at each request."""
        self._s3 = s3
        self._chunk_bytes = chunk_bytes
        self._pause = pause

    def open(
        self, created: ObjectCreated, offset: int = 0, budget: ResumeBudget | None = None
    ) -> OpenObject:
        """See `Source.open`; *budget* is that of another reader, which has begun the object."""
        request = request_for(created)
        if offset or budget:  # its size must be as the other reader found it
            response = self._resumed(request, offset, created.size_bytes)
        else:
            response = get_object(self._s3(), request)
        etag = response["ETag"].strip('"')
        request = request_for(replace(created, etag=etag))
        chunks = self._chunks(request, response, offset, budget or ResumeBudget(self._pause))
        return OpenObject(response["ContentLength"], etag, chunks)

    def _chunks(
        self,
        request: GetObjectRequestTypeDef,
        response: GetObjectOutputTypeDef,
        offset: int,
        budget: ResumeBudget,
    ) -> Generator[bytes]:
        size_bytes = offset + response["ContentLength"]
        while True:
            reason = "the body ended early"
            try:
                while chunk := response["Body"].read(self._chunk_bytes):
                    offset += len(chunk)
                    yield chunk
            except BROKEN as error:  # bytes of the unfinished chunk are lost, and not counted
                reason = str(error)
            finally:
                response["Body"].close()
            if offset == size_bytes:
                return
            budget.spend(offset, size_bytes, reason)
            response = self._resumed(request, offset, size_bytes)

    def _resumed(
        self, request: GetObjectRequestTypeDef, offset: int, size_bytes: int
    ) -> GetObjectOutputTypeDef:
        response = get_object(self._s3(), {**request, "Range": f"bytes={offset}-"})
        expected = f"bytes {offset}-{size_bytes - 1}/{size_bytes}", size_bytes - offset
        received = response.get("ContentRange"), response["ContentLength"]
        if received != expected:
            response["Body"].close()
            raise SourceInterrupted(
                f"asked to continue with {expected[0]!r} of {expected[1]} bytes, S3 sent "
                f"{received[0]!r} of {received[1]} bytes"
            )
        return response

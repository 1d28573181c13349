"""One stream through botocore: what every oddity is left to, and where libcurl is not at hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bucketsum.errors import SourceInterrupted
from bucketsum.s3.get_object import BROKEN, Asking, request_for
from bucketsum.s3.source import OpenObject, ResumeBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, GetObjectRequestTypeDef

    from bucketsum.notifications import ObjectCreated


class BotocoreReader:
    """Reads an object over one connection at a time, and continues where it broke.

    Peak memory is ``2 × chunk_bytes``: the chunk being hashed, and the next one being read.
    """

    def __init__(
        self, s3: S3Client, chunk_bytes: int, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._asking = Asking(s3)
        self._chunk_bytes = chunk_bytes
        self._pause = pause

    def open(self, arrival: ObjectCreated) -> OpenObject:
        """See `Source.open`."""
        response = self._asking.ask(request_for(arrival))
        etag = response["ETag"].strip('"')
        return OpenObject(
            size_bytes=response["ContentLength"],
            etag=etag,
            version_id=response.get("VersionId"),
            chunks=self._chunks(request_for(arrival, etag), response, 0, ResumeBudget(self._pause)),
        )

    def rest(
        self, arrival: ObjectCreated, etag: str, size_bytes: int, offset: int, resumes: ResumeBudget
    ) -> Generator[bytes]:
        """The bytes from *offset* on of an object that another reader has begun.

        Raises:
            What `Source.open` does, and `SourceInterrupted`.
        """
        request = request_for(arrival, etag)
        response = self._continued(request, offset, size_bytes)
        yield from self._chunks(request, response, offset, resumes)

    def _chunks(
        self,
        request: GetObjectRequestTypeDef,
        response: GetObjectOutputTypeDef,
        offset: int,
        resumes: ResumeBudget,
    ) -> Generator[bytes]:
        size_bytes = offset + response["ContentLength"]
        while True:
            broken = "the body ended early"
            try:
                while chunk := response["Body"].read(self._chunk_bytes):
                    offset += len(chunk)
                    yield chunk
            except BROKEN as error:  # what came of the unfinished chunk is lost, and not counted
                broken = str(error)
            finally:
                response["Body"].close()
            if offset == size_bytes:
                return
            resumes.take(offset, size_bytes, broken)
            response = self._continued(request, offset, size_bytes)

    def _continued(
        self, request: GetObjectRequestTypeDef, offset: int, size_bytes: int
    ) -> GetObjectOutputTypeDef:
        response = self._asking.ask({**request, "Range": f"bytes={offset}-"})
        expected = f"bytes {offset}-{size_bytes - 1}/{size_bytes}", size_bytes - offset
        got = response.get("ContentRange"), response["ContentLength"]
        if got != expected:
            response["Body"].close()
            raise SourceInterrupted(
                f"asked to continue with {expected[0]!r} of {expected[1]} bytes, S3 sent "
                f"{got[0]!r} of {got[1]} bytes"
            )
        return response

"""Single-stream reader over botocore.

The fallback for unusual responses, and the only reader without libcurl.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from bucketsum.errors import BucketsumError
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.get_object import BROKEN, get_object
from bucketsum.s3.source import OpenObject, ResumeBudget

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef


class BotocoreReader:
    """Reads an object over one connection at a time, and resumes after a broken connection.

    Peak memory is ``2 × chunk_bytes``: the chunk being hashed, and the next one being read.
    """

    def __init__(
        self,
        s3: S3Client,
        chunk_bytes: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._s3 = s3
        self._chunk_bytes = chunk_bytes
        self._pause = pause

    def open(
        self,
        created: ObjectCreated,
        offset: int = 0,
        doubt: BucketsumError | None = None,
        budget: ResumeBudget | None = None,
    ) -> OpenObject:
        """See `Source.open`; *budget* is that of another reader, which has begun the object."""
        end = created.size_bytes if offset or budget else None
        response = get_object(self._s3, created, offset, end, doubt=doubt)
        etag = response["ETag"].strip('"')
        chunks = self._chunks(created, response, offset, budget or ResumeBudget(self._pause))
        return OpenObject(created.size_bytes - offset, etag, chunks)

    def another(self) -> BotocoreReader:
        """This reader, whose idle connections are closed."""
        self._s3.close()
        return self

    def _chunks(
        self,
        created: ObjectCreated,
        response: GetObjectOutputTypeDef,
        offset: int,
        budget: ResumeBudget,
    ) -> Generator[bytes]:
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
            if offset == created.size_bytes:
                return
            budget.spend(offset, created.size_bytes, reason)
            begun = replace(created, etag=response["ETag"].strip('"'))
            response = get_object(self._s3, begun, offset, created.size_bytes)

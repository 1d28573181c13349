"""Random access to an object: reads of byte ranges."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from bucketsum.errors import SourceInterrupted
from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.get_object import BROKEN, get_object

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client


Read = Callable[[int, int], bytes | memoryview]
"""``read(offset, length)`` returns exactly *length* bytes from *offset* on."""

_ATTEMPTS: Final = 3
_SKIP_BYTES: Final = 1024 * 1024


def range_reader(s3: S3Client, created: ObjectCreated) -> Read:
    """A function that reads ranges of the object, with the conditions of a whole read.

    The function raises as `Source.open` does, and `SourceInterrupted`.
    """

    def read(offset: int, length: int) -> bytes:
        reason = ""
        for _ in range(_ATTEMPTS):
            try:
                data = _get(s3, created, offset, length)
            except BROKEN as error:
                reason = str(error)
                continue
            if len(data) == length:
                return data
            reason = f"{len(data)} bytes came"
        raise SourceInterrupted(
            f"{length} bytes at {offset} did not come in {_ATTEMPTS} attempts: {reason}"
        )

    return read


def _get(s3: S3Client, created: ObjectCreated, offset: int, length: int) -> bytes:
    response = get_object(s3, created, offset, offset + length, or_whole=True)
    try:
        if response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.OK:  # the whole object
            _skip(response["Body"], offset)
        return response["Body"].read(length)
    finally:
        response["Body"].close()


def _skip(body: StreamingBody, count: int) -> None:
    """Read and drop *count* bytes.

    HTTP lets a server ignore a range. S3 never does; the local emulator does for versions.
    """
    while count and (data := body.read(min(count, _SKIP_BYTES))):
        count -= len(data)

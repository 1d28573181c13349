"""An object → any few of its bytes, under the same conditions as the whole of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from bucketsum.errors import SourceInterrupted
from bucketsum.s3.get_object import BROKEN, Asking, request_for

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

    from bucketsum.archives.central_directory import Read
    from bucketsum.notifications import ObjectCreated

_ATTEMPTS: Final = 3
_PASS_OVER_BYTES: Final = 1024 * 1024


class RangedReads:
    """Makes, for an arrival, a function that reads some of its bytes."""

    def __init__(self, s3: S3Client) -> None:
        self._asking = Asking(s3)

    def of(self, arrival: ObjectCreated) -> Read:
        """A function that reads so many bytes of the object that arrived, from an offset on.

        The function raises what `Source.open` does, and `SourceInterrupted`.
        """
        return lambda offset, length: self._read(arrival, offset, length)

    def _read(self, arrival: ObjectCreated, offset: int, length: int) -> bytes:
        broken = ""
        for _ in range(_ATTEMPTS):
            try:
                data = self._get(arrival, offset, length)
            except BROKEN as error:
                broken = str(error)
                continue
            if len(data) == length:
                return data
            broken = f"{len(data)} bytes came"
        raise SourceInterrupted(
            f"{length} bytes at {offset} did not come in {_ATTEMPTS} attempts: {broken}"
        )

    def _get(self, arrival: ObjectCreated, offset: int, length: int) -> bytes:
        request = request_for(arrival)
        request["Range"] = f"bytes={offset}-{offset + length - 1}"
        response = self._asking.ask(request)
        try:
            if response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.OK:  # all of it came
                _pass_over(response["Body"], offset)
            return response["Body"].read(length)
        finally:
            response["Body"].close()


def _pass_over(body: StreamingBody, count: int) -> None:
    """HTTP lets a server ignore a range. S3 never does; the embedded one does, with versions."""
    while count and (data := body.read(min(count, _PASS_OVER_BYTES))):
        count -= len(data)

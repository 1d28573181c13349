"""boto3: the baseline's reader, and two from its documentation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from bench.readers.harness import ReadTarget

    Read = Callable[[], tuple[int, str]]


class _Hashing:
    """A file without seek, so that s3transfer writes to it in order."""

    def __init__(self) -> None:
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._size_bytes = 0

    def write(self, data: bytes) -> int:
        self._sha1.update(data)
        self._size_bytes += len(data)
        return len(data)

    def result(self) -> tuple[int, str]:
        return self._size_bytes, self._sha1.hexdigest()


def _digest(chunks: Iterable[bytes]) -> tuple[int, str]:
    hashing = _Hashing()
    for chunk in chunks:
        hashing.write(chunk)
    return hashing.result()


def baseline(target: ReadTarget, chunk_bytes: int) -> Read:
    """The baseline (Bryson, 2021): the raw stream of the resource's body."""
    s3 = boto3.resource("s3")

    def read() -> tuple[int, str]:
        body: Any = s3.Object(target.bucket, target.key).get()["Body"]
        stream = body._raw_stream  # noqa: SLF001 - as in Bryson (2021)
        return _digest(iter(partial(stream.read, chunk_bytes), b""))

    return read


def iter_chunks(target: ReadTarget, chunk_bytes: int) -> Read:
    """Yield chunks by `StreamingBody.iter_chunks` of botocore."""
    s3 = boto3.client("s3")

    def read() -> tuple[int, str]:
        body = s3.get_object(Bucket=target.bucket, Key=target.key)["Body"]
        return _digest(body.iter_chunks(chunk_bytes))

    return read


def download_fileobj(target: ReadTarget) -> Read:
    """s3transfer with its defaults, parts of 8 MiB in 10 threads, into a hash."""
    s3 = boto3.client("s3")

    def read() -> tuple[int, str]:
        hashing = _Hashing()
        s3.download_fileobj(target.bucket, target.key, hashing)  # type: ignore[arg-type]
        return hashing.result()

    return read
